// The key of a request in the response cache: everything that can change its answer. A request with
// a header that is not listed here has none, and is never answered from the cache.
import type { IncomingMessage } from 'node:http';

/**
 * Headers that are part of the key. `origin` decides only for pages of other sites; what CORS adds
 * is not cached.
 */
const IN_KEY = [
  'host',
  'accept',
  'content-type',
  'content-encoding',
  'origin',
  'sec-fetch-site',
  'sec-fetch-mode',
];

/**
 * Headers that change no public answer: of browsers, of proxies, of tracing, and those that are
 * answered anew each time.
 */
const WITHOUT_EFFECT = [
  'accept-encoding',
  'accept-language',
  'apollo-require-preflight',
  'apollographql-client-name',
  'apollographql-client-version',
  'authorization',
  'baggage',
  'cache-control',
  'cdn-loop',
  'cf-connecting-ip',
  'cf-ipcountry',
  'cf-ray',
  'cf-visitor',
  'connection',
  'content-length',
  'cookie',
  'dnt',
  'forwarded',
  'graphql-client-name',
  'graphql-client-version',
  'if-none-match',
  'keep-alive',
  'pragma',
  'priority',
  'referer',
  'sec-ch-ua',
  'sec-ch-ua-mobile',
  'sec-ch-ua-platform',
  'sec-fetch-dest',
  'sec-fetch-user',
  'sec-gpc',
  'te',
  'traceparent',
  'tracestate',
  'transfer-encoding',
  'upgrade-insecure-requests',
  'user-agent',
  'via',
  'x-amzn-trace-id',
  'x-apollo-operation-id',
  'x-apollo-operation-name',
  'x-cloud-trace-context',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-port',
  'x-forwarded-proto',
  'x-real-ip',
  'x-request-id',
];

const KNOWN: ReadonlySet<string> = new Set([...IN_KEY, ...WITHOUT_EFFECT]);

/**
 * Bytes of a body that is part of a key at most, such as a query for 5,000 proteins by their
 * hashes.
 */
const MAX_BODY_BYTES = 262_144;

const PATH = '/graphql';

/** The key of a request; undefined where it must not be answered from the cache. */
export function cacheKey(
  { method, url = '', headers }: IncomingMessage,
  body: Buffer | undefined,
): string | undefined {
  if (url !== PATH && !url.startsWith(`${PATH}?`)) return undefined;
  if ((method !== 'POST' || body === undefined) && method !== 'GET') return undefined;
  if (body !== undefined && body.length > MAX_BODY_BYTES) return undefined;
  for (const name in headers) if (!KNOWN.has(name)) return undefined;
  const { host, accept = '' } = headers;
  const { 'content-type': type = '', 'content-encoding': encoding = '' } = headers;
  const { 'sec-fetch-site': site = '', 'sec-fetch-mode': mode = '' } = headers;
  const page = site === 'cross-site' ? headers.origin : '';
  const key = `${method} ${url}\n${host}\n${accept}\n${type}\n${encoding}\n${site}\n${mode}\n${page}`;
  // One character for each byte: another body is another key, whatever it is.
  return body === undefined ? key : `${key}\n${body.toString('latin1')}`;
}
