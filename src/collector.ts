// V8's own collector, called by hand. It knows nothing of what it collects.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

type Collect = (options?: { type: 'minor' }) => void;

const isCollect = (value: unknown): value is Collect => typeof value === 'function';

let known: Collect | undefined;

/** V8 gives it to contexts that are made while the flag is set. */
function openCollect(): Collect {
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
  known ??= openCollect();
  known({ type: 'minor' });
}

/** Collects all, at once, and gives back what is free: without options V8 does, with `type: 'major'` it does not. */
export function collectAll(): void {
  known ??= openCollect();
  known();
}
