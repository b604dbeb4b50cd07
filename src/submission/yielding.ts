// Yields to the event loop during long checks: each check calls the pause between its steps.
import { setImmediate as turn } from 'node:timers/promises';

/** Milliseconds of work before other work gets a turn. */
const SLICE_MS = 10;

/** Undefined while the check may continue, otherwise a promise to await. */
export type Pause = () => Promise<void> | undefined;

/** Creates the pause function of one check. */
export function createPause(): Pause {
  let since = performance.now();
  return () =>
    performance.now() - since < SLICE_MS
      ? undefined
      : turn().then(() => {
          since = performance.now();
        });
}
