// The response cache in front of Yoga: answers a stored response with its bytes, and shares one execution
// among identical concurrent requests. Other requests go on to Yoga; plugins/response-caching.ts stores
// their responses: those of public queries, and public files. A request with a header that is not listed
// here is never answered from the cache.
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { GraphQLError } from 'graphql';
import { LRUCache } from 'lru-cache';
import { matchesIfNoneMatch } from '../etag.ts';
import { makeRequestId } from '../telemetry/request-record.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import { traceparent } from '../telemetry/trace-context.ts';
import { destroyResponse } from './limits/http-server.ts';
import { rateLimitHeaders } from './limits/rate-limit.ts';
import { type LimitCheck, limitCheck } from './limits/request-limits.ts';
import { corsHeaders } from './plugins/response-headers.ts';
import { requestPath } from './request-target.ts';

/**
 * Headers in the key. `origin` decides only for pages of other sites; CORS headers are not cached.
 */
const IN_KEY = 'host accept content-type content-encoding origin sec-fetch-site sec-fetch-mode';

/**
 * Headers that change no public answer: of browsers, proxies and tracing, and those that are
 * answered anew each time.
 */
const WITHOUT_EFFECT =
  'accept-encoding accept-language apollo-require-preflight authorization baggage cache-control ' +
  'cdn-loop connection content-length cookie dnt forwarded if-none-match keep-alive pragma priority ' +
  'referer te traceparent tracestate transfer-encoding upgrade-insecure-requests user-agent via ' +
  'x-amzn-trace-id x-cloud-trace-context x-real-ip x-request-id';

/** Families of headers without effect; those that the gateway reads are in the key. */
const FAMILIES = /^(?:sec|cf|apollographql-client|graphql-client|x-apollo-operation|x-forwarded)-/;

const KNOWN: ReadonlySet<string> = new Set(`${IN_KEY} ${WITHOUT_EFFECT}`.split(' '));

/**
 * Bytes of a body that is part of a key at most, such as a query for 5,000 proteins by their
 * hashes.
 */
const MAX_BODY_BYTES = 262_144;

/** GraphQL, and files that may be the same for every caller. */
const PATHS = /^\/(?:graphql(?:\?|$)|thumbnails\/|structures\/)/;

/** The key of a request; undefined where it must not be answered from the cache. */
function cacheKey(
  { method, url = '', headers }: IncomingMessage,
  body: Buffer | undefined,
): string | undefined {
  if (!PATHS.test(url)) return undefined;
  if ((method !== 'POST' || body === undefined) && method !== 'GET') return undefined;
  if (body !== undefined && body.length > MAX_BODY_BYTES) return undefined;
  for (const name in headers) if (!KNOWN.has(name) && !FAMILIES.test(name)) return undefined;
  const { host, accept = '' } = headers;
  // Addresses in the answer then begin with that of the connection.
  if (host === undefined) return undefined;
  const { 'content-type': type = '', 'content-encoding': encoding = '' } = headers;
  const { 'sec-fetch-site': site = '', 'sec-fetch-mode': mode = '' } = headers;
  const page = site === 'cross-site' ? headers.origin : '';
  const key = `${method} ${url}\n${host}\n${accept}\n${type}\n${encoding}\n${site}\n${mode}\n${page}`;
  // One character for each byte: another body is another key, whatever it is.
  return body === undefined ? key : `${key}\n${body.toString('latin1')}`;
}

/** A response that every caller may be given. */
export interface CachedResponse {
  /** Names and values in turn, as node:http takes them; without those of a single request. */
  readonly headers: readonly string[];
  readonly body: Buffer;
  /** Such as `"abc"`; undefined where clients may not store the response. */
  readonly etag: string | undefined;
  /** Whether caches between here and the caller may store it. */
  readonly isPublic: boolean;
  /** Of the operation; null for one without, undefined for a file. */
  readonly operationName: string | null | undefined;
}

/** The shared response; null where each follower is executed by itself. */
type Settled = CachedResponse | null;
type Follower = (response: Settled) => void;

/** A request whose response others may wait for. */
export interface PendingResponse {
  readonly key: string;
  readonly followers: Follower[];
}

export type ResponseStore = ReturnType<typeof createResponseStore>;

/** Share of all bytes that one response may take. */
const MAX_ENTRY_SHARE = 1 / 16;
/** Bytes that an entry takes beside its key and body, about. */
const ENTRY_OVERHEAD_BYTES = 1024;

