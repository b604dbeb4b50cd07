// Reads GraphQL requests in place of Yoga's parsers: bodies were read within the limits already, and only
// JSON may run, because browsers send every other content type to foreign sites without asking.
import type { IncomingMessage } from 'node:http';
import { GraphQLError } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { readAtMost } from '../../async/read-at-most.ts';
import type { Config } from '../../config.ts';
import type { Authenticator } from '../auth/authenticate.ts';
import { nodeRequestOf } from '../auth/node-request.ts';
import { bodyTooLarge, httpError } from '../errors.ts';
import { negotiateResponseType } from '../graphql/media-type.ts';
import { parseBody, parseSearch } from '../graphql/request-params.ts';
import { limitCheck, maxBodyBytes } from '../limits/request-limits.ts';
import { isListed } from './response-headers.ts';

export const useRequestReader = (config: Config, callers: Pick<Authenticator, 'identify'>): Plugin => ({
  onRequestParse({ request, url, serverContext, setRequestParser }) {
    checkRequest(request, config.CORS_ORIGINS);
    setRequestParser(async () =>
      request.method === 'GET'
        ? parseSearch(url.search)
        : parseBody(await readBytes(request, nodeRequestOf(serverContext), callers, config)),
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
  (headers.get('sec-fetch-mode') !== 'cors' || !isListed(headers.get('origin'), corsOrigins));

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

/**
 * The whole body. The limits have read it for a request that came over a connection.
 *
 * @throws GraphQLError (413) when it is too large for this caller
 */
export async function readBytes(
  request: Request,
  incoming: IncomingMessage | undefined,
  callers: Pick<Authenticator, 'identify'>,
  config: Config,
): Promise<Uint8Array> {
  const read = limitCheck(incoming)?.body;
  if (read instanceof GraphQLError) throw read;
  if (incoming !== undefined) return read ?? new Uint8Array();
  const maxBytes = maxBodyBytes(await callers.identify(request), config);
  if (Number(request.headers.get('content-length') ?? 0) > maxBytes) throw bodyTooLarge(maxBytes);
  return readAtMost(request.body, maxBytes, () => bodyTooLarge(maxBytes));
}
