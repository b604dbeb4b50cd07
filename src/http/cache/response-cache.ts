// The response cache: a layer that answers a stored response with its bytes, and lets identical
// requests at the same time share one execution, which goes on until the last of them has left. It
// stores the responses of public operations and public files. A request with a header that is not
// listed here is never answered from the cache.
import { GraphQLError } from 'graphql';
import { LRUCache } from 'lru-cache';
import { createSingleFlight } from '../../async/single-flight.ts';
import type { Config } from '../../config.ts';
import { createEtag } from '../../etag.ts';
import { REPORT_HEADER } from '../../telemetry/request-record.ts';
import {
  type Answer,
  type Exchange,
  type HttpResponse,
  isWhole,
  type Layer,
  runPart,
  type Sharing,
} from '../exchange.ts';
import { addVary } from '../server/response-headers.ts';

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
function cacheKey({ method, url, headers, caller, body }: Exchange): string | undefined {
  if (!PATHS.test(url)) return undefined;
  if (method !== 'GET' && (method !== 'POST' || body === undefined)) return undefined;
  // GraphQL answers a caller whose credentials are missing or wrong, and a body that is too large.
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
  readonly body: string | Uint8Array;
  readonly sharing: Sharing;
}

export interface ResponseCacheOptions {
  readonly config: Pick<Config, 'CACHE_RECORDS_SECONDS' | 'proofNeeded'>;
  /** Bytes of all stored responses together; 0 stores none. */
  readonly maxBytes: number;
}

export interface ResponseCache {
  readonly layer: Layer;
  /** The estimated memory of the stored responses. */
  bytes(): number;
}

/** The outcome of an execution that several requests share. */
interface Shared {
  readonly stored: StoredResponse | undefined;
}

/** Seconds that a response is served from here. */
const MAX_STORED_SECONDS = 60;
/** Share of all bytes that one response may take. */
const MAX_ENTRY_SHARE = 1 / 16;
/** The approximate size of an entry without its key and body. */
const ENTRY_OVERHEAD_BYTES = 1024;

/** The stored form of a response; undefined for one that is for its own request alone. */
function toStored({ status, headers, body: own, sharing }: HttpResponse): StoredResponse | undefined {
  // A file that the client has is stored with the headers of its 304.
  if (sharing === undefined || (status !== 200 && status !== 304)) return undefined;
  const body = sharing.content ?? own;
  if (body === null || !isWhole(body)) return undefined;
  // node:http writes such a text together with the headers, and need not encode it.
  const bytes = typeof body === 'string' ? Buffer.from(body).toString('latin1') : body;
  return { status: 200, headers, body: bytes, encoding: 'latin1', sharing };
}

/** A stored response for one more request. */
function giveStored({ record, caller }: Exchange, stored: StoredResponse): HttpResponse {
  if (!(caller instanceof GraphQLError)) record.principal = caller.principal;
  const { operationName: name } = stored.sharing;
  if (name !== undefined) record.operation = { type: 'query', name };
  return stored;
}

export function createResponseCache({
  config: { proofNeeded },
  maxBytes,
}: ResponseCacheOptions): ResponseCache {
  const responses =
    maxBytes === 0
      ? undefined
      : new LRUCache<string, StoredResponse>({
          maxSize: maxBytes,
          maxEntrySize: Math.floor(maxBytes * MAX_ENTRY_SHARE),
          sizeCalculation: ({ body }, key) => key.length + body.length + ENTRY_OVERHEAD_BYTES,
        });
  const shareFlight = createSingleFlight();

  /** Lets clients store the response to a GET. */
  function allowCaching({ method }: Exchange, { headers, body, sharing }: HttpResponse): void {
    if (sharing === undefined || headers['cache-control'] !== undefined || method === 'POST') return;
    const content = sharing.content ?? body;
    if (content === null || !isWhole(content)) return;
    const scope = proofNeeded || sharing.dependsOnHost ? 'private' : 'public';
    headers['cache-control'] = `${scope}, max-age=${sharing.seconds}`;
    headers.etag = createEtag(content);
    addVary(headers, ['accept', REPORT_HEADER, ...(proofNeeded ? ['authorization'] : [])]);
  }

  async function runOnce(key: string, exchange: Exchange, run: Answer): Promise<HttpResponse> {
    let own: Promise<HttpResponse> | undefined;
    const { stored } = await shareFlight(key, exchange.signal, async ({ signal }): Promise<Shared> => {
      own = runPart({ ...exchange, signal }, run);
      const response = await own.catch(() => undefined);
      if (response === undefined) return { stored: undefined };
      allowCaching(exchange, response);
      const made = toStored(response);
      const ttl = made === undefined ? 0 : Math.min(made.sharing.seconds, MAX_STORED_SECONDS) * 1000;
      if (ttl > 0) responses?.set(key, made, { ttl });
      return { stored: made };
    });
    // A failure, and what is for one request alone, is nothing for the others: each runs by itself.
    if (own !== undefined) return own;
    return stored === undefined ? run(exchange) : giveStored(exchange, stored);
  }

  const layer: Layer = async (exchange, next) => {
    const key = cacheKey(exchange);
    const stored = key === undefined ? undefined : responses?.get(key);
    if (stored !== undefined) return giveStored(exchange, stored);
    const response = await next(
      key === undefined ? exchange : { ...exchange, share: (run) => runOnce(key, exchange, run) },
    );
    allowCaching(exchange, response);
    return response;
  };
  return { layer, bytes: () => responses?.calculatedSize ?? 0 };
}
