// Reads GraphQL requests (GraphQL over HTTP). Only JSON may run, because browsers send every other
// content type to foreign sites without asking. Unknown members are ignored, as the draft asks.
import type { IncomingHttpHeaders } from 'node:http';
import { GraphQLError } from 'graphql';
import type { GraphQLParams } from 'graphql-yoga';
import { isFields } from '../../upstream/json/is-fields.ts';
import type { Exchange } from '../exchange.ts';
import { httpError } from '../failures/errors.ts';
import { parseClientJson } from '../server/json-body.ts';
import { isListed } from '../server/response-headers.ts';
import { negotiateResponseType } from './media-type.ts';

const CROSS_SITE =
  'A page of another site may not send a GET here, by a link, a form or a script. Send a POST with ' +
  '`content-type: application/json`, from a page whose origin the operator has listed in CORS_ORIGINS.';

export interface RequestParams extends GraphQLParams {
  /** Id of a persisted document. Relay's examples call it `doc_id`. */
  documentId?: string | undefined;
}

/**
 * Reads the parameters of a GET or a POST; HEAD is a GET whose body is not sent.
 *
 * @throws GraphQLError (400, 403, 406, 413, 415)
 */
export function readRequest(
  { method, url, path, headers, body }: Pick<Exchange, 'method' | 'url' | 'path' | 'headers' | 'body'>,
  corsOrigins: readonly string[],
): RequestParams {
  const isRead = method !== 'POST';
  if (isRead && isCrossSiteRequest(headers, corsOrigins))
    throw httpError(403, CROSS_SITE, {
      code: 'FORBIDDEN',
    });
  if (negotiateResponseType(headers.accept ?? null) === null)
    throw httpError(
      406,
      'Accept application/json, application/graphql-response+json, text/event-stream or multipart/mixed.',
    );
  if (isRead) return parseSearch(url.slice(path.length));
  checkContentType(headers);
  if (body instanceof GraphQLError) throw body;
  return parseBody(body ?? new Uint8Array());
}

/**
 * Whether a GET comes from a page of another site that may not read the response: a link, a form,
 * an image, or a script of a page that CORS_ORIGINS does not list. A browser sends such a script's
 * request before it withholds the response, so the gateway would do the work. Clients other than
 * browsers send no `sec-fetch-site`. POSTs need no such check: browsers send JSON to other sites
 * only after a preflight.
 */
export const isCrossSiteRequest = (headers: IncomingHttpHeaders, corsOrigins: readonly string[]): boolean =>
  headers['sec-fetch-site'] === 'cross-site' &&
  (headers['sec-fetch-mode'] !== 'cors' || !isListed(headers.origin, corsOrigins));

function checkContentType(headers: IncomingHttpHeaders): void {
  const contentType = headers['content-type'] ?? '';
  if (!/^\s*application\/json\s*(;|$)/i.test(contentType))
    throw httpError(415, 'Send the request with content-type: application/json.', {
      headers: { 'accept-post': 'application/json' },
    });
  if (/charset=(?!"?utf-?8"?\s*(;|$))/i.test(contentType))
    throw httpError(415, 'Send the request in UTF-8; no other charset is read.');
  if (!/^(identity)?$/i.test(headers['content-encoding'] ?? ''))
    throw httpError(415, 'Send the request without content-encoding; compressed requests are not read.');
}

const typeName = (value: unknown): string => (Array.isArray(value) ? 'array' : typeof value);

/** @throws GraphQLError (400) for parameters of a wrong type */
function checkTypes({ query, ...objects }: Record<string, unknown>): void {
  if (query != null && typeof query !== 'string')
    throw httpError(400, `Expected "query" param to be a string, but given ${typeName(query)}.`);
  for (const name of ['variables', 'extensions']) {
    const { [name]: value } = objects;
    if (value != null && !isFields(value))
      throw httpError(
        400,
        `Expected "${name}" param to be empty or an object, but given ${typeName(value)}.`,
      );
  }
}

/** @throws GraphQLError (400) when the request is not an object, or a parameter has a wrong type */
export function readParams(request: unknown): RequestParams {
  if (!isFields(request))
    throw httpError(400, 'A request is one JSON object with `query`. Send each operation by itself.');
  const { query, operationName, variables, extensions, documentId, doc_id } = request;
  const id = documentId ?? doc_id;
  const params: Record<string, unknown> = { query, operationName, variables, extensions };
  for (const name in params) if (params[name] === '') params[name] = undefined;
  checkTypes(params);
  return Object.assign(params, { documentId: typeof id === 'string' ? id : undefined });
}

/** @throws GraphQLError (400) */
export const parseBody = (body: Uint8Array): RequestParams => readParams(parseClientJson(body, 'The body'));

/** @throws GraphQLError (400) */
export function parseSearch(search: string): RequestParams {
  const params: Record<string, unknown> = Object.fromEntries(new URLSearchParams(search));
  for (const name of ['variables', 'extensions']) {
    const { [name]: json } = params;
    if (typeof json === 'string' && json !== '')
      params[name] = parseClientJson(json, `The parameter \`${name}\``);
  }
  return readParams(params);
}
