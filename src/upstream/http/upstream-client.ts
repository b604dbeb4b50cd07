// Calls the service, reads up to three times: `call`, `callOrNull` and `callAnyStatus` read the
// whole answer, `openStream` streams it. atlas.ts and batch.ts have the operations.
import { systemClock } from '../../async/clock.ts';
import { type Failure, UpstreamError } from '../errors.ts';
import type { Call, StreamedResponse, Upstream, UpstreamResponse } from './call.ts';
import { toUpstreamError } from './response-error.ts';
import { isWhole, rateLimitScope, sendRequest, startStream } from './send-request.ts';

type AnyResponse = UpstreamResponse | StreamedResponse;

const isRead = (answer: AnyResponse): answer is UpstreamResponse => Buffer.isBuffer(answer.body);

/** Statuses after which a read is tried again. */
const TEMPORARY = new Set([408, 429, 500, 502, 503, 504]);
const MAX_TRIES = 3;
const FIRST_BACKOFF_MS = 150;
/** The longest Retry-After that a request waits for; a longer one goes to the caller. */
const MAX_RETRY_AFTER_MS = 5_000;

/** The error of a temporary refusal. After a 429 its scope pauses. */
async function toRefusal(up: Upstream, asked: Call, answer: UpstreamResponse) {
  const error = await toUpstreamError(up, answer);
  const { retryable, retryAfterSeconds } = error.failure;
  const scope = rateLimitScope(up, asked);
  // Credits that are used up do not come back by waiting.
  if (answer.status === 429 && retryable && scope !== undefined)
    up.limiters?.api.slowDown(scope, retryAfterSeconds);
  return error;
}

/** Whether an answer came so slowly, or so oddly, that another try would cost as much again. */
const hasCostTime = ({ hasBegun, code }: Failure): boolean =>
  hasBegun === true && code !== 'UPSTREAM_UNAVAILABLE';

/** Sends a call; a read again after a failure that may pass, also when its answer broke off. */
async function sendWithRetries<R extends AnyResponse>(
  up: Upstream,
  asked: Call,
  send: (up: Upstream, asked: Call) => Promise<R>,
): Promise<R> {
  if (!asked.isRepeatable) return send(up, asked);
  const { clock = systemClock } = up;
  let last: UpstreamError | undefined;
  for (let tries = 1; ; tries += 1) {
    try {
      const answer = await send(up, asked);
      if (!isRead(answer) || !TEMPORARY.has(answer.status)) return answer;
      last = await toRefusal(up, asked, answer);
    } catch (error) {
      if (!(error instanceof UpstreamError) || hasCostTime(error.failure)) throw error;
      // A call that was held back says less than the failure before it.
      if (error.failure.heldBack === true) throw last ?? error;
      last = error;
    }
    const { retryable, retryAfterSeconds } = last.failure;
    // At random: callers that failed together do not come back together.
    const backoffMs = FIRST_BACKOFF_MS * 2 ** (tries - 1) * (0.5 + clock.random());
    const waitMs = retryAfterSeconds === undefined ? backoffMs : retryAfterSeconds * 1000;
    if (!retryable || tries === MAX_TRIES || waitMs > MAX_RETRY_AFTER_MS) throw last;
    await clock.sleep(waitMs, { signal: up.signal });
  }
}

/**
 * Makes a call and reads its answer, of any status. Reads are tried up to three times.
 *
 * @throws UpstreamError UPSTREAM_TIMEOUT or UPSTREAM_UNAVAILABLE when no whole answer came; for a
 *   repeatable call also the last temporary refusal
 */
export const callAnyStatus = (up: Upstream, asked: Call): Promise<UpstreamResponse> =>
  sendWithRetries(up, asked, sendRequest);

/** Makes a call. @throws UpstreamError for every answer but a success */
export async function call(up: Upstream, asked: Call): Promise<UpstreamResponse> {
  const answer = await callAnyStatus(up, asked);
  if (isWhole(answer.status)) return answer;
  throw await toUpstreamError(up, answer);
}

/**
 * Makes a call. Null when the API says that there is no such thing.
 *
 * @throws UpstreamError for every other answer but a success; UPSTREAM_DRIFT for a 404 that is not
 *   in the words of the API
 */
export async function callOrNull(up: Upstream, asked: Call): Promise<UpstreamResponse | null> {
  try {
    return await call(up, asked);
  } catch (error) {
    if (error instanceof UpstreamError && error.failure.isAbsence === true) return null;
    throw error;
  }
}

/**
 * Makes a call whose answer is streamed: it takes as long as its reader does, and no place among
 * the calls in flight.
 *
 * @returns the unread answer of a success; of a file also of status 206, 304 or 416
 * @throws UpstreamError for every other answer, and as `callAnyStatus`
 */
export async function openStream(up: Upstream, asked: Call): Promise<StreamedResponse> {
  const answer = await sendWithRetries(up, asked, startStream);
  if (isRead(answer)) throw await toUpstreamError(up, answer);
  return answer;
}
