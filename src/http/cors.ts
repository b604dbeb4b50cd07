// Which pages of other origins may read answers: those that are listed, by name, and never with cookies. Pure.

/** Headers that pages may read besides those that browsers always show. */
const EXPOSED = 'content-disposition, etag, retry-after, traceparent, x-request-id, x-sandbox';
/** Seconds that browsers may remember what a preflight said; two hours are the most that Chromium takes. */
const REMEMBERED = 7200;

/** The origin that an answer is opened to; null for none. `null`, the origin of files and sandboxed frames, is never listed. */
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

/** The headers of any answer. @param asking - the origin of the page that asks. @param origins - exact origins, or `*` for all */
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
