// A failure that ended a request, as an HTTP response: JSON at /graphql, a sentence elsewhere.
import type { GraphQLError } from 'graphql';
import type { Exchange, HttpResponse } from '../exchange.ts';
import { readHttp, toErrorStatus } from '../failures/errors.ts';
import { toClientError } from './http-result.ts';
import { isJson, negotiateResponseType } from './media-type.ts';

/** @param error - as the client may see it */
export function toErrorResponse({ path, headers: asked }: Exchange, error: GraphQLError): HttpResponse {
  const { extensions, message } = error;
  const { retryAfterSeconds } = extensions;
  const isGraphql = path === '/graphql';
  const accepted = isGraphql ? negotiateResponseType(asked.accept ?? null) : null;
  const mediaType = isJson(accepted) ? accepted : isGraphql ? 'application/json' : 'text/plain';
  const status = toErrorStatus(error);
  return {
    status,
    headers: {
      'cache-control': 'no-store',
      'content-type': `${mediaType}; charset=utf-8`,
      ...(isGraphql ? { vary: 'accept' } : {}),
      ...(typeof retryAfterSeconds === 'number' ? { 'retry-after': String(retryAfterSeconds) } : {}),
      ...(status === 401 ? { 'www-authenticate': 'Bearer' } : {}),
      ...readHttp(extensions).headers,
    },
    body: isGraphql ? JSON.stringify({ errors: [toClientError(error)] }) : `${message}\n`,
  };
}
