// Checks a request before it is read: method, cross-site GET, Accept and Content-Type.

import { isListed } from '../cors.ts';
import { httpError } from './http-error.ts';
import { negotiateResponseType } from './media-type.ts';
import { checkContentType } from './read-params.ts';

/**
 * Refuses what must not even be read.
 *
 * @param origins - as CORS_ORIGINS lists them
 * @throws GraphQLError (403, 405, 406, 415)
 */
export function checkRequest(
  method: string | undefined,
  headers: HeaderReader,
  origins: readonly string[],
): void {
  if (method !== 'GET' && method !== 'POST')
    throw httpError(405, 'GraphQL is asked by GET or POST.', { headers: { allow: 'GET, POST, OPTIONS' } });
  if (method === 'GET' && isCrossSiteRequest(headers, origins))
    throw httpError(
      403,
      'A page of another site asks by GET: only scripts of pages that CORS_ORIGINS lists are answered. ' +
        'List the origin of the page, or ask by POST.',
      { code: 'FORBIDDEN' },
    );
  if (negotiateResponseType(headers.get('accept')) === null)
    throw httpError(
      406,
      'Accept application/json, application/graphql-response+json, text/event-stream or multipart/mixed; ' +
        'nothing else is answered.',
    );
  if (method === 'POST') checkContentType(headers.get('content-type'), headers.get('content-encoding'));
}

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
const isCrossSiteRequest = (headers: HeaderReader, origins: readonly string[]): boolean =>
  headers.get('sec-fetch-site') === 'cross-site' &&
  (headers.get('sec-fetch-mode') !== 'cors' || !isListed(headers.get('origin'), origins));
