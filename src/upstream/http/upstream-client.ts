// Calls the service, reads up to three times: `call`, `callOrNull` and `callAnyStatus` read the
// whole answer, `openStream` streams it. atlas.ts and batch.ts have the operations.
import type { Readable } from 'node:stream';
import { type Clock, systemClock } from '../../async/clock.ts';
import type { CallHooks } from '../../telemetry/upstream-calls.ts';
import { type Failure, UpstreamError } from '../errors.ts';
import type { Operation } from '../operations.ts';
import type { ServiceConnections } from './connections.ts';
import type { HostLimiters } from './host-limiter.ts';
import { toUpstreamError } from './response-error.ts';
import { isWhole, rateLimitScope, sendRequest, startStream } from './send-request.ts';

/** The address of the service, and the names that its deployment uses (configuration). */
export interface UpstreamSettings {
  /** The address of the service. */
  readonly base: URL;
  readonly batchPrefix: string;
  readonly atlasPrefix: string;
  readonly listLimitField: string;
  readonly listCursorField: string;
  readonly downloadHosts: readonly string[];
  /** Types of thumbnails where the deployment calls them otherwise, by ours. */
  readonly thumbnailTypes?: Readonly<Record<string, string>> | undefined;
  /** Factor of every operation's time limits; 1 when absent. */
  readonly patience?: number;
}

/** The service for one request: address, the caller's token, request id and time limits. */
export interface Upstream extends CallHooks {
  readonly settings: UpstreamSettings;
  readonly connections: ServiceConnections;
  /** The bearer token for the Batch API; undefined without one. Never sent to the Atlas. */
  readonly token: string | undefined;
  /** Whether the token is the gateway's own, which its callers never see. */
  readonly isGatewayKey?: boolean;
  readonly requestId: string;
  /** The name of the caller in whose share its calls count; calls without one share one. */
  readonly caller?: string | undefined;
  /** The limiters of the process; without them every call is sent at once. */
  readonly limiters?: HostLimiters | undefined;
  readonly signal: AbortSignal | undefined;
  /** The clock of the platform when absent. */
  readonly clock?: Clock | undefined;
  /** Records that this request found absent, and that may exist any moment. */
  readonly absences?: Set<string> | undefined;
}

/** A request to one of the two APIs, or for a file behind a signed URL. */
export interface Call {
  readonly operation: Operation;
  /** The line of the table of limits, where it is another than the operation's own. */
  readonly limits?: Operation;
  /** A file is sent neither a token nor the trace context. */
  readonly api: 'batch' | 'atlas' | 'file';
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Below the API's prefix, path parameters already encoded; the whole URL of a file. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | boolean | readonly number[] | undefined>>;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly body?: unknown;
  readonly accept?: string;
  /** Maximum bytes of the answer, where the request determines it. */
  readonly maxBytes?: number | undefined;
  /** Whether it may be tried again after a failure that may pass: true for what only reads. */
  readonly isRepeatable: boolean;
}

/** An answer of any status. */
interface Answer<Body> {
  readonly operation: Operation;
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Body;
}

/** An answer that was read to its end. */
export type UpstreamResponse = Answer<Buffer>;

/** An answer whose body has not been read yet. Read or discard the body, always. */
export type StreamedResponse = Answer<Readable>;

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
