// The response cache in front of Yoga. It answers a stored response with its bytes, and lets
// identical requests at the same time wait for one execution. It stores the responses of public
// operations and public files. A request with a header that is not listed here is never answered
// from the cache.
import { memoize2 } from '@graphql-tools/utils';
import { type DocumentNode, type ExecutionResult, GraphQLError, type GraphQLSchema } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { LRUCache } from 'lru-cache';
import type { Config } from '../../config.ts';
import type { GatewayContext } from '../../context.ts';
import { createEtag } from '../../etag.ts';
import { REPORT_HEADER } from '../../telemetry/request-record.ts';
import { type Exchange, getExchange, type HttpResponse, type ShareableResponse } from '../exchange.ts';
import { addVary } from '../server/response-headers.ts';
import { publicLifetime } from './public-operations.ts';

/**
 * Headers in the key. `origin` decides only for pages of other sites; CORS headers are not stored.
 */
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
function cacheKey({ method, url, headers, address, caller, body }: Exchange): string | undefined {
  if (address === undefined || !PATHS.test(url)) return undefined;
  if (method !== 'GET' && (method !== 'POST' || body === undefined)) return undefined;
  // Yoga answers a caller whose credentials are missing or wrong, and a body that is too large.
  if (caller instanceof GraphQLError || body instanceof GraphQLError) return undefined;
  if (body !== undefined && body.length > MAX_KEY_BODY_BYTES) return undefined;
  // Without a host, addresses in the response begin with that of the connection.
  if (headers.host === undefined) return undefined;
  for (const name in headers) if (!KNOWN_HEADERS.has(name) && !FAMILIES.test(name)) return undefined;
  const isForeignPage = headers['sec-fetch-site'] === 'cross-site';
  let key = `${method}\n${url}`;
  for (const name of HEADERS_IN_KEY)
    key += `\n${name === 'origin' && !isForeignPage ? '' : (headers[name] ?? '')}`;
  // One character for each byte: another body is another key, whatever it is.
  return body === undefined ? key : `${key}\n${body.toString('latin1')}`;
}

/** A response that every caller may get, without headers of a single request. */
interface StoredResponse extends HttpResponse {
  readonly body: string | Buffer;
  readonly operationName: string | null | undefined;
}

/**
 * Says that a file is the same for every caller who may read it.
 *
 * @param response - with its ETag
 * @param seconds - how long it may be stored
 */
export function shareFile(request: Request, response: Response, content: Buffer, seconds: number): Response {
  getExchange(request).shareable = { seconds, operationName: undefined, dependsOnHost: false, content };
  return response;
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
  readonly config: Pick<Config, 'CACHE_RECORDS_SECONDS' | 'proofNeeded'>;
  /** Bytes of all stored responses together; 0 stores none. */
  readonly maxBytes: number;
}

export interface ResponseCache {
  /** Decides which GraphQL responses may be stored. */
  readonly plugin: Plugin;
  /**
   * The stored response to a request, or that to an identical one in flight; null when it has to be
   * executed. Identical requests then wait for it until `finish` or `abandon`.
   */
  find(exchange: Exchange): Promise<HttpResponse | null>;
  /**
   * Sets Cache-Control and ETag, and stores the response.
   *
   * @param response - without headers of a single request
   */
  finish(exchange: Exchange, response: HttpResponse): HttpResponse;
  /** Lets one of the requests that wait for this one, whose client has left, take its place. */
  abandon(exchange: Exchange): void;
}

/** A request whose response others wait for. */
interface Flight {
  readonly response: Promise<FlightResult>;
  readonly settle: (result: FlightResult) => void;
}

/** Null for a response that each request needs for itself. */
type FlightResult = StoredResponse | null | 'client left';

/** Seconds that a response is served from here. */
const MAX_STORED_SECONDS = 60;
/** Share of all bytes that one response may take. */
const MAX_ENTRY_SHARE = 1 / 16;
/** What an entry takes beside its key and body, about. */
const ENTRY_OVERHEAD_BYTES = 1024;

