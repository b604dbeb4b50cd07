// V8's own collector, called by hand. It knows nothing of what it collects.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

type Collect = (options: { type: 'minor' | 'major' }) => void;

const isCollect = (value: unknown): value is Collect => typeof value === 'function';

let known: Collect | undefined;

/** V8 gives it to contexts that are made while the flag is set. */
function openCollect(): Collect {
  setFlagsFromString('--expose-gc');
  const found: unknown = runInNewContext('gc');
  setFlagsFromString('--no-expose-gc');
  return isCollect(found) ? found : () => undefined;
}

/** Collects at once. @param type - what is young, or all */
export function collect(type: 'minor' | 'major'): void {
  known ??= openCollect();
  known({ type });
}
