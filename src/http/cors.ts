// CORS: which other origins may read responses, by exact name, never with cookies.

/** Headers that pages may read besides those that browsers always show. */
const EXPOSED = 'content-disposition, etag, retry-after, traceparent, x-request-id, x-sandbox';
/** Seconds that browsers may cache a preflight; Chromium's maximum. */
const REMEMBERED = 7200;

/**
 * The value of `access-control-allow-origin`, or null. `null`, the origin of files and sandboxed
 * frames, never matches.
 */
function openTo(origin: string | null, origins: readonly string[]): string | null {
  if (origin === null || origin === 'null') return null;
  if (origins.includes('*')) return '*';
  return origins.includes(origin) ? origin : null;
}

/** Whether pages of an origin may read answers. */
export const isListed = (origin: string | null, origins: readonly string[]): boolean =>
  openTo(origin, origins) !== null;

/** Whether a request only asks what a page may ask. */
export const isPreflight = ({ method, headers }: Request): boolean =>
  method === 'OPTIONS' && headers.has('origin') && headers.has('access-control-request-method');

/**
 * The CORS headers of any response.
 *
 * @param asking - the request's Origin.
 * @param origins - exact origins, or `*`
 */
export function corsHeaders(asking: string | null, origins: readonly string[]): Record<string, string> {
  const origin = openTo(asking, origins);
  return origin === null
    ? {}
    : { 'access-control-allow-origin': origin, 'access-control-expose-headers': EXPOSED };
}

/** The further headers of the answer to a preflight; none for a page that is not listed. */
export function preflightHeaders(request: Request, origins: readonly string[]): Record<string, string> {
  if (openTo(request.headers.get('origin'), origins) === null) return {};
  const asked = request.headers.get('access-control-request-headers');
  return {
    'access-control-allow-methods': 'GET, HEAD, POST',
    ...(asked === null ? {} : { 'access-control-allow-headers': asked }),
    'access-control-max-age': String(REMEMBERED),
  };
}
