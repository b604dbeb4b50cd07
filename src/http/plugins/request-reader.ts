// Reads GraphQL requests in place of Yoga's parsers: bodies were read within the limits already,
// and only JSON may run, because browsers send every other content type to foreign sites without
// asking.
import type { Plugin } from 'graphql-yoga';
import type { Config } from '../../config.ts';
import { httpError } from '../errors.ts';
import { readBody } from '../exchange.ts';
import { negotiateResponseType } from '../graphql/media-type.ts';
import { parseBody, parseSearch } from '../graphql/request-params.ts';
import { isListed } from '../response-headers.ts';

export const useRequestReader = ({ CORS_ORIGINS }: Pick<Config, 'CORS_ORIGINS'>): Plugin => ({
  onRequestParse({ request, url, setRequestParser }) {
    checkRequest(request, CORS_ORIGINS);
    setRequestParser(() =>
      request.method === 'GET' ? parseSearch(url.search) : parseBody(readBody(request)),
    );
  },
});

/** Refuses what must not even be read. @throws GraphQLError (403, 405, 406, 415) */
function checkRequest({ method, headers }: Request, corsOrigins: readonly string[]): void {
  if (method !== 'GET' && method !== 'POST')
    throw httpError(405, 'Send GraphQL requests by GET or POST.', {
      headers: { allow: 'GET, HEAD, POST, OPTIONS' },
    });
  if (method === 'GET' && isCrossSiteRequest(headers, corsOrigins))
    throw httpError(403, 'Only pages that CORS_ORIGINS lists may send GET requests. Send a POST.', {
      code: 'FORBIDDEN',
    });
  if (negotiateResponseType(headers.get('accept')) === null)
    throw httpError(
      406,
      'Accept application/json, application/graphql-response+json, text/event-stream or multipart/mixed.',
    );
  if (method === 'POST') checkContentType(headers);
}

/**
 * Whether a GET comes from a page of another site that may not read the response: a link, a form,
 * an image, or a script of a page that CORS_ORIGINS does not list. A browser sends such a script's
 * request before it withholds the response, so the gateway would do the work. Clients other than
 * browsers send no `sec-fetch-site`. POSTs need no such check: browsers send JSON to other sites
 * only after a preflight.
 */
export const isCrossSiteRequest = (headers: Headers, corsOrigins: readonly string[]): boolean =>
  headers.get('sec-fetch-site') === 'cross-site' &&
  (headers.get('sec-fetch-mode') !== 'cors' || !isListed(headers.get('origin') ?? undefined, corsOrigins));

function checkContentType(headers: Headers): void {
  const contentType = headers.get('content-type') ?? '';
  if (!/^\s*application\/json\s*(;|$)/i.test(contentType))
    throw httpError(415, 'Send the request with content-type: application/json.', {
      headers: { 'accept-post': 'application/json' },
    });
  if (/charset=(?!"?utf-?8"?\s*(;|$))/i.test(contentType))
    throw httpError(415, 'Send the request in UTF-8; no other charset is read.');
  if (!/^(identity)?$/i.test(headers.get('content-encoding') ?? ''))
    throw httpError(415, 'Send the request without content-encoding; compressed requests are not read.');
}
