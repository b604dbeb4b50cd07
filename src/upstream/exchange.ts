// One HTTP request and its answer: through the gate of its host, within the operation's limits of time, reported when it has
// ended. It knows neither of the two APIs and never tries again.
import type { Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { type Dispatcher, request } from 'undici';
import { UpstreamError } from './errors.ts';
import type { Gate, PassageEnding } from './gate.ts';
import type { Answer, Upstream } from './http.ts';
import { networkFailure } from './network-failure.ts';
import { limitsOf, STALL_MS } from './operations.ts';
import { timeLimit } from './time-limit.ts';

/** A request that is ready to be sent. */
export interface Exchange {
  readonly operation: string;
  /** The line of the table of limits, where it is another than the operation's own. */
  readonly limits?: string | undefined;
  readonly url: URL;
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly headers: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  readonly dispatcher: Dispatcher;
  /** Whether the host is told of the trace: whoever stores files is no part of it. */
  readonly traced?: boolean;
  readonly gate: Gate | undefined;
  /** Who shares a pause with it. */
  readonly scope?: string | undefined;
}

const endingOfStatus = (status: number): PassageEnding =>
  status >= 500 ? 'failed' : status === 429 ? 'slowed' : 'well';

/** What a fault says of the upstream; nothing when the caller left, or when it is a fault of our own. */
function endingOfFault(failure: unknown): PassageEnding {
  if (!(failure instanceof UpstreamError)) return 'left';
  return failure.failure.sent === false ? 'unreachable' : 'failed';
}

/** What the end of a body says of the upstream. One that the reader has dropped says nothing. */
function endingOfBody({ errored }: Readable, status: number, signal: AbortSignal | undefined): PassageEnding {
  if (errored == null) return endingOfStatus(status);
  const dropped = 'code' in errored && errored.code === 'UND_ERR_ABORTED';
  return dropped || signal?.aborted === true ? 'left' : 'failed';
}

const DECODERS: Readonly<Record<string, () => ReturnType<typeof createGunzip>>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

/** An answer that was compressed although nobody asked for it, as if it had not been. */
function decoded({ statusCode: status, headers, body }: Dispatcher.ResponseData, operation: string): Answer {
  const encoding = headers['content-encoding'];
  const decoder = typeof encoding === 'string' ? DECODERS[encoding.trim().toLowerCase()] : undefined;
  const call = { operation };
  // A range of compressed bytes cannot be read by itself.
  if (decoder === undefined || status === 206) return { status, headers, body, call };
  const { 'content-encoding': _, 'content-length': __, ...rest } = headers;
  const plain = decoder();
  body.on('error', (error) => plain.destroy(error));
  plain.on('close', () => body.destroy());
  return { status, headers: rest, body: body.pipe(plain), call };
}

/**
 * Sends a request once and gives the answer of whatever status, its body unread.
 *
 * @throws UpstreamError when no answer came, with `sent: false` where the request certainly never left
 */
export async function exchange(up: Upstream, wanted: Exchange): Promise<Answer> {
  const { operation, url, method, headers, body, dispatcher, gate, scope } = wanted;
  const { patience = 1 } = up.settings;
  const { start, whole } = limitsOf(wanted.limits ?? operation, patience);
  const entering = gate?.enter({
    operation,
    caller: up.caller ?? '',
    request: up.requestId,
    scope,
    signal: up.signal,
    patience: start,
  });
  const leave = entering instanceof Promise ? await entering : entering;
  const limit = timeLimit(up.signal, start);
  const started = performance.now();
  const trace = up.startCall?.(operation);
  const report = (status: number): void => {
    const ended = { operation, status, milliseconds: performance.now() - started };
    trace?.ended(ended);
    up.onCall(ended);
  };
  try {
    const answer = await request(url, {
      dispatcher,
      method,
      headers: wanted.traced === true ? { ...headers, ...trace?.headers } : headers,
      signal: limit.signal,
      bodyTimeout: STALL_MS * patience,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    report(answer.statusCode);
    // A body at a client's pace takes as long as the client does, and holds nobody else up meanwhile.
    if (up.streamed === true) {
      limit.lift();
      leave?.(endingOfStatus(answer.statusCode));
    } else limit.move(Math.max(0, whole - (performance.now() - started)));
    answer.body.once('close', () => {
      limit.end();
      leave?.(endingOfBody(answer.body, answer.statusCode, up.signal));
    });
    return decoded(answer, operation);
  } catch (error) {
    limit.end();
    report(0);
    const failure = networkFailure(operation, error, up.signal);
    leave?.(endingOfFault(failure));
    throw failure;
  }
}
