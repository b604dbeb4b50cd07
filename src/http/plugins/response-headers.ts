// Headers of every response: the request id, `x-sandbox`, browser security (nosniff, no framing, no
// referrer, Content-Security-Policy), and CORS: which other origins may read responses, never with cookies.
import { isLoopback } from '../auth/loopback.ts';

/** For all but pages and images: readable by pages of our own origin and of CORS_ORIGINS. */
const DATA_HEADERS = Object.entries({
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'DENY',
  'cross-origin-resource-policy': 'same-origin',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
});

/** Turns `public` into `private`. */
function keepPrivate(headers: Headers): void {
  const allowed = headers.get('cache-control');
  if (allowed === null || !/\bpublic\b/i.test(allowed)) return;
  headers.set('cache-control', allowed.replace(/\bpublic\b/i, 'private'));
  addVary(headers, ['authorization']);
}

/**
 * Sets the headers of every response. Pages bring a policy of their own.
 *
 * @param isSandbox - whether the upstream is a sandbox
 * @param proofNeeded - whether callers must send credentials: shared caches must not give their
 *   responses to others
 */
export function setCommonHeaders(
  requestId: string,
  headers: Headers,
  isSandbox: boolean,
  proofNeeded: boolean,
): void {
  headers.set('x-request-id', requestId);
  if (isSandbox) headers.set('x-sandbox', '1');
  if (proofNeeded) keepPrivate(headers);
  // Pages of any site may show images.
  if (headers.get('content-type')?.startsWith('image/') && !headers.has('cross-origin-resource-policy'))
    headers.set('cross-origin-resource-policy', 'cross-origin');
  for (const [name, value] of DATA_HEADERS) if (!headers.has(name)) headers.set(name, value);
}

/** @param names - headers on which the answer depends, lower case */
export function addVary(headers: Headers, names: readonly string[]): void {
  const all = new Set((headers.get('vary') ?? '').split(',').map((name) => name.trim().toLowerCase()));
  for (const name of names) all.add(name);
  all.delete('');
  headers.set('vary', [...all].join(', '));
}

/** Headers that pages may read besides those that browsers always show. */
const EXPOSED =
  'content-disposition, content-range, etag, ratelimit-limit, ratelimit-remaining, ratelimit-reset, ' +
  'retry-after, traceresponse, x-request-id, x-sandbox';
/** Seconds that browsers may cache a preflight; Chromium's maximum. */
const REMEMBERED = 7200;

/**
 * The value of `access-control-allow-origin`, or null. `null`, the origin of files and sandboxed
 * frames, never matches.
 */
function openTo(origin: string | null, origins: readonly string[]): string | null {
  if (origin === null || origin === 'null') return null;
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
export const isListed = (origin: string | null, origins: readonly string[]): boolean =>
  openTo(origin, origins) !== null;

/** Whether a request only asks what a page may ask. */
const isPreflight = ({ method, headers }: Request): boolean =>
  method === 'OPTIONS' && headers.has('origin') && headers.has('access-control-request-method');

/**
 * The CORS headers of any response.
 *
 * @param asking - the request's Origin.
 * @param origins - as CORS_ORIGINS lists them
 */
export function corsHeaders(asking: string | null, origins: readonly string[]): Record<string, string> {
  const origin = openTo(asking, origins);
  return origin === null
    ? {}
    : { 'access-control-allow-origin': origin, 'access-control-expose-headers': EXPOSED };
}

/** The further headers of the answer to a preflight; none for a page that is not listed. */
function preflightHeaders(request: Request, origins: readonly string[]): Record<string, string> {
  if (openTo(request.headers.get('origin'), origins) === null) return {};
  const asked = request.headers.get('access-control-request-headers');
  return {
    'access-control-allow-methods': 'GET, HEAD, POST',
    ...(asked === null ? {} : { 'access-control-allow-headers': asked }),
    'access-control-max-age': String(REMEMBERED),
  };
}

/** The answer to OPTIONS, whose CORS headers are still to be added. */
export const answerOptions = (request: Request, origins: readonly string[]): Response =>
  new Response(null, {
    status: 204,
    headers: {
      ...(isPreflight(request) ? preflightHeaders(request, origins) : { allow: 'GET, HEAD, POST, OPTIONS' }),
      'content-length': '0',
    },
  });

/** Adds the CORS headers of a response. @param origins - as CORS_ORIGINS lists them */
export function addCors(request: Request, headers: Headers, origins: readonly string[]): void {
  for (const [name, value] of Object.entries(corsHeaders(request.headers.get('origin'), origins)))
    headers.set(name, value);
  if (request.method === 'OPTIONS') addVary(headers, ['access-control-request-headers']);
  if (origins.length > 0) addVary(headers, ['origin']);
}
