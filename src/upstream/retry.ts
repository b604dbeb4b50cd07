// When a read is tried again and how long to wait before it. Pure: it makes no call and knows no operation. What is not
// safe to repeat (Submit above all) never comes here.
import { isAboutCredits, type UpstreamError } from './errors.ts';

/** Tries of one read, the first included. */
const TRIES = 3;
const FIRST_PAUSE_MS = 150;
/** A pause that the upstream asks for is kept to inside a request only up to here; a longer one is the caller's to keep. */
const LONGEST_PAUSE_MS = 5_000;

/**
 * Milliseconds to wait before trying a failed read again; null when it should not be.
 *
 * @param tried - how often it has been tried, 1 after the first failure
 * @param random - 0 to 1, spreads callers that failed together
 */
export function retryPause(
  { failure, message }: UpstreamError,
  tried: number,
  random: number,
): number | null {
  if (!failure.retryable || tried >= TRIES) return null;
  // Credits do not come back by waiting.
  if (failure.code === 'RATE_LIMITED' && isAboutCredits(message)) return null;
  if (failure.retryAfterSeconds !== undefined) {
    const asked = failure.retryAfterSeconds * 1000;
    return asked > LONGEST_PAUSE_MS ? null : asked;
  }
  return FIRST_PAUSE_MS * 2 ** (tried - 1) * (0.5 + random);
}
