// Headers of every response: the request id, `x-sandbox`, browser security (nosniff, no framing, no
// referrer, Content-Security-Policy), and CORS: which other origins may read responses, never with
// cookies.
import type { IncomingHttpHeaders } from 'node:http';
import { isLoopback } from '../../config/loopback.ts';

/** The methods of routes. OPTIONS is answered for each of them. */
export type Method = 'GET' | 'HEAD' | 'POST';

/** Names in lower case. */
type Headers = Record<string, string>;

/** For all but pages and images: readable by pages of our own origin and of CORS_ORIGINS. */
const DATA_HEADERS = Object.entries({
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'DENY',
  'cross-origin-resource-policy': 'same-origin',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
});

/** Turns `public` into `private`. */
function makePrivate(headers: Headers): void {
  const allowed = headers['cache-control'];
  if (allowed === undefined || !/\bpublic\b/i.test(allowed)) return;
  headers['cache-control'] = allowed.replace(/\bpublic\b/i, 'private');
  addVary(headers, ['authorization']);
}

/**
 * Sets the headers of every response. Pages bring a policy of their own.
 *
 * @param isSandbox - whether the upstream is a sandbox
 * @param proofNeeded - whether callers must send credentials: shared caches must not give their
 *   responses to others
 * @param origins - as CORS_ORIGINS lists them
 */
export function setCommonHeaders(
  headers: Headers,
  isSandbox: boolean,
  proofNeeded: boolean,
  origins: readonly string[],
): void {
  if (isSandbox) headers['x-sandbox'] = '1';
  if (origins.length > 0) addVary(headers, ['origin']);
  if (proofNeeded) makePrivate(headers);
  // Pages of any site may show images.
  if (headers['content-type']?.startsWith('image/'))
    headers['cross-origin-resource-policy'] ??= 'cross-origin';
  for (const [name, value] of DATA_HEADERS) headers[name] ??= value;
}

/** @param names - headers on which the answer depends, lower case */
export function addVary(headers: Headers, names: readonly string[]): void {
  const all = new Set((headers.vary ?? '').split(',').map((name) => name.trim().toLowerCase()));
  for (const name of names) all.add(name);
  all.delete('');
  headers.vary = [...all].join(', ');
}

/** Headers that pages may read besides those that browsers always show. */
const EXPOSED =
  'content-disposition, content-range, etag, ratelimit-limit, ratelimit-remaining, ratelimit-reset, ' +
  'retry-after, traceresponse, x-request-id, x-sandbox';
/** Seconds that browsers may cache a preflight; Chromium's maximum. */
const PREFLIGHT_SECONDS = '7200';

/**
 * The value of `access-control-allow-origin`, or null. `null`, the origin of files and sandboxed
 * frames, never matches.
 */
function allowedOrigin(origin: string | undefined, origins: readonly string[]): string | null {
  if (origin === undefined || origin === 'null') return null;
  if (origins.includes('*')) return '*';
  const isLocal =
    origins.includes('loopback') && URL.canParse(origin) && isLoopback(new URL(origin).hostname);
  return isLocal || origins.includes(origin) ? origin : null;
}

/**
 * Whether pages of an origin may read answers.
 *
 * @param origins - exact origins, `loopback` for pages of this machine, or `*`
 */
export const isListed = (origin: string | undefined, origins: readonly string[]): boolean =>
  allowedOrigin(origin, origins) !== null;

/**
 * The CORS headers of any response.
 *
 * @param asking - the request's Origin.
 * @param origins - as CORS_ORIGINS lists them
 */
export function corsHeaders(asking: string | undefined, origins: readonly string[]): Headers {
  const origin = allowedOrigin(asking, origins);
  return origin === null
    ? {}
    : { 'access-control-allow-origin': origin, 'access-control-expose-headers': EXPOSED };
}

/** `Allow` of an address. */
export const allowHeader = (methods: readonly Method[]): Headers => ({
  allow: [...methods, 'OPTIONS'].join(', '),
});

/**
 * The headers of the answer to OPTIONS, to which CORS headers are still to be added.
 *
 * @param methods - of the address
 */
export function optionsHeaders(
  { origin, ...headers }: IncomingHttpHeaders,
  origins: readonly string[],
  methods: readonly Method[],
): Headers {
  const isPreflight = origin !== undefined && headers['access-control-request-method'] !== undefined;
  const common = { 'content-length': '0', vary: 'access-control-request-headers' };
  if (!isPreflight) return { ...common, ...allowHeader(methods) };
  if (!isListed(origin, origins)) return common;
  const asked = headers['access-control-request-headers'];
  return {
    ...common,
    'access-control-allow-methods': methods.join(', '),
    ...(asked === undefined ? {} : { 'access-control-allow-headers': asked }),
    'access-control-max-age': PREFLIGHT_SECONDS,
  };
}
