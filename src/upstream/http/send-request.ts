// Sends one HTTP request through its host's limiter, within the limits of its operation, and
// reports its end.
import { isIP } from 'node:net';
import type { Dispatcher } from 'undici';
import { USER_AGENT } from '../../package.ts';
import { faultName, networkFailure, UpstreamError, unknownHost } from '../errors.ts';
import { operationLimits, STALL_MS } from '../operations.ts';
import { detectSandbox } from '../settings.ts';
import { decompress, exchange } from './exchange.ts';
import type { CallOutcome, CallSource, HostLimiter } from './host-limiter.ts';
import { isPublicAddress } from './public-address.ts';
import { limitPace } from './response-stream.ts';
import type { Call, StreamedResponse, Upstream, UpstreamResponse } from './upstream-client.ts';

/**
 * The scope of a 429. The Atlas counts by address, so all callers share it; the Batch API counts by
 * token. A call that is sent once ignores pauses: only the service knows whether it would refuse
 * it, and a refusal costs nothing.
 */
export function rateLimitScope(up: Upstream, { api, isRepeatable }: Call): string | undefined {
  if (!isRepeatable || api === 'file') return undefined;
  return api === 'atlas' ? 'atlas' : `batch ${up.token ?? ''}`;
}

interface Target {
  readonly origin: string;
  /** With its query. */
  readonly path: string;
  readonly dispatcher: Dispatcher;
  readonly limiter: HostLimiter | undefined;
}

/** Connections for a file. @throws UpstreamError for a host that the gateway does not trust */
function fileDispatcher({ settings, connections }: Upstream, url: URL): Dispatcher {
  const service = new URL(settings.baseUrl);
  const isService = url.host === service.host && url.protocol === service.protocol;
  if (isService || [url.host, url.hostname].some((host) => settings.downloadHosts.includes(host)))
    return connections.pool;
  const literal = url.hostname.replace(/^\[|\]$/g, '');
  if (url.protocol !== 'https:' || (isIP(literal) !== 0 && !isPublicAddress(literal))) throw unknownHost();
  return connections.publicOnly;
}

function queryText(query: Call['query'] = {}): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    for (const one of [value].flat()) if (one !== undefined) params.append(name, String(one));
  return params.size === 0 ? '' : `?${params}`;
}

function findTarget(up: Upstream, { api, path, query, isRepeatable }: Call): Target {
  const { settings, connections, limiters } = up;
  if (api === 'file') {
    const url = new URL(path);
    return {
      origin: url.origin,
      path: url.pathname + url.search,
      dispatcher: fileDispatcher(up, url),
      limiter: limiters?.files(url.host),
    };
  }
  const { origin, pathname } = new URL(settings.baseUrl);
  const prefix = api === 'batch' ? settings.batchPrefix : settings.atlasPrefix;
  return {
    origin,
    path: `${pathname === '/' ? '' : pathname}${prefix}${path}${queryText(query)}`,
    dispatcher: isRepeatable ? connections.pool : connections.unshared,
    limiter: limiters?.api,
  };
}

function requestHeaders(
  up: Upstream,
  { api, body, accept = 'application/json', headers }: Call,
  traceHeaders: Readonly<Record<string, string>> | undefined,
): Record<string, string> {
  const common = { 'user-agent': USER_AGENT, ...headers };
  if (api === 'file') return common;
  return {
    ...common,
    accept,
    'x-request-id': up.requestId,
    ...(body === undefined ? undefined : { 'content-type': 'application/json' }),
    ...(api === 'batch' && up.token !== undefined ? { authorization: `Bearer ${up.token}` } : undefined),
    ...traceHeaders,
  };
}

/** The gateway's own calls share one place in the queue. */
const NO_SOURCE: CallSource = { caller: '' };

const toOutcome = (status: number): CallOutcome => (status === 429 ? 'slowed' : 'reached');

/**
 * The outcome for the breaker; an abort, and an error of the gateway itself, show nothing of the
 * host.
 */
