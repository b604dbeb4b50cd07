// Sends one HTTP request through its host's limiter, within the operation's time limits, and
// reports its end. `withRetry` repeats reads; calls that are not safe to repeat (Submit above all)
// never use it.
import { pipeline, Transform } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import type { Dispatcher } from 'undici';
import { startDeadline } from '../../async/deadline.ts';
import { USER_AGENT } from '../../package.ts';
import { faultName, networkFailure, UpstreamError } from '../errors.ts';
import { limitsOf, STALL_MS } from '../operations.ts';
import type { CallOutcome, CallSource, HostLimiter } from './host-limiter.ts';
import { tooLarge } from './response-body.ts';
import type { Call, StreamedResponse, Upstream } from './upstream-client.ts';

const MAX_TRIES = 3;
const FIRST_BACKOFF_MS = 150;
/** The longest Retry-After that a request waits for; a longer one goes to the caller. */
const MAX_RETRY_AFTER_MS = 5_000;

/** Runs `once` up to three times. @throws the last failure; any but an UpstreamError at once */
export async function withRetry<T>(signal: AbortSignal | undefined, once: () => Promise<T>): Promise<T> {
  let last: UpstreamError | undefined;
  for (let tries = 1; ; tries += 1) {
    try {
      return await once();
    } catch (error) {
      if (!(error instanceof UpstreamError)) throw error;
      // A call that was held back says less than the failure before it.
      if (error.failure.heldBack === true) throw last ?? error;
      last = error;
    }
    const { retryable, retryAfterSeconds } = last.failure;
    // At random: callers that failed together do not come back together.
    const backoffMs = FIRST_BACKOFF_MS * 2 ** (tries - 1) * (0.5 + Math.random());
    const waitMs = retryAfterSeconds === undefined ? backoffMs : retryAfterSeconds * 1000;
    if (!retryable || tries === MAX_TRIES || waitMs > MAX_RETRY_AFTER_MS) throw last;
    await sleep(waitMs, undefined, { signal });
  }
}

export interface OutgoingRequest
  extends Pick<Call, 'operation' | 'limits' | 'method' | 'path' | 'body' | 'maxBytes'> {
  /** Scheme, host and port; `path` is the whole one, with the search. */
  readonly origin: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly dispatcher: Dispatcher;
  /** Whether to send the trace context; not to file stores. */
  readonly traced?: boolean;
  readonly limiter: HostLimiter | undefined;
  readonly isUrgent?: boolean;
  readonly scope?: string | undefined;
}

/** The gateway's own calls share one place in the queue. */
const NO_SOURCE: CallSource = { caller: '' };

const toOutcome = (status: number): CallOutcome => (status === 429 ? 'slowed' : 'reached');

/** What an error shows of the host; an abort, and an error of the gateway itself, show nothing. */
function toFailedOutcome(failure: unknown): CallOutcome {
  if (!(failure instanceof UpstreamError)) return 'unknown';
  return failure.failure.sent === false ? 'unreachable' : 'reached';
}

const DECODERS: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

/** Decompresses an answer, but not a range: compressed bytes cannot be read from their middle. */
function decompress(answer: StreamedResponse): StreamedResponse {
  const { 'content-encoding': encoding, 'content-length': _, ...headers } = answer.headers;
  const createDecoder = DECODERS[String(encoding).trim().toLowerCase()];
  if (createDecoder === undefined || answer.status === 206) return answer;
  // A failure reaches the reader through the decoder.
  return { ...answer, headers, body: pipeline(answer.body, createDecoder(), () => undefined) };
}

/** Bytes that come within {@link STALL_MS} at least while the client waits for them. */
const MIN_BYTES = 4 * 1024;

const tooSlow = (operation: string): UpstreamError =>
  new UpstreamError(`The upstream sends its answer to ${operation} too slowly. Try again.`, {
    operation,
    code: 'UPSTREAM_TIMEOUT',
    retryable: true,
  });

/** Streams a body at its client's pace; an UpstreamError ends one too large or too slow. */
function limitPace(answer: StreamedResponse, patience: number): StreamedResponse {
  const { body, status, call } = answer;
  const { operation, maxBytes } = call;
  let total = 0;
  let atLastLook = 0;
  const passed = new Transform({
    transform(chunk: Uint8Array, _, done) {
      total += chunk.byteLength;
      if (total > maxBytes) done(tooLarge(operation, status));
      else done(null, chunk);
    },
  });
  const timer = setInterval(() => {
    // Unread data: the client is slow, not the upstream.
    if (passed.readableLength > 0) atLastLook = total;
    else if (total - atLastLook < MIN_BYTES) passed.destroy(tooSlow(operation));
    else atLastLook = total;
  }, STALL_MS * patience).unref();
  // A failure reaches the reader through the stream itself.
  return { ...answer, body: pipeline(body, passed, () => clearInterval(timer)) };
}

/** Bytes of an answer that says why there is none. */
const MAX_REFUSAL_BYTES = 256 * 1024;

/**
 * Sends a request once. Returns the answer of any status, its body unread.
 *
 * @throws UpstreamError when no answer came, with `sent: false` where the request certainly never
 *   left
 */
export async function sendRequest(up: Upstream, wanted: OutgoingRequest): Promise<StreamedResponse> {
  const { operation, origin, path, method, headers, body: json, dispatcher, limiter, scope } = wanted;
  const { patience = 1 } = up.settings;
  const { start, whole } = limitsOf(wanted.limits ?? operation, patience);
  const mostBytes = wanted.maxBytes ?? limitsOf(operation).bytes;
  const permit = await limiter?.enter({
    ...(up.source ?? NO_SOURCE),
    operation,
    isUrgent: wanted.isUrgent === true,
    scope,
    signal: up.signal,
    maxWaitMs: start,
  });
  const started = performance.now();
  const deadline = startDeadline(up.signal, start);
  const trace = up.startCall?.({ operation, method, origin });
  const end = (outcome: CallOutcome): void => {
    deadline.end();
    permit?.(outcome);
  };
  const report = (status: number, fault?: string): number => {
    const milliseconds = performance.now() - started;
    const call = { operation, status, milliseconds, fault };
    trace?.ended(call);
    up.onCall(call);
    return milliseconds;
  };
  try {
    const received = await dispatcher.request({
      origin,
      path,
      method,
      headers: {
        'user-agent': USER_AGENT,
        ...headers,
        ...(wanted.traced === true ? trace?.headers : undefined),
      },
      body: json === undefined ? null : JSON.stringify(json),
      bodyTimeout: STALL_MS * patience,
      signal: deadline.signal,
    });
    const { statusCode: status, headers: answered, body } = received;
    const passed = report(status);
    body.once('close', () => end(toOutcome(status)));
    const maxBytes = status >= 400 ? Math.min(mostBytes, MAX_REFUSAL_BYTES) : mostBytes;
    const answer = decompress({ status, headers: answered, body, call: { operation, maxBytes } });
    if (up.streamed !== true) {
      deadline.extend(Math.max(0, whole - passed));
      return answer;
    }
    // A streamed body takes as long as its client does, without delaying other calls.
    deadline.lift();
    permit?.(toOutcome(status));
    return limitPace(answer, patience);
  } catch (error) {
    const failure = networkFailure(operation, error, up.signal);
    report(0, failure instanceof UpstreamError ? faultName(error) : undefined);
    end(toFailedOutcome(failure));
    throw failure;
  }
}
