// Sends one HTTP request through its host's limiter, within the operation's time limits, and
// reports its end.
import { isIP } from 'node:net';
import type { Dispatcher } from 'undici';
import { startDeadline } from '../../async/deadline.ts';
import { USER_AGENT } from '../../package.ts';
import { faultName, networkFailure, UpstreamError, unknownHost } from '../errors.ts';
import { operationLimits, STALL_MS } from '../operations.ts';
import { detectSandbox } from '../settings.ts';
import type { CallOutcome, CallSource, HostLimiter } from './host-limiter.ts';
import { isPublicAddress } from './public-address.ts';
import { decompress, limitPace } from './response-body.ts';
import type { Call, StreamedResponse, Upstream } from './upstream-client.ts';

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
  readonly url: URL;
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

function findTarget(up: Upstream, { api, path, query = {}, isRepeatable }: Call): Target {
  const { settings, connections, limiters } = up;
  if (api === 'file') {
    const url = new URL(path);
    return { url, dispatcher: fileDispatcher(up, url), limiter: limiters?.files(url.host) };
  }
  const prefix = api === 'batch' ? settings.batchPrefix : settings.atlasPrefix;
  const url = new URL(`${settings.baseUrl}${prefix}${path}`);
  for (const [name, value] of Object.entries(query))
    for (const one of [value].flat()) if (one !== undefined) url.searchParams.append(name, String(one));
  return { url, dispatcher: isRepeatable ? connections.pool : connections.unshared, limiter: limiters?.api };
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

/** Bytes of an answer that says why there is none. */
const MAX_REFUSAL_BYTES = 256 * 1024;

/**
 * Sends a call once. Returns the answer of any status, its body unread.
 *
 * @throws UpstreamError when no answer came, with `sent: false` where the request certainly never
 *   left
 */
export async function sendRequest(up: Upstream, call: Call): Promise<StreamedResponse> {
  const { operation, method, body: json } = call;
  const { url, dispatcher, limiter } = findTarget(up, call);
  const { origin } = url;
  const { patience = 1 } = up.settings;
  const { start, whole } = operationLimits(call.limits ?? operation, patience);
  const permit = await limiter?.enter({
    ...(up.source ?? NO_SOURCE),
    operation,
    // Submit and Cancel wait for no read.
    isUrgent: !call.isRepeatable,
    scope: rateLimitScope(up, call),
    signal: up.signal,
    maxWaitMs: start,
  });
  const startedAt = performance.now();
  const deadline = startDeadline(up.signal, start);
  const started = up.startCall?.({ operation, method, origin });
  const end = (outcome: CallOutcome): void => {
    deadline.end();
    permit?.(outcome);
  };
  try {
    const received = await dispatcher.request({
      origin,
      path: url.pathname + url.search,
      method,
      headers: requestHeaders(up, call, started?.headers),
      body: json === undefined ? null : JSON.stringify(json),
      bodyTimeout: STALL_MS * patience,
      signal: deadline.signal,
    });
    const { statusCode: status, headers, body } = received;
    started?.end({ status });
    body.once('close', () => end(toOutcome(status)));
    const limit = call.maxBytes ?? operationLimits(operation).bytes;
    const maxBytes = status >= 400 ? Math.min(limit, MAX_REFUSAL_BYTES) : limit;
    const answer = decompress({ status, headers, body, call: { operation, maxBytes } });
    if (call.api !== 'file') detectSandbox(up.settings, answer);
    if (up.streamed !== true) {
      deadline.extend(Math.max(0, whole - (performance.now() - startedAt)));
      return answer;
    }
    // A streamed body takes as long as its client does, without delaying other calls.
    deadline.lift();
    permit?.(toOutcome(status));
    return limitPace(answer, STALL_MS * patience);
  } catch (error) {
    const failure = networkFailure(operation, error, up.signal);
    started?.end({ status: 0, fault: failure instanceof UpstreamError ? faultName(error) : undefined });
    end(toFailedOutcome(failure));
    throw failure;
  }
}
