// Keeps long checks from holding the event loop: a check asks between its steps and waits a turn when it has run for long.
import { setImmediate as turn } from 'node:timers/promises';

/** Milliseconds of work after which other work gets a turn. */
const SLICE_MS = 10;

/** Undefined while the check may go on, else a promise to wait for. */
export type Pause = () => Promise<void> | undefined;

/** Makes the pauses of one check. */
export function createPause(): Pause {
  let since = performance.now();
  return () =>
    performance.now() - since < SLICE_MS
      ? undefined
      : turn().then(() => {
          since = performance.now();
        });
}
