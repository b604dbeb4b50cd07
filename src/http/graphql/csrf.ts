// Whether a GET was made by a page of another site. Pure.

import { isListed } from '../cors.ts';

/** The headers that tell. */
export type HeaderReader = Pick<Headers, 'get'>;

/**
 * Whether a GET comes from a page of another site that may not read the response: a link, a form,
 * an image, or a script of a page that CORS_ORIGINS does not list. A browser sends such a script's
 * request before it withholds the response, so the gateway would do the work. Clients other than
 * browsers send no `sec-fetch-site`. POSTs need no such check: only JSON is read, which browsers
 * send to other sites after a preflight.
 *
 * @param origins - as CORS_ORIGINS lists them
 */
export const isCrossSiteRequest = (headers: HeaderReader, origins: readonly string[]): boolean =>
  headers.get('sec-fetch-site') === 'cross-site' &&
  (headers.get('sec-fetch-mode') !== 'cors' || !isListed(headers.get('origin'), origins));
