// A read that is tried again after a failure that may pass. It knows no call and no rule of when (retry.ts).
import { setTimeout as sleep } from 'node:timers/promises';
import { UpstreamError } from './errors.ts';
import { type Leaving, signalOf } from './leaving.ts';
import { retryPause } from './retry.ts';

/**
 * Runs `once` up to three times.
 *
 * @param signal - ends the waiting between two tries
 * @throws the last failure; anything but an UpstreamError at once
 */
export async function tries<T>(signal: Leaving | undefined, once: () => Promise<T>): Promise<T> {
  let last: UpstreamError | undefined;
  for (let tried = 1; ; tried += 1) {
    try {
      return await once();
    } catch (error) {
      if (!(error instanceof UpstreamError)) throw error;
      // That it was held back tells less than the failure before it.
      if (error.failure.heldBack === true) throw last ?? error;
      last = error;
    }
    const pause = retryPause(last, tried, Math.random());
    if (pause === null) throw last;
    await sleep(pause, undefined, signal === undefined ? {} : { signal: signalOf(signal) });
  }
}