function toFailedOutcome(failure: unknown): CallOutcome {
  if (!(failure instanceof UpstreamError)) return 'unknown';
  return failure.failure.sent === false ? 'unreachable' : 'reached';
}

/** A try of a call whose turn has come. */
interface Attempt {
  readonly dispatcher: Dispatcher;
  readonly request: Dispatcher.DispatchOptions;
  /** Called when the answer begins. */
  begin(status: number): void;
  /** Ends its place among the calls in flight. */
  end(): void;
  /** The same after an error. @returns the error to throw */
  fail(error: unknown): unknown;
}

/**
 * Waits for the turn of a call.
 *
 * @throws UpstreamError with `heldBack`, or the abort reason
 */
async function startAttempt(up: Upstream, call: Call, startMs: number, stallMs: number): Promise<Attempt> {
  const { operation, method, body: json } = call;
  const { origin, path, dispatcher, limiter } = findTarget(up, call);
  const permit = await limiter?.enter({
    ...(up.source ?? NO_SOURCE),
    operation,
    // Submit and Cancel wait for no read.
    isUrgent: !call.isRepeatable,
    scope: rateLimitScope(up, call),
    signal: up.signal,
    maxWaitMs: startMs,
  });
  const started = up.startCall?.({ operation, method, origin });
  let status = 0;
  return {
    dispatcher,
    request: {
      origin,
      path,
      method,
      headers: requestHeaders(up, call, started?.headers),
      body: json === undefined ? null : JSON.stringify(json),
      headersTimeout: startMs,
      bodyTimeout: stallMs,
    },
    begin(code) {
      status = code;
      started?.end({ status });
    },
    end: () => permit?.(toOutcome(status)),
    fail(error) {
      const hasBegun = status !== 0;
      const failure = networkFailure(operation, error, up.signal, hasBegun);
      const fault = failure instanceof UpstreamError ? faultName(error) : undefined;
      if (!hasBegun) started?.end({ status, fault });
      permit?.(hasBegun ? toOutcome(status) : toFailedOutcome(failure));
      return failure;
    },
  };
}

/**
 * Sends a call once and reads its answer, of any status.
 *
 * @throws UpstreamError when no whole answer came, with `sent: false` where the request certainly
 *   never left
 */
export async function sendRequest(up: Upstream, call: Call): Promise<UpstreamResponse> {
  const { operation } = call;
  const { patience = 1 } = up.settings;
  const { start, whole, bytes } = operationLimits(call.limits ?? operation, patience);
  const maxBytes = call.maxBytes ?? bytes;
  const attempt = await startAttempt(up, call, start, STALL_MS * patience);
  const { dispatcher, request, begin } = attempt;
  try {
    const reading = { operation, maxBytes, wholeMs: whole, signal: up.signal, onStart: begin };
    const answer = await decompress(await exchange(dispatcher, request, reading), maxBytes);
    attempt.end();
    if (call.api !== 'file') detectSandbox(up.settings, answer);
    up.onBytes?.(operation, answer.body.byteLength);
    return answer;
  } catch (error) {
    throw attempt.fail(error);
  }
}

/**
 * Sends a call once. A streamed answer takes as long as its reader does, without delaying other
 * calls.
 *
 * @throws UpstreamError when no answer came
 */
export async function startStream(up: Upstream, call: Call): Promise<StreamedResponse> {
  const { operation } = call;
  const { patience = 1 } = up.settings;
  const { start, bytes } = operationLimits(call.limits ?? operation, patience);
  const attempt = await startAttempt(up, call, start, STALL_MS * patience);
  try {
    const {
      statusCode: status,
      headers,
      body,
    } = await attempt.dispatcher.request({
      ...attempt.request,
      signal: up.signal,
    });
    attempt.begin(status);
    attempt.end();
    const answer = { operation, status, headers, body };
    if (call.api !== 'file') detectSandbox(up.settings, answer);
    return limitPace(answer, call.maxBytes ?? bytes, STALL_MS * patience);
  } catch (error) {
    throw attempt.fail(error);
  }
}
