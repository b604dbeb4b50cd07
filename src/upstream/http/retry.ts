// When to retry a read and how long to wait. Calls that are not safe to repeat (Submit above all)
// never come here.
import { setTimeout as sleep } from 'node:timers/promises';
import { isAboutCredits, UpstreamError } from '../errors.ts';

/** Tries of one read, the first included. */
const TRIES = 3;
const FIRST_PAUSE_MS = 150;
/** The longest Retry-After that a request waits for; a longer one goes to the caller. */
const MAX_PAUSE_MS = 5_000;

/**
 * Milliseconds to wait before trying a failed read again; null when it should not be.
 *
 * @param tried - how often it has been tried, 1 after the first failure
 * @param random - 0 to 1, spreads callers that failed together
 */
function retryPause({ failure, message }: UpstreamError, tried: number, random: number): number | null {
  if (!failure.retryable || tried >= TRIES) return null;
  // Credits do not come back by waiting.
  if (failure.code === 'RATE_LIMITED' && isAboutCredits(message)) return null;
  if (failure.retryAfterSeconds !== undefined) {
    const asked = failure.retryAfterSeconds * 1000;
    return asked > MAX_PAUSE_MS ? null : asked;
  }
  return FIRST_PAUSE_MS * 2 ** (tried - 1) * (0.5 + random);
}

/**
 * Runs `once` up to three times.
 *
 * @param signal - ends the waiting between two tries
 * @throws the last failure; anything but an UpstreamError at once
 */
export async function withRetry<T>(signal: AbortSignal | undefined, once: () => Promise<T>): Promise<T> {
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
    await sleep(pause, undefined, { signal });
  }
}
