// One HTTP call to the service: where it goes, how long it may take, what its failure is called. It knows the two
// APIs only by their prefixes and never decides what an answer means; that is atlas.ts and batch.ts.
import { setMaxListeners } from 'node:events';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, type Dispatcher, request } from 'undici';
import { redact } from '../redact.ts';
import { codeOfStatus, errorText, retryAfterSeconds, UpstreamError } from './errors.ts';
import { toWire, type WireMapping } from './mapping/rules.ts';
import { parseJson } from './parse-json.ts';
import { retryPause } from './retry.ts';

/** Where the service is and what its deployment calls things (configuration). */
export interface UpstreamSettings {
  readonly baseUrl: string;
  readonly batchPrefix: string;
  readonly atlasPrefix: string;
  readonly listLimitField: string;
  readonly listCursorField: string;
  readonly downloadHosts: readonly string[];
  /** Names that differ from the contract's (WIRE_MAPPING_FILE). */
  readonly mapping?: WireMapping | undefined;
  /** Types of thumbnails where the deployment calls them otherwise, by ours. */
  readonly thumbnailTypes?: Readonly<Record<string, string>> | undefined;
}

/** What one finished upstream call was, for counting, logs and metrics. */
export interface CallReport {
  readonly operation: string;
  /** HTTP status; 0 when no answer came. */
  readonly status: number;
  readonly milliseconds: number;
}

/** A try of a call under way, as a trace sees it. */
export interface StartedCall {
  /** Headers that tell the service of the trace. */
  readonly headers: Readonly<Record<string, string>>;
  ended(report: CallReport): void;
}

/** The service as one request sees it: its address, this caller's token, this request's id and patience. */
export interface Upstream {
  readonly settings: UpstreamSettings;
  readonly agent: Dispatcher;
  /** The bearer token for the Batch API; undefined when the caller gave none. Never sent to the Atlas. */
  readonly token: string | undefined;
  readonly requestId: string;
  readonly signal: AbortSignal | undefined;
  /** Told of every try of a call as it begins; what it gives is sent with it and told of its end. */
  readonly startCall?: ((operation: string) => StartedCall) | undefined;
  /** Told of every call that ended, whatever its end. */
  readonly onCall: (report: CallReport) => void;
  /** Told of bodies as they are read. */
  readonly onBytes?: ((operation: string, bytes: number) => void) | undefined;
  /** Told of answers that were there already, by what they are. */
  readonly onCacheHit?: ((what: string, count: number) => void) | undefined;
  /** Shown answers as they are read, under the name that contract/operations.ts gives them, to notice drift. */
  readonly onAnswer?: ((name: string, value: unknown, readable: boolean) => void) | undefined;
}

/** A pool of connections to the service, shared by all requests of a process. Close it when the process ends. */
export function openAgent(): Agent {
  return new Agent({ connections: 64, keepAliveTimeout: 30_000, connect: { timeout: 10_000 } });
}

/** One call, before it is made. */
export interface Call {
  readonly operation: string;
  readonly api: 'batch' | 'atlas';
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Below the API's prefix; path parameters already encoded. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | boolean | readonly number[] | undefined>>;
  readonly body?: unknown;
  readonly accept?: string;
  /** Milliseconds until one try of the call is given up. */
  readonly timeout?: number;
  /** Whether it may be tried again after a failure that may pass: true for what only reads. */
  readonly repeatable: boolean;
}

/** An answer whose body has not been read yet. Read or dump the body, always. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Readable;
  readonly call: { readonly operation: string };
}

const DEFAULT_TIMEOUT = 30_000;
/** More than any JSON answer of the service; a body past it is refused rather than gathered. */
const MAX_BODY_BYTES = 512 * 1024 * 1024;

const single = (value: string | string[] | undefined): string | undefined =>
  Array.isArray(value) ? value[0] : value;

/** What a network fault is called. A caller that left is not a failure of the upstream, nor is a fault of our own: both are passed on as they are. */
export function networkFailure(operation: string, error: unknown, signal: AbortSignal | undefined): unknown {
  if (error instanceof UpstreamError) return error;
  if (signal?.aborted === true) return signal.reason;
  const name = error instanceof Error ? error.name : '';
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const late = name === 'TimeoutError' || /TIMEOUT|TIMEDOUT/.test(code);
  if (!late && !/^(UND_ERR_|E[A-Z]|HPE_|CERT_|ERR_(TLS|SSL|STREAM))/.test(code)) return error;
  return new UpstreamError(
    late
      ? `The upstream did not answer ${operation} in time. Try again.`
      : `The upstream could not be reached for ${operation}. Try again in a moment.`,
    { operation, code: late ? 'UPSTREAM_TIMEOUT' : 'UPSTREAM_UNAVAILABLE', retryable: true },
    { cause: error },
  );
}

/**
 * Joins the caller's patience and a limit into one signal. The timer holds the signal: one of `AbortSignal.timeout` that only
 * `AbortSignal.any` refers to may be collected before its time, and then nothing ends.
 */
export function deadline(signal: AbortSignal | undefined, milliseconds: number): AbortSignal {
  const controller = new AbortController();
  const late = () => {
    signal?.removeEventListener('abort', leave);
    controller.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError'));
  };
  const timer = setTimeout(late, milliseconds).unref();
  const leave = () => {
    clearTimeout(timer);
    controller.abort(signal?.reason);
  };
  if (signal?.aborted === true) leave();
  else if (signal !== undefined) {
    // Many calls and events share a patience; each listens no longer than its own limit.
    setMaxListeners(0, signal);
    signal.addEventListener('abort', leave, { once: true });
  }
  return controller.signal;
}

