// Parses GraphQL requests in place of Yoga (method, content type, origin, size), and says which
// documents may run, over HTTP and WebSocket alike: limits, trusted documents, introspection.
import type { IncomingMessage } from 'node:http';
import { memoize1 } from '@graphql-tools/utils';
import { type DocumentNode, GraphQLError, NoSchemaIntrospectionCustomRule } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { readAtMost } from '../../async/read-at-most.ts';
import type { Config } from '../../config.ts';
import { schema } from '../../resolvers/schema.ts';
import type { Authenticator } from '../auth/authenticate.ts';
import { nodeRequestOf } from '../auth/node-request.ts';
import { bodyTooLarge, httpError } from '../errors.ts';
import { checkDocument, checkLength, checkTokens, DOCUMENT_LIMITS } from '../graphql/input-limits.ts';
import { negotiateResponseType } from '../graphql/media-type.ts';
import {
  checkContentType,
  type PersistedOperations,
  readJsonBody,
  readSearch,
} from '../graphql/read-params.ts';
import { createValidator } from '../graphql/validate-document.ts';
import { limitCheck, maxBodyBytes } from '../limits/request-limits.ts';
import { isListed } from './response-headers.ts';

/**
 * The whole body: of a request that came over a connection the one that was read within the limits,
 * and no other.
 *
 * @throws GraphQLError (413) as soon as it is known to be too large
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
  const announced = request.headers.get('content-length');
  if (announced !== null && !/^\d+$/.test(announced))
    throw httpError(400, 'The header content-length is not a number.');
  if (announced !== null && Number(announced) > maxBytes) throw bodyTooLarge(maxBytes);
  return readAtMost(request.body, maxBytes, () => bodyTooLarge(maxBytes));
}

/**
 * Refuses what must not even be read.
 *
 * @param origins - as CORS_ORIGINS lists them
 * @throws GraphQLError (403, 405, 406, 415)
 */
function checkRequest(method: string | undefined, headers: Headers, origins: readonly string[]): void {
  if (method !== 'GET' && method !== 'POST')
    throw httpError(405, 'GraphQL is asked by GET or POST.', {
      headers: { allow: 'GET, HEAD, POST, OPTIONS' },
    });
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

/**
 * Whether a GET comes from a page of another site that may not read the response: a link, a form,
 * an image, or a script of a page that CORS_ORIGINS does not list. A browser sends such a script's
 * request before it withholds the response, so the gateway would do the work. Clients other than
 * browsers send no `sec-fetch-site`. POSTs need no such check: only JSON is read, which browsers
 * send to other sites after a preflight.
 *
 * @param origins - as CORS_ORIGINS lists them
 */
export const isCrossSiteRequest = (headers: Headers, origins: readonly string[]): boolean =>
  headers.get('sec-fetch-site') === 'cross-site' &&
  (headers.get('sec-fetch-mode') !== 'cors' || !isListed(headers.get('origin'), origins));

/** Whether it asks for the schema, and not for what is for routers as well. */
const isForClients = memoize1((document: DocumentNode): boolean => {
  const text = document.loc?.source.body ?? '';
  return /\b__(schema|type)\b/.test(text) && !/\b_(service|entities)\b/.test(text);
});

export function useRequestParser(
  config: Config,
  callers: Pick<Authenticator, 'identify'>,
  operations: PersistedOperations,
): Plugin {
  const { CORS_ORIGINS, INTROSPECTION } = config;
  const validator = createValidator(!INTROSPECTION);
  return {
    onRequestParse({ request, url, serverContext, setRequestParser }) {
      checkRequest(request.method, request.headers, CORS_ORIGINS);
      setRequestParser(async () => {
        const params =
          request.method === 'GET'
            ? readSearch(url.search)
            : readJsonBody(await readBytes(request, nodeRequestOf(serverContext), callers, config));
        const { query: _query, documentId: _documentId, ...rest } = params;
        return { query: operations.documentOf(params), ...rest };
      });
    },
    onParse({ params, parseFn, setParseFn }) {
      // Before the document cache, which must not store texts that are too long.
      const text = typeof params.source === 'string' ? params.source : params.source.body;
      operations.check(text);
      checkLength(text, DOCUMENT_LIMITS);
      setParseFn((source, options) => {
        checkTokens(text, DOCUMENT_LIMITS);
        const document = parseFn(source, options);
        checkDocument(document, DOCUMENT_LIMITS);
        return document;
      });
    },
    onValidate({ addValidationRule, setValidationFn }) {
      if (!INTROSPECTION) addValidationRule(NoSchemaIntrospectionCustomRule);
      setValidationFn(validator);
    },
    // Introspection shows clients the schema without `_service`, `_entities` and their types: code
    // generators would have to know the scalar `_Any`.
    onExecute({ args }) {
      if (isForClients(args.document)) args.schema = schema;
    },
  };
}
