// One HTTP request and its answer: through the gate of its host, within the operation's limits of time, reported when it has
// ended. It knows neither of the two APIs and never tries again.
import { Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { type Dispatcher, request } from 'undici';
import { tooLarge } from './answer-body.ts';
import { UpstreamError } from './errors.ts';
import type { Gate, Passage, PassageEnding } from './gate.ts';
import { gather } from './gather.ts';
import type { Answer, StartedCall, Upstream, WholeAnswer } from './http.ts';
import type { Leaving } from './leaving.ts';
import { networkFailure } from './network-failure.ts';
import { limitsOf, STALL_MS } from './operations.ts';
import { steadyBody } from './steady-body.ts';
import { TimeLimit } from './time-limit.ts';
import { USER_AGENT } from './user-agent.ts';

/** A request that is ready to be sent. */
export interface Exchange {
  readonly operation: string;
  /** The line of the table of limits, where it is another than the operation's own. */
  readonly limits?: string | undefined;
  /** Scheme, host and port. */
  readonly origin: string;
  /** Path and search. */
  readonly path: string;
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly headers: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Bytes of an honest answer, where that follows from what is asked; the operation's own limit when absent. */
  readonly maxBytes?: number | undefined;
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
function endingOfBody({ errored }: Readable, status: number, signal: Leaving | undefined): PassageEnding {
  if (errored == null) return endingOfStatus(status);
  const dropped = 'code' in errored && errored.code === 'UND_ERR_ABORTED';
  return dropped || signal?.aborted === true ? 'left' : 'failed';
}

const NO_BYTES = Buffer.alloc(0);

const DECODERS: Readonly<Record<string, () => ReturnType<typeof createGunzip>>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

type Headers = Answer['headers'];

/** Unpacks what came compressed although nobody asked for it; undefined where nothing did. */
function decoderOf(headers: Headers, status: number): ReturnType<typeof createGunzip> | undefined {
  const encoding = headers['content-encoding'];
  const decoder = typeof encoding === 'string' ? DECODERS[encoding.trim().toLowerCase()] : undefined;
  // A range of compressed bytes cannot be read by itself.
  return status === 206 ? undefined : decoder?.();
}

/** An answer that was compressed as if it had not been. */
function decoded(status: number, headers: Headers, body: Readable, call: Answer['call']): Answer {
  const decoder = decoderOf(headers, status);
  if (decoder === undefined) return { status, headers, body, call };
  const { 'content-encoding': _, 'content-length': __, ...rest } = headers;
  body.on('error', (error) => decoder.destroy(error));
  decoder.on('close', () => body.destroy());
  return { status, headers: rest, body: body.pipe(decoder), call };
}

/** Bytes of an answer that says why there is none. */
const MAX_REFUSAL_BYTES = 256 * 1024;

/** What the reader of an answer is to know of the call. */
function callOf({ operation, maxBytes }: Exchange, status: number): Answer['call'] {
  const most = maxBytes ?? limitsOf(operation).bytes;
  return { operation, maxBytes: status >= 400 ? Math.min(most, MAX_REFUSAL_BYTES) : most };
}

/** A request that has passed the gate: limited, traced and told of. */
class UnderWay {
  readonly limit: TimeLimit;
  readonly options: Dispatcher.DispatchOptions;
  private readonly up: Upstream;
  private readonly operation: string;
  private readonly whole: number;
  private readonly passage: Passage | undefined;
  private readonly trace: StartedCall | undefined;
  private readonly started = performance.now();

  constructor(up: Upstream, wanted: Exchange, passage: Passage | undefined) {
    const { operation, origin, path, method, headers, body } = wanted;
    const { patience = 1 } = up.settings;
    const { start, whole } = limitsOf(wanted.limits ?? operation, patience);
    this.up = up;
    this.operation = operation;
    this.whole = whole;
    this.passage = passage;
    this.limit = new TimeLimit(up.signal, start);
    this.trace = up.startCall?.(operation);
    this.options = {
      origin,
      path,
      method,
      headers: {
        'user-agent': USER_AGENT,
        ...headers,
        ...(wanted.traced === true ? this.trace?.headers : undefined),
      },
      bodyTimeout: STALL_MS * patience,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    };
  }

  /** The answer begins. */
  begun(status: number): void {
    this.report(status);
    // A body at a client's pace takes as long as the client does, and holds nobody else up meanwhile.
    if (this.up.streamed === true) {
      this.limit.lift();
      this.passage?.(endingOfStatus(status));
    } else this.limit.move(Math.max(0, this.whole - (performance.now() - this.started)));
  }
  /** All is over. */
  ended(ending: PassageEnding): void {
    this.limit.end();
    this.passage?.(ending);
  }
  /** There was no answer. @returns why, in our words */
  failed(error: unknown): unknown {
    this.limit.end();
    this.report(0);
    const failure = networkFailure(this.operation, error, this.up.signal);
    this.passage?.(endingOfFault(failure));
    return failure;
  }
  private report(status: number): void {
    const ended = { operation: this.operation, status, milliseconds: performance.now() - this.started };
    this.trace?.ended(ended);
    this.up.onCall(ended);
  }
}

/** Passes the gate, at once where nothing stands against it. */
function enter(up: Upstream, wanted: Exchange): UnderWay | Promise<UnderWay> {
  const { operation, gate, scope } = wanted;
  const entering = gate?.enter({
    operation,
    caller: up.caller ?? '',
    request: up.requestId,
    scope,
    signal: up.signal,
    patience: limitsOf(wanted.limits ?? operation, up.settings.patience).start,
  });
  return entering instanceof Promise
    ? entering.then((passage) => new UnderWay(up, wanted, passage))
    : new UnderWay(up, wanted, entering);
}

/**
 * Sends a request once and gives the answer of whatever status, its body unread.
 *
 * @throws UpstreamError when no answer came, with `sent: false` where the request certainly never left
 */
export async function exchange(up: Upstream, wanted: Exchange): Promise<Answer> {
  const { operation, dispatcher } = wanted;
  const { patience = 1 } = up.settings;
  const entering = enter(up, wanted);
  const way = entering instanceof Promise ? await entering : entering;
  try {
    const { origin, path, ...options } = way.options;
    const {
      statusCode: status,
      headers,
      body,
    } = await request(`${origin}${path}`, {
      ...options,
      dispatcher,
      signal: way.limit.leaving.signal,
    });
    way.begun(status);
    body.once('close', () => way.ended(endingOfBody(body, status, up.signal)));
    const call = callOf(wanted, status);
    const answer = decoded(status, headers, body, call);
    if (up.streamed !== true) return answer;
    return {
      ...answer,
      body: steadyBody(answer.body, { operation, status, maxBytes: call.maxBytes, patience }),
    };
  } catch (error) {
    throw way.failed(error);
  }
}

/**
 * The same, its body gathered. What is wrong with the body is told to who reads it: by then there was an answer.
 *
 * @throws UpstreamError as {@link exchange}
 */
export async function exchangeWhole(up: Upstream, wanted: Exchange): Promise<WholeAnswer> {
  const { operation, dispatcher } = wanted;
  const entering = enter(up, wanted);
  const way = entering instanceof Promise ? await entering : entering;
  let call = callOf(wanted, 0);
  let status = 0;
  try {
    const { headers, chunks, broken } = await gather(dispatcher, way.options, way.limit.leaving, {
      begun(answered) {
        status = answered;
        call = callOf(wanted, status);
        way.begun(status);
      },
      grown(bytes) {
        if (bytes > call.maxBytes) throw tooLarge(operation, status);
      },
    });
    const dropped = broken instanceof UpstreamError || up.signal?.aborted === true;
    way.ended(broken === undefined ? endingOfStatus(status) : dropped ? 'left' : 'failed');
    if (broken !== undefined)
      return { status, headers, call, broken: networkFailure(operation, broken, up.signal) };
    if (headers['content-encoding'] !== undefined && decoderOf(headers, status) !== undefined)
      return decoded(status, headers, Readable.from(chunks), call);
    const [first = NO_BYTES] = chunks;
    return { status, headers, call, bytes: chunks.length <= 1 ? first : Buffer.concat(chunks) };
  } catch (error) {
    throw way.failed(error);
  }
}
