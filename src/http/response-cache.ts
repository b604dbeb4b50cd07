// The response cache in front of Yoga. It answers a stored response with its bytes, and lets identical
// requests at the same time wait for one execution. It stores the responses of public operations and public
// files. A request with a header that is not listed here is never answered from the cache.
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { memoize2 } from '@graphql-tools/utils';
import {
  type DocumentNode,
  type ExecutionResult,
  GraphQLError,
  type GraphQLSchema,
  getOperationAST,
} from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { LRUCache } from 'lru-cache';
import type { Config } from '../config.ts';
import type { GatewayContext } from '../context.ts';
import { createEtag, matchesIfNoneMatch } from '../etag.ts';
import { REPORT_HEADER } from '../telemetry/request-record.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import { traceparent } from '../telemetry/trace-context.ts';
import { nodeRequestOf } from './auth/node-request.ts';
import { destroyResponse } from './limits/http-server.ts';
import { rateLimitHeaders } from './limits/rate-limit.ts';
import { type LimitCheck, limitCheck } from './limits/request-limits.ts';
import { addVary, corsHeaders } from './plugins/response-headers.ts';
import { publicLifetime } from './public-operations.ts';
import { requestPath } from './request-target.ts';

/** Headers in the key. `origin` decides only for pages of other sites; CORS headers are not stored. */
const HEADERS_IN_KEY = [
  ...['host', 'accept', 'content-type', 'content-encoding'],
  ...['origin', 'sec-fetch-site', 'sec-fetch-mode'],
];

/** Headers that change no public response: of browsers, proxies and tracing. */
const HEADERS_WITHOUT_EFFECT =
  'accept-encoding accept-language apollo-require-preflight authorization baggage cache-control ' +
  'cdn-loop connection content-length cookie dnt forwarded if-none-match keep-alive pragma priority ' +
  'referer te traceparent tracestate transfer-encoding upgrade-insecure-requests user-agent via ' +
  'x-amzn-trace-id x-cloud-trace-context x-real-ip x-request-id';

/** Families of headers without effect; those that the gateway reads are in the key. */
const FAMILIES = /^(?:sec|cf|apollographql-client|graphql-client|x-apollo-operation|x-forwarded)-/;

const KNOWN_HEADERS = new Set([...HEADERS_IN_KEY, ...HEADERS_WITHOUT_EFFECT.split(' ')]);

/** A body that is part of a key: enough for 5,000 hashes. */
const MAX_KEY_BODY_BYTES = 262_144;
/** GraphQL, and files that may be the same for every caller. */
const PATHS = /^\/(?:graphql(?:\?|$)|thumbnails\/|structures\/)/;

/** The key of a request; undefined where it must not be answered from the cache. */
function cacheKey(
  { method, url = '', headers }: IncomingMessage,
  body: Buffer | undefined,
): string | undefined {
  if (!PATHS.test(url)) return undefined;
  if ((method !== 'POST' || body === undefined) && method !== 'GET') return undefined;
  if (body !== undefined && body.length > MAX_KEY_BODY_BYTES) return undefined;
  // Without a host, addresses in the response begin with that of the connection.
  if (headers.host === undefined) return undefined;
  for (const name in headers) if (!KNOWN_HEADERS.has(name) && !FAMILIES.test(name)) return undefined;
  const isForeignPage = headers['sec-fetch-site'] === 'cross-site';
  const values = HEADERS_IN_KEY.map((name) => (name === 'origin' && !isForeignPage ? '' : headers[name]));
  // One character for each byte: another body is another key, whatever it is.
  return [method, url, ...values, body?.toString('latin1')].join('\n');
}

