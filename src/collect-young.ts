// Collects what has died young, at a moment when nearly all of it has. It must not know what it was.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const isCollect = (value: unknown): value is (options: { type: 'minor' }) => void =>
  typeof value === 'function';

let collect: ((options: { type: 'minor' }) => void) | undefined;

/** V8's own collector, which it gives to contexts that are made while the flag is set. */
function openCollect(): (options: { type: 'minor' }) => void {
  setFlagsFromString('--expose-gc');
  const found: unknown = runInNewContext('gc');
  setFlagsFromString('--no-expose-gc');
  return isCollect(found) ? found : () => undefined;
}

/**
 * Collects the young generation, in about a millisecond when little of it is alive: right behind an answer of many megabytes. Left to
 * itself V8 collects in the middle of the next one, keeps most of what it finds for good, and enlarges the young generation for it.
 */
export function collectYoung(): void {
  collect ??= openCollect();
  collect({ type: 'minor' });
}
