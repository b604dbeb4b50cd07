// Where V8 puts what a start and a request make. It must not know what that is.
import { setFlagsFromString } from 'node:v8';
import { collectAll } from '../collector.ts';

/**
 * Has everything made in the young generation, where what a request leaves behind costs next to nothing. Left to itself V8 notes which lines of
 * code make what lives long, and has them make it in the old generation at once. Right after a start or an idle hour the young one is so small that whatever is
 * under way looks like that: from then on each request leaves some of its objects in the old generation, these keep what they refer
 * to, such as the bytes of an answer, and all of it waits for a full collection. Full collections then took half of all time.
 */
export function makeAllYoung(): void {
  setFlagsFromString('--no-allocation-site-pretenuring');
}

/**
 * Moves together what a start has left, once, in some 30 ms. A start makes much that dies soon between what lives as long as the process: a
 * quarter of the old generation was gaps, which V8 closes by itself only where memory is scarce.
 */
export function closeGaps(): void {
  setFlagsFromString('--compact-on-every-full-gc');
  collectAll();
  setFlagsFromString('--no-compact-on-every-full-gc');
}