/** One try of a call. */
async function attempt(up: Upstream, call: Call): Promise<Answer> {
  const { settings } = up;
  const prefix = call.api === 'batch' ? settings.batchPrefix : settings.atlasPrefix;
  const url = new URL(settings.baseUrl + prefix + call.path);
  for (const [name, value] of Object.entries(call.query ?? {})) {
    if (value === undefined) continue;
    for (const one of Array.isArray(value) ? value : [value]) url.searchParams.append(name, String(one));
  }
  const headers: Record<string, string> = {
    accept: call.accept ?? 'application/json',
    'x-request-id': up.requestId,
  };
  if (call.body !== undefined) headers['content-type'] = 'application/json';
  if (call.api === 'batch' && up.token !== undefined) headers.authorization = `Bearer ${up.token}`;
  const traced = up.startCall?.(call.operation);
  Object.assign(headers, traced?.headers);
  const started = performance.now();
  const report = (status: number) => {
    const ended = { operation: call.operation, status, milliseconds: performance.now() - started };
    traced?.ended(ended);
    up.onCall(ended);
  };
  try {
    const answer = await request(url, {
      dispatcher: up.agent,
      method: call.method,
      headers,
      signal: deadline(up.signal, call.timeout ?? DEFAULT_TIMEOUT),
      ...(call.body === undefined ? {} : { body: JSON.stringify(call.body) }),
    });
    report(answer.statusCode);
    return { status: answer.statusCode, headers: answer.headers, body: answer.body, call };
  } catch (error) {
    report(0);
    throw networkFailure(call.operation, error, up.signal);
  }
}

/** The call in the names of the deployment. */
const renamed = (mapping: WireMapping | undefined, call: Call): Call =>
  mapping === undefined
    ? call
    : {
        ...call,
        body: toWire(mapping, call.operation, call.body),
        query: toWire(mapping, call.operation, call.query) ?? {},
      };

/** Statuses that a read may outlive by being tried again. */
const PASSING = new Set([408, 429, 500, 502, 503, 504]);

/**
 * Makes one call and gives the answer of whatever status, its body unread. What only reads is tried up to three times.
 *
 * @throws UpstreamError UPSTREAM_TIMEOUT or UPSTREAM_UNAVAILABLE when no answer came; for a repeatable call also the last refusal of a kind that may pass
 */
export async function send(up: Upstream, asked: Call): Promise<Answer> {
  const call = renamed(up.settings.mapping, asked);
  if (!call.repeatable) return attempt(up, call);
  for (let tried = 1; ; tried += 1) {
    let error: unknown;
    try {
      const answer = await attempt(up, call);
      if (!PASSING.has(answer.status)) return answer;
      error = await refusal(up, answer);
    } catch (fault) {
      error = fault;
    }
    const pause = error instanceof UpstreamError ? retryPause(error, tried, Math.random()) : null;
    if (pause === null) throw error;
    await sleep(pause, undefined, up.signal === undefined ? {} : { signal: up.signal });
  }
}

/** Reads a whole body. @throws {@link UpstreamError} when it breaks off, comes too late or is larger than any honest answer */
export async function readBytes(up: Upstream, answer: Answer): Promise<Uint8Array> {
  const { operation } = answer.call;
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of answer.body as AsyncIterable<Uint8Array>) {
      size += chunk.byteLength;
      if (size > MAX_BODY_BYTES) {
        throw new UpstreamError(`The upstream's answer to ${operation} is too large.`, {
          operation,
          code: 'UPSTREAM_DRIFT',
          status: answer.status,
          retryable: false,
        });
      }
      chunks.push(chunk);
    }
  } catch (error) {
    throw networkFailure(operation, error, up.signal);
  }
  up.onBytes?.(operation, size);
  return Buffer.concat(chunks, size);
}

/** Parses a whole body. @throws {@link UpstreamError} UPSTREAM_DRIFT when it is no JSON */
export async function jsonOf(operation: string, bytes: Uint8Array, status = 200): Promise<unknown> {
  try {
    return await parseJson(bytes);
  } catch (error) {
    throw new UpstreamError(
      `The upstream's answer to ${operation} is not JSON.`,
      { operation, code: 'UPSTREAM_DRIFT', status, retryable: true },
      { cause: error },
    );
  }
}

/** Reads a body as JSON. @returns undefined for an empty body @throws {@link UpstreamError} UPSTREAM_DRIFT when it is no JSON */
export async function readJson(up: Upstream, answer: Answer): Promise<unknown> {
  const bytes = await readBytes(up, answer);
  return bytes.byteLength === 0 ? undefined : jsonOf(answer.call.operation, bytes, answer.status);
}

/** The typed error for an answer whose status the operation did not ask for. Reads the body for its text. */
export async function refusal(up: Upstream, answer: Answer): Promise<UpstreamError> {
  const { operation } = answer.call;
  const body = await readJson(up, answer).catch(() => undefined);
  const fields = typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {};
  const { request_id: id, results_expire_at: expired } = fields;
  const text = errorText(body);
  // The service may quote what it was sent.
  const shown = text === undefined ? undefined : redact(text, up.token);
  return new UpstreamError(shown ?? `The upstream answered ${operation} with HTTP ${answer.status}.`, {
    operation,
    code: codeOfStatus(answer.status),
    status: answer.status,
    requestId: typeof id === 'string' ? id : single(answer.headers['x-request-id']),
    retryable: answer.status === 429 || answer.status === 408 || answer.status >= 500,
    retryAfterSeconds: retryAfterSeconds(single(answer.headers['retry-after']), Date.now()),
    resultsExpireAt: typeof expired === 'string' ? expired : undefined,
  });
}
