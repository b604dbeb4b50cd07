// The key of a request in the response cache: everything that can change its answer. A request with
// a header that is not listed here has none, and is never answered from the cache.
import type { IncomingMessage } from 'node:http';

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

const PATH = '/graphql';

/** The key of a request; undefined where it must not be answered from the cache. */
export function cacheKey(
  { method, url = '', headers }: IncomingMessage,
  body: Buffer | undefined,
): string | undefined {
  if (url !== PATH && !url.startsWith(`${PATH}?`)) return undefined;
  if ((method !== 'POST' || body === undefined) && method !== 'GET') return undefined;
  if (body !== undefined && body.length > MAX_BODY_BYTES) return undefined;
  for (const name in headers) if (!KNOWN.has(name) && !FAMILIES.test(name)) return undefined;
  const { host, accept = '' } = headers;
  const { 'content-type': type = '', 'content-encoding': encoding = '' } = headers;
  const { 'sec-fetch-site': site = '', 'sec-fetch-mode': mode = '' } = headers;
  const page = site === 'cross-site' ? headers.origin : '';
  const key = `${method} ${url}\n${host}\n${accept}\n${type}\n${encoding}\n${site}\n${mode}\n${page}`;
  // One character for each byte: another body is another key, whatever it is.
  return body === undefined ? key : `${key}\n${body.toString('latin1')}`;
}
