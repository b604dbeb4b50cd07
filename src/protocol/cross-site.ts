// Whether a request may have been made by a page of somebody else behind its user's back. Pure.

/** The headers that tell. */
export type HeadersOf = Pick<Headers, 'get'>;

/**
 * Whether a GET comes from a foreign page in a way that no script of that page made and no CORS rule governs: a link, a form, an image.
 * Scripts (`cors`) may ask, as they can read the answer only where CORS_ORIGINS lists their page; clients that are no
 * browsers send neither header. POSTs need no such check: only JSON is read, which browsers send to foreign sites after asking.
 */
export const isForgery = (headers: HeadersOf): boolean =>
  headers.get('sec-fetch-site') === 'cross-site' && headers.get('sec-fetch-mode') !== 'cors';
