// Parses GraphQL requests in place of Yoga: checks method, content type, origin and size.
import type { IncomingMessage } from 'node:http';
import { GraphQLError } from 'graphql';
import type { GraphQLParams, Plugin } from 'graphql-yoga';
import { bodyTooLarge } from '../auth/auth-errors.ts';
import { nodeRequestOf } from '../auth/node-request.ts';
import { checkRequest } from '../graphql/check-request.ts';
import { httpError } from '../graphql/http-error.ts';
import { type OperationParams, readBody, readSearch } from '../graphql/read-params.ts';
import { limitedRequestOf } from '../limits/request-limits.ts';

/** What Yoga is given: `query` is there, or says itself that it is missing. */
export interface RequestParserOptions {
  /** Bytes of a body at most. */
  readonly maxBytes: number;
  /** Pages of other sites that may ask, as CORS_ORIGINS lists them. */
  readonly origins: readonly string[];
  /**
   * Finds the document of a request that names it by an id, or by its text.
   *
   * @throws GraphQLError when there is none
   */
  documentOf(params: OperationParams): string;
}

/**
 * The whole body: of a request that came over a connection the one that was read within the limits,
 * and no other.
 *
 * @throws GraphQLError (413) as soon as it is known to be too large
 */
async function bytesOf(
  request: Request,
  incoming: IncomingMessage | undefined,
  maxBytes: number,
): Promise<Uint8Array> {
  const read = limitedRequestOf(incoming)?.body;
  if (read instanceof GraphQLError) throw read;
  if (incoming !== undefined) return read ?? new Uint8Array();
  const announced = request.headers.get('content-length');
  if (announced !== null && !/^\d+$/.test(announced))
    throw httpError(400, 'The header content-length is no number.');
  if (announced !== null && Number(announced) > maxBytes) throw bodyTooLarge(maxBytes);
  if (request.body === null) return new Uint8Array();
  const chunks: Uint8Array[] = [];
  let length = 0;
  const reader = request.body.getReader();
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    length += next.value.byteLength;
    if (length > maxBytes) {
      void reader.cancel().catch(() => undefined);
      throw bodyTooLarge(maxBytes);
    }
    chunks.push(next.value);
  }
  return chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks, length);
}

/** What Yoga is given. */
const paramsOf = (
  { variables, extensions, operationName }: OperationParams,
  query: string,
): GraphQLParams => ({
  query,
  ...(variables === undefined ? {} : { variables }),
  ...(extensions === undefined ? {} : { extensions }),
  ...(operationName === undefined ? {} : { operationName }),
});

export const useRequestParser = ({ maxBytes, origins, documentOf }: RequestParserOptions): Plugin => ({
  onRequestParse({ request, url, serverContext, setRequestParser }) {
    checkRequest(request.method, request.headers, origins);
    setRequestParser(async () => {
      const params =
        request.method === 'GET'
          ? readSearch(url.search)
          : readBody(await bytesOf(request, nodeRequestOf(serverContext), maxBytes));
      return paramsOf(params, documentOf(params));
    });
  },
});
