// Calls the service: URL, token and retries. atlas.ts and batch.ts have its operations.
import type { Readable } from 'node:stream';
import type { CallHooks } from '../../telemetry/upstream-calls.ts';
import { UpstreamError } from '../errors.ts';
import type { Operation } from '../operations.ts';
import { noteSandbox } from '../settings.ts';
import type { ServiceConnections } from './connections.ts';
import type { CallSource, HostLimiter } from './host-limiter.ts';
import { isWhole } from './response-body.ts';
import { toUpstreamError } from './response-error.ts';
import { type OutgoingRequest, sendRequest, withRetry } from './send-request.ts';

/** Where the service is and what its deployment calls things (configuration). */
export interface UpstreamSettings {
  readonly baseUrl: string;
  readonly batchPrefix: string;
  readonly atlasPrefix: string;
  readonly listLimitField: string;
  readonly listCursorField: string;
  readonly downloadHosts: readonly string[];
  /** Types of thumbnails where the deployment calls them otherwise, by ours. */
  readonly thumbnailTypes?: Readonly<Record<string, string>> | undefined;
  /** What every operation's limits of time are multiplied with; 1 when absent. */
  readonly patience?: number;
}

/** The service for one request: address, the caller's token, request id and time limits. */
export interface Upstream extends CallHooks {
  readonly settings: UpstreamSettings;
  readonly connections: ServiceConnections;
  /** The bearer token for the Batch API; undefined without one. Never sent to the Atlas. */
  readonly token: string | undefined;
  /** Whether the token is the gateway's own, of which its callers know nothing. */
  readonly isGatewayKey?: boolean;
  readonly requestId: string;
  /** Whose share of the calls in flight it uses; calls without a source share one. */
  readonly source?: CallSource | undefined;
  /** What all requests know of the service together; without it every call goes at once. */
  readonly limiter?: HostLimiter | undefined;
  /** Whether bodies stream at the client's pace, without a limiter slot and a time limit. */
  readonly streamed?: boolean;
  readonly signal: AbortSignal | undefined;
  /** What the request has found not to be there, and may be there any moment. */
  readonly absences?: Set<string> | undefined;
}

export interface Call {
  readonly operation: Operation;
  /** The line of the table of limits, where it is another than the operation's own. */
  readonly limits?: Operation;
  readonly api: 'batch' | 'atlas';
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Below the API's prefix; path parameters already encoded. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | boolean | readonly number[] | undefined>>;
  readonly body?: unknown;
  readonly accept?: string;
  /** Maximum bytes of the answer, where the request determines it. */
  readonly maxBytes?: number | undefined;
  /** Whether it may be tried again after a failure that may pass: true for what only reads. */
  readonly repeatable: boolean;
}

/** An answer whose body has not been read yet. Read or dump the body, always. */
export interface StreamedResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Readable;
  /** What it answers, and how many bytes of it are read at most. */
  readonly call: { readonly operation: string; readonly maxBytes: number };
}

function buildUrl(
  { baseUrl, batchPrefix, atlasPrefix }: UpstreamSettings,
  { api, path, query = {} }: Call,
): Pick<OutgoingRequest, 'origin' | 'path'> {
  const { origin, pathname } = new URL(`${baseUrl}${api === 'batch' ? batchPrefix : atlasPrefix}${path}`);
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    for (const one of [value].flat()) if (one !== undefined) search.append(name, String(one));
  return { origin, path: search.size === 0 ? pathname : `${pathname}?${search}` };
}

/**
 * The scope of a 429. The Atlas counts by address, so all callers share it; the Batch API counts by
 * token. A call that is sent once ignores pauses: only the service knows whether it would refuse
 * it, and a refusal costs nothing.
 */
function rateLimitScope(up: Upstream, { api, repeatable }: Call): string | undefined {
  if (!repeatable) return undefined;
  return api === 'atlas' ? 'atlas' : `batch ${up.token ?? ''}`;
}

function toRequest(up: Upstream, call: Call): OutgoingRequest {
  const { api, body, accept = 'application/json' } = call;
  const headers: Record<string, string> = { accept, 'x-request-id': up.requestId };
  if (body !== undefined) headers['content-type'] = 'application/json';
  if (api === 'batch' && up.token !== undefined) headers.authorization = `Bearer ${up.token}`;
  const { connections, limiter } = up;
  const dispatcher = call.repeatable ? connections.pool : connections.unshared;
  const { origin, path } = buildUrl(up.settings, call);
  const scope = rateLimitScope(up, call);
  // Submit and Cancel wait for no read.
  const isUrgent = !call.repeatable;
  return { origin, headers, dispatcher, traced: true, limiter, isUrgent, scope, ...call, path };
}

/** Statuses after which a read is tried again. */
const TEMPORARY = new Set([408, 429, 500, 502, 503, 504]);

/** Sends a call once. A read throws temporary refusals; its scope pauses after a 429. */
async function send(up: Upstream, call: Call): Promise<StreamedResponse> {
  const answer = await sendRequest(up, toRequest(up, call));
  noteSandbox(up.settings, answer);
  if (!call.repeatable || !TEMPORARY.has(answer.status)) return answer;
  const error = await toUpstreamError(up, answer);
  const scope = rateLimitScope(up, call);
  const { retryable, retryAfterSeconds } = error.failure;
  // Credits that are used up do not come back by waiting.
  if (answer.status === 429 && scope !== undefined && retryable)
    up.limiter?.slowDown(scope, retryAfterSeconds);
  throw error;
}

/**
 * Makes a call and returns the answer of any status, its body unread. Reads are tried up to three
 * times.
 *
 * @throws UpstreamError UPSTREAM_TIMEOUT or UPSTREAM_UNAVAILABLE when no answer came; for a
 *   repeatable call also the last temporary refusal
 */
export const callAnyStatus = (up: Upstream, call: Call): Promise<StreamedResponse> =>
  call.repeatable ? withRetry(up.signal, () => send(up, call)) : send(up, call);

/** Makes a call. @throws UpstreamError for every answer but a success */
export async function call(up: Upstream, asked: Call): Promise<StreamedResponse> {
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
export async function callOrNull(up: Upstream, asked: Call): Promise<StreamedResponse | null> {
  try {
    return await call(up, asked);
  } catch (error) {
    if (error instanceof UpstreamError && error.failure.isAbsence === true) return null;
    throw error;
  }
}