export function createResponseCache({ config, maxBytes }: ResponseCacheOptions): ResponseCache {
  const { CACHE_RECORDS_SECONDS, proofNeeded } = config;
  const lifetime = memoize2((schema: GraphQLSchema, document: DocumentNode) =>
    publicLifetime(schema, document, CACHE_RECORDS_SECONDS),
  );
  const stored =
    maxBytes === 0
      ? undefined
      : new LRUCache<string, StoredResponse>({
          maxSize: maxBytes,
          maxEntrySize: Math.floor(maxBytes * MAX_ENTRY_SHARE),
          sizeCalculation: ({ body }, key) => key.length + body.length + ENTRY_OVERHEAD_BYTES,
        });
  const flights = new Map<string, Flight>();

  /** Lets identical requests wait for the response to this one. */
  function lead(exchange: Exchange, key: string): void {
    let settle: Flight['settle'] = () => undefined;
    const response = new Promise<FlightResult>((resolve) => {
      settle = resolve;
    });
    flights.set(key, { response, settle });
    exchange.key = key;
  }

  /** Gives the result to the requests that wait for it, once. */
  function settle(exchange: Exchange, result: FlightResult): void {
    const { key } = exchange;
    if (key === undefined) return;
    exchange.key = undefined;
    const flight = flights.get(key);
    flights.delete(key);
    flight?.settle(result);
  }

  /** Lets clients store the response to a GET. */
  function allowCaching(
    headers: HttpResponse['headers'],
    body: string | Buffer,
    { seconds, dependsOnHost }: ShareableResponse,
  ): void {
    const scope = proofNeeded || dependsOnHost ? 'private' : 'public';
    headers['cache-control'] = `${scope}, max-age=${seconds}`;
    headers.etag = createEtag(body);
    addVary(headers, ['accept', REPORT_HEADER, ...(proofNeeded ? ['authorization'] : [])]);
  }

  /** Stores a response and gives it to the requests that wait for it. */
  function share(
    exchange: Exchange,
    { seconds, operationName }: ShareableResponse,
    headers: HttpResponse['headers'],
    body: string | Buffer,
  ): void {
    if (exchange.key === undefined) return;
    // node:http writes such a text together with the headers, and need not encode it.
    const bytes = typeof body === 'string' ? Buffer.from(body).toString('latin1') : body;
    const entry: StoredResponse = { status: 200, headers, body: bytes, encoding: 'latin1', operationName };
    const ttl = Math.min(seconds, MAX_STORED_SECONDS) * 1000;
    if (ttl > 0) stored?.set(exchange.key, entry, { ttl });
    settle(exchange, entry);
  }

  return {
    plugin: {
      onExecute({ args, context: { request } }) {
        const { schema, document, variableValues } = args;
        const exchange = getExchange(request);
        const seconds = exchange.record.isReported ? null : lifetime(schema, document)(variableValues ?? {});
        if (seconds === null) {
          settle(exchange, null);
          return undefined;
        }
        return {
          onExecuteDone({ result, args: { contextValue } }) {
            // The context that useExecution has opened.
            const { upstream, dependsOnHost = false }: object & Partial<GatewayContext> = contextValue;
            const whole =
              Symbol.asyncIterator in result ? null : storableSeconds(result, seconds, upstream?.absences);
            if (whole === null) return settle(exchange, null);
            const name = exchange.record.operation?.name ?? null;
            exchange.shareable = { seconds: whole, operationName: name, dependsOnHost };
          },
        };
      },
    },
    async find(exchange) {
      const key = cacheKey(exchange);
      if (key === undefined) return null;
      let response: FlightResult | undefined = stored?.get(key);
      while (response === undefined || response === 'client left') {
        // A request that has ended would never let the others go on.
        if (exchange.connection?.closed === true) return null;
        const flight = flights.get(key);
        if (flight === undefined) {
          lead(exchange, key);
          return null;
        }
        response = await flight.response;
      }
      if (response === null) return null;
      const { record, caller } = exchange;
      if (!(caller instanceof GraphQLError)) record.principal = caller.principal;
      const { operationName: name } = response;
      if (name !== undefined) record.operation = { type: 'query', name };
      return response;
    },
    finish(exchange, response) {
      const { headers, status } = response;
      // A file that the client has is stored with the headers of its 304.
      const shareable = status === 200 || status === 304 ? exchange.shareable : undefined;
      const body = shareable?.content ?? (response.body instanceof ReadableStream ? null : response.body);
      if (headers['cache-control'] === undefined) {
        if (shareable !== undefined && body !== null && exchange.method !== 'POST')
          allowCaching(headers, body, shareable);
        else headers['cache-control'] = 'private, no-store';
      }
      if (shareable !== undefined && body !== null) share(exchange, shareable, headers, body);
      settle(exchange, null);
      return response;
    },
    abandon: (exchange) => settle(exchange, 'client left'),
  };
}