/** @param maxBytes - of all responses together; 0 stores none */
export function createResponseStore(maxBytes: number, now = () => performance.now()) {
  const stored =
    maxBytes === 0
      ? undefined
      : new LRUCache<string, CachedResponse>({
          maxSize: maxBytes,
          maxEntrySize: Math.floor(maxBytes * MAX_ENTRY_SHARE),
          sizeCalculation: ({ body }, key) => key.length + body.byteLength + ENTRY_OVERHEAD_BYTES,
          ttlResolution: 0,
          perf: { now },
        });
  const flights = new Map<string, PendingResponse>();
  return {
    get: (key: string) => stored?.get(key),
    /** Waits for a pending response. @returns false when none is pending under the key */
    follow(key: string, follower: Follower): boolean {
      const flight = flights.get(key);
      flight?.followers.push(follower);
      return flight !== undefined;
    },
    begin(key: string): PendingResponse {
      const pending: PendingResponse = { key, followers: [] };
      if (!flights.has(key)) flights.set(key, pending);
      return pending;
    },
    /** Settles a pending response, once. @param seconds - time to live */
    settle(pending: PendingResponse, response: Settled, seconds = 0): void {
      const { key, followers } = pending;
      if (response !== null && seconds > 0) stored?.set(key, response, { ttl: seconds * 1000 });
      if (flights.get(key) === pending) flights.delete(key);
      for (const follower of followers.splice(0)) follower(response);
    },
  };
}

/** Bytes of a body that are cheaper to copy than to write by themselves. */
const SMALL_BODY_BYTES = 16_384;

function headerOf({ headers }: IncomingMessage, name: string): string | null {
  const value = headers[name];
  return value === undefined ? null : String(value);
}

/**
 * The listener behind the cache.
 *
 * @param origins - whose pages may read answers
 * @param onFault - called with internal errors
 */
export function withResponseCache(
  next: RequestListener,
  store: ResponseStore,
  telemetry: Telemetry,
  origins: readonly string[],
  onFault: (error: unknown) => void,
): RequestListener {
  function respond(
    req: IncomingMessage,
    res: ServerResponse,
    { caller, rate }: LimitCheck,
    cached: CachedResponse,
    startedAt: number,
  ): void {
    const { body, etag, isPublic, operationName } = cached;
    const exchange = telemetry.arrive({
      requestId: makeRequestId(headerOf(req, 'x-request-id'), headerOf(req, 'authorization')),
      method: req.method,
      pathname: requestPath(req),
      traceparent: headerOf(req, 'traceparent'),
      startedAt,
    });
    exchange.principal = caller instanceof GraphQLError ? undefined : caller.principal;
    telemetry.endWith(exchange, res);
    if (operationName !== undefined) telemetry.setOperation(exchange, { type: 'query', name: operationName });
    const headers = [...cached.headers, 'x-request-id', exchange.requestId];
    headers.push('traceresponse', traceparent(exchange.span.context));
    for (const pair of Object.entries(corsHeaders(headerOf(req, 'origin'), origins))) headers.push(...pair);
    // A response that caches may store says nothing of a single caller.
    if (rate !== null && !isPublic)
      for (const pair of Object.entries(rateLimitHeaders(rate))) headers.push(...pair);
    if (etag !== undefined && matchesIfNoneMatch(headerOf(req, 'if-none-match'), etag)) {
      res.writeHead(304, headers).end();
      return;
    }
    headers.push('content-length', String(body.byteLength));
    res.writeHead(200, headers);
    // Node sends text together with the head, but bytes as a second piece.
    if (body.length <= SMALL_BODY_BYTES) res.end(body.toString('latin1'), 'latin1');
    else res.end(body);
  }

  /** Notes that the response of a request may be stored. */
  function begin(limited: LimitCheck, res: ServerResponse, key: string): void {
    const pending = store.begin(key);
    limited.pending = pending;
    res.once('close', () => store.settle(pending, null));
  }

  return (req, res) => {
    const limited = limitCheck(req);
    if (limited === undefined || limited.refusal !== null) return next(req, res);
    const { caller, body } = limited;
    if (caller instanceof GraphQLError || body instanceof GraphQLError) return next(req, res);
    const key = cacheKey(req, body);
    if (key === undefined) return next(req, res);
    const startedAt = performance.now();
    const answer = (cached: Settled): void => {
      if (res.closed) return;
      try {
        if (cached === null) next(req, res);
        else respond(req, res, limited, cached, startedAt);
      } catch (error) {
        if (res.closed) return;
        onFault(error);
        destroyResponse(res);
      }
    };
    const found = store.get(key);
    if (found !== undefined) return answer(found);
    if (store.follow(key, answer)) return;
    begin(limited, res, key);
    answer(null);
  };
}