/** A response that every caller may get. */
interface StoredResponse {
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

/** Headers that are the same for every caller. */
const STORED_HEADERS: ReadonlySet<string> = new Set(
  (
    'cache-control content-disposition content-security-policy content-type cross-origin-resource-policy ' +
    'etag referrer-policy vary x-content-type-options x-frame-options x-sandbox'
  ).split(' '),
);
/** Headers that are made for each request. A response with any other header is not stored. */
const REQUEST_HEADERS: ReadonlySet<string> = new Set(
  (
    'access-control-allow-origin access-control-expose-headers content-length ratelimit-limit ' +
    'ratelimit-remaining ratelimit-reset traceresponse x-request-id'
  ).split(' '),
);

/** The headers to store as names and values in turn; null when one of them must not be stored. */
function storedHeaders(headers: Headers): string[] | null {
  const stored: string[] = [];
  for (const [name, value] of headers) {
    if (STORED_HEADERS.has(name)) stored.push(name, value);
    else if (!REQUEST_HEADERS.has(name)) return null;
  }
  return stored;
}

/** What was found out about a response that may be shared. */
interface Shareable extends Pick<StoredResponse, 'operationName'> {
  readonly seconds: number;
  /** Whether it has addresses that begin with the request's Host header: for no shared cache. */
  readonly dependsOnHost: boolean;
}

const shareables = new WeakMap<Request, Shareable>();
const bodies = new WeakMap<Response, string | Buffer>();

/** Remembers the body of a response, so that it need not be read from it. */
export function rememberBody<T extends Response>(response: T, body: string | Buffer): T {
  bodies.set(response, body);
  return response;
}

/** The body of a response that was remembered. */
export const knownBody = (response: Response): string | Buffer | undefined => bodies.get(response);

/**
 * Says that a file is the same for every caller who may read it.
 *
 * @param response - with its ETag
 * @param seconds - how long it may be stored
 */
export function shareFile(request: Request, response: Response, content: Buffer, seconds: number): Response {
  shareables.set(request, { seconds, operationName: undefined, dependsOnHost: false });
  return rememberBody(response, content);
}

/** What is absent may be there any moment. */
const ABSENT_SECONDS = 60;

/** Seconds that a result may be stored; null for one that is not whole. */
function storableSeconds(
  { errors, data }: ExecutionResult,
  seconds: number,
  absences: ReadonlySet<string> | undefined,
): number | null {
  if (errors !== undefined || data == null) return null;
  const isComplete = (absences?.size ?? 0) === 0 && !Object.values(data).includes(null);
  return isComplete ? seconds : Math.min(seconds, ABSENT_SECONDS);
}

export interface ResponseCacheOptions {
  readonly config: Pick<Config, 'CACHE_RECORDS_SECONDS' | 'CORS_ORIGINS' | 'proofNeeded'>;
  /** Bytes of all stored responses together; 0 stores none. */
  readonly maxBytes: number;
  readonly telemetry: Telemetry;
  /** Called with internal errors. */
  readonly onFault: (error: unknown) => void;
}

export interface ResponseCache {
  /** Decides which GraphQL responses may be stored. */
  readonly plugin: Plugin;
  /** The listener behind the cache. */
  wrap(next: RequestListener): RequestListener;
  /** Sets Cache-Control and ETag, and stores the response. @returns the response, or a 304 in its place */
  finish(request: Request, response: Response, serverContext: unknown): Response;
}

/** A request whose response others wait for. */
interface Leader {
  readonly key: string;
  /** Gives the others the response, once; with null each of them is executed by itself. */
  settle(response: StoredResponse | null): void;
}

/** Seconds that a response is served from here. */
const MAX_STORED_SECONDS = 60;
/** Share of all bytes that one response may take. */
const MAX_ENTRY_SHARE = 1 / 16;
/** What an entry takes beside its key and body, about. */
const ENTRY_OVERHEAD_BYTES = 1024;

export function createResponseCache(options: ResponseCacheOptions): ResponseCache {
  const { config, maxBytes, telemetry, onFault } = options;
  const { CACHE_RECORDS_SECONDS, CORS_ORIGINS, proofNeeded } = config;
  const lifetime = memoize2((schema: GraphQLSchema, document: DocumentNode) =>
    publicLifetime(schema, document, CACHE_RECORDS_SECONDS),
  );
  const stored =
    maxBytes === 0
      ? undefined
      : new LRUCache<string, StoredResponse>({
          maxSize: maxBytes,
          maxEntrySize: Math.floor(maxBytes * MAX_ENTRY_SHARE),
          sizeCalculation: ({ body }, key) => key.length + body.byteLength + ENTRY_OVERHEAD_BYTES,
        });
  const flights = new Map<string, Promise<StoredResponse | null>>();
  const leaders = new WeakMap<IncomingMessage, Leader>();

  const findLeader = (serverContext: unknown): Leader | undefined => {
    const incoming = nodeRequestOf(serverContext);
    return incoming && leaders.get(incoming);
  };

  /** Lets identical requests wait for the response to this one. */
  function lead(req: IncomingMessage, res: ServerResponse, key: string): void {
    const flight = new Promise<StoredResponse | null>((resolve) => {
      const settle = (response: StoredResponse | null): void => {
        if (flights.get(key) === flight) flights.delete(key);
        resolve(response);
      };
      leaders.set(req, { key, settle });
      res.once('close', () => settle(null));
    });
    flights.set(key, flight);
  }

  /** Answers with a stored response, with the headers of this request. */
  function send(
    req: IncomingMessage,
    res: ServerResponse,
    { caller, rate }: LimitCheck,
    { headers: shared, body, etag, isPublic, operationName }: StoredResponse,
    startedAt: number,
  ): void {
    const { origin } = req.headers;
    const header = (name: string): string | null => req.headers[name]?.toString() ?? null;
    const record = telemetry.beginIncoming({
      method: req.method,
      pathname: requestPath(req),
      header,
      startedAt,
    });
    record.principal = caller instanceof GraphQLError ? undefined : caller.principal;
    telemetry.endOnClose(record, res);
    if (operationName !== undefined) record.operation = { type: 'query', name: operationName };
    const headers = [...shared, 'x-request-id', record.requestId];
    headers.push('traceresponse', traceparent(record.span.context));
    headers.push(...Object.entries(corsHeaders(origin ?? null, CORS_ORIGINS)).flat());
    // A response that caches may store says nothing of a single caller.
    if (rate !== null && !isPublic) headers.push(...Object.entries(rateLimitHeaders(rate)).flat());
    if (etag !== undefined && matchesIfNoneMatch(header('if-none-match'), etag)) {
      res.writeHead(304, headers).end();
      return;
    }
    res.writeHead(200, [...headers, 'content-length', String(body.byteLength)]).end(body);
  }

  /** Lets clients store the response to a GET. @returns its ETag */
  function allowCaching({ headers }: Response, body: string | Buffer, shareable: Shareable): string {
    const etag = createEtag(body);
    const scope = proofNeeded || shareable.dependsOnHost ? 'private' : 'public';
    headers.set('cache-control', `${scope}, max-age=${shareable.seconds}`);
    headers.set('etag', etag);
    addVary(headers, ['accept', REPORT_HEADER, ...(proofNeeded ? ['authorization'] : [])]);
    return etag;
  }

  return {
    plugin: {
      onExecute({ args, context }) {
        const { request } = context;
        const { schema, document, operationName, variableValues } = args;
        const isReported = request.headers.get(REPORT_HEADER) === '1';
        const seconds = isReported ? null : lifetime(schema, document)(variableValues ?? {});
        if (seconds === null) {
          findLeader(context)?.settle(null);
          return undefined;
        }
        return {
          onExecuteDone({ result, args: { contextValue } }) {
            // The context that useExecution has opened.
            const { upstream, dependsOnHost = false }: object & Partial<GatewayContext> = contextValue;
            const whole =
              Symbol.asyncIterator in result ? null : storableSeconds(result, seconds, upstream?.absences);
            if (whole === null) return findLeader(context)?.settle(null);
            const name = getOperationAST(document, operationName)?.name?.value ?? null;
            shareables.set(request, { seconds: whole, operationName: name, dependsOnHost });
          },
        };
      },
    },
    wrap: (next) => (req, res) => {
      const check = limitCheck(req);
      // Yoga answers a caller whose credentials are missing or wrong.
      const isRefused = check?.refusal !== null || check.caller instanceof GraphQLError;
      if (check === undefined || isRefused || check.body instanceof GraphQLError) return next(req, res);
      const key = cacheKey(req, check.body);
      if (key === undefined) return next(req, res);
      const startedAt = performance.now();
      const answer = (response: StoredResponse | null): void => {
        if (res.closed) return;
        try {
          if (response === null) next(req, res);
          else send(req, res, check, response, startedAt);
        } catch (error) {
          if (res.closed) return;
          onFault(error);
          destroyResponse(res);
        }
      };
      const response = stored?.get(key);
      if (response !== undefined) return answer(response);
      const flight = flights.get(key);
      if (flight !== undefined) return void flight.then(answer);
      lead(req, res, key);
      answer(null);
    },
    finish(request, response, serverContext) {
      const { headers, status } = response;
      // A file that the client has is stored with the headers of its 304.
      const shareable = status === 200 || status === 304 ? shareables.get(request) : undefined;
      const body = bodies.get(response);
      let etag: string | undefined;
      if (headers.has('cache-control')) etag = headers.get('etag') ?? undefined;
      else if (shareable !== undefined && body !== undefined && request.method === 'GET')
        etag = allowCaching(response, body, shareable);
      else headers.set('cache-control', 'private, no-store');
      const leader = findLeader(serverContext);
      const shared = shareable === undefined || body === undefined ? null : storedHeaders(headers);
      if (leader !== undefined && shareable !== undefined && body !== undefined && shared !== null) {
        const isPublic = headers.get('cache-control')?.includes('public') === true;
        const { operationName } = shareable;
        const entry = {
          headers: shared,
          body: typeof body === 'string' ? Buffer.from(body) : body,
          etag,
          isPublic,
          operationName,
        };
        const seconds = Math.min(shareable.seconds, MAX_STORED_SECONDS);
        if (seconds > 0) stored?.set(leader.key, entry, { ttl: seconds * 1000 });
        leader.settle(entry);
      } else leader?.settle(null);
      if (etag === undefined || body === undefined) return response;
      if (!matchesIfNoneMatch(request.headers.get('if-none-match'), etag)) return response;
      headers.delete('content-length');
      return rememberBody(new Response(null, { status: 304, headers }), body);
    },
  };
}
