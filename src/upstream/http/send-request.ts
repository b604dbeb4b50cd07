// Sends one HTTP request through its host's limiter, within the limits of its operation, and
// reports its end.
import type { Dispatcher } from 'undici';
import { systemClock } from '../../async/clock.ts';
import { USER_AGENT } from '../../package.ts';
import { faultName, networkFailure, UpstreamError } from '../errors.ts';
import { operationLimits } from '../operations.ts';
import { detectSandbox } from '../settings.ts';
import type { Call, StreamedResponse, Upstream, UpstreamResponse } from './call.ts';
import { checkFileHost, isTrustedHost } from './file-address.ts';
import type { CallOutcome, HostLimiter } from './host-limiter.ts';
import { limitPace } from './limit-pace.ts';
import { type Attempt, requestWhole } from './request-whole.ts';
import { decompress, readSmall } from './response-body.ts';

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
  checkFileHost(settings, url);
  return isTrustedHost(settings, url) ? connections.pool : connections.publicOnly;
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
  const { origin, pathname } = settings.base;
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
  // In V8, names after a spread take forty times as long as names that are set one by one.
  const all: Record<string, string> = Object.assign({ 'user-agent': USER_AGENT }, headers);
  if (api === 'file') return all;
  all.accept = accept;
  all['x-request-id'] = up.requestId;
  if (body !== undefined) all['content-type'] = 'application/json';
  if (api === 'batch' && up.token !== undefined) all.authorization = `Bearer ${up.token}`;
  return Object.assign(all, traceHeaders);
}

const toOutcome = (status: number): CallOutcome => (status === 429 ? 'slowed' : 'reached');

/**
 * The outcome for the breaker; an abort, and an error of the gateway itself, show nothing of the
 * host.
 */
function toFailedOutcome(failure: unknown): CallOutcome {
  if (!(failure instanceof UpstreamError)) return 'unknown';
  return failure.failure.sent === false ? 'unreachable' : 'reached';
}

/**
 * Waits for the turn of a call, sends it once, and reports its end.
 *
 * @throws UpstreamError when no answer came, with `sent: false` where the request certainly never
 *   left; the abort reason
 */
async function sendInTurn<R extends Pick<UpstreamResponse, 'status' | 'headers'>>(
  up: Upstream,
  call: Call,
  send: (attempt: Attempt) => Promise<R>,
): Promise<R> {
  const { signal } = up;
  const { operation, method, body: json } = call;
  const limits = operationLimits(call.limits ?? operation, up.settings.patience);
  const { origin, path, dispatcher, limiter } = findTarget(up, call);
  const permit = await limiter?.enter({
    // The gateway's own calls share one place in the queue.
    caller: up.caller ?? '',
    operation,
    // Submit and Cancel wait for no read.
    isUrgent: !call.isRepeatable,
    scope: rateLimitScope(up, call),
    signal,
    maxWaitMs: limits.start,
  });
  const started = up.startCall?.({ operation, method, origin });
  let status = 0;
  const attempt: Attempt = {
    operation,
    dispatcher,
    request: {
      origin,
      path,
      method,
      headers: requestHeaders(up, call, started?.headers),
      body: json === undefined ? null : JSON.stringify(json),
      headersTimeout: limits.start,
      bodyTimeout: limits.stall,
    },
    signal,
    wholeMs: limits.whole,
    stallMs: limits.stall,
    maxBytes: call.maxBytes ?? limits.bytes,
    clock: up.clock ?? systemClock,
    begin(code) {
      status = code;
      started?.end({ status });
    },
  };
  try {
    const answer = await send(attempt);
    permit?.(toOutcome(status));
    if (call.api !== 'file') detectSandbox(up.settings, answer);
    return answer;
  } catch (error) {
    const hasBegun = status !== 0;
    const failure = networkFailure(operation, error, signal, hasBegun);
    const fault = failure instanceof UpstreamError ? faultName(error) : undefined;
    if (!hasBegun) started?.end({ status, fault });
    permit?.(hasBegun ? toOutcome(status) : toFailedOutcome(failure));
    throw failure;
  }
}

/**
 * Sends a call once and reads its answer, of any status. @throws UpstreamError without a whole one
 */
export const sendRequest = (up: Upstream, call: Call): Promise<UpstreamResponse> =>
  sendInTurn(up, call, async (attempt) => {
    const answer = await decompress(await requestWhole(attempt), attempt.maxBytes);
    up.onBytes?.(call.operation, answer.body.byteLength);
    return answer;
  });

/** Whether a status says that the body is the whole answer. */
export const isWhole = (status: number): boolean => status >= 200 && status < 300 && status !== 206;

/** The statuses of a file, whose caller may have named a range or a condition. */
const FILE_STATUSES = new Set([200, 206, 304, 416]);

/**
 * Sends a call once. A success is streamed: it takes as long as its reader does, without delaying
 * other calls. A refusal is read.
 *
 * @throws UpstreamError when no answer came
 */
export const startStream = (up: Upstream, call: Call): Promise<StreamedResponse | UpstreamResponse> =>
  sendInTurn(up, call, async ({ operation, dispatcher, request, signal, maxBytes, stallMs, begin }) => {
    const { statusCode: status, headers, body } = await dispatcher.request({ ...request, signal });
    begin(status);
    const streamed = limitPace({ operation, status, headers, body }, maxBytes, stallMs, signal);
    if (call.api === 'file' ? FILE_STATUSES.has(status) : isWhole(status)) return streamed;
    return { ...streamed, body: await readSmall(streamed).catch(() => Buffer.alloc(0)) };
  });
