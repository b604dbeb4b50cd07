// Reads GraphQL requests in place of Yoga: which methods, which content types, from whose pages, how large, and what is in them. It
// knows no schema.
import type { Plugin } from 'graphql-yoga';
import { isForgery } from '../protocol/cross-site.ts';
import { chooseForWhole } from '../protocol/media-type.ts';
import { checkContentType, type OperationParams, readBody, readSearch } from '../protocol/read-params.ts';
import { refusal } from '../protocol/refusal.ts';

/** What Yoga is given: `query` is there, or says itself that it is missing. */
export interface ReadRequest {
  /** Bytes of a body at most. */
  readonly maxBytes: number;
  /** Finds the document of a request that names it by an id, or by its text. @throws GraphQLError when there is none */
  documentOf(params: OperationParams): string;
}

const tooLarge = (maxBytes: number) =>
  refusal(413, `The body is larger than ${maxBytes} bytes (MAX_BODY_BYTES); send less at once.`);

/** The whole body. @throws GraphQLError (413) as soon as it is known to be too large */
async function bytesOf(request: Request, maxBytes: number): Promise<Uint8Array> {
  const announced = request.headers.get('content-length');
  if (announced !== null && !/^\d+$/.test(announced))
    throw refusal(400, 'The header content-length is no number.');
  if (announced !== null && Number(announced) > maxBytes) throw tooLarge(maxBytes);
  if (request.body === null) return new Uint8Array();
  const chunks: Uint8Array[] = [];
  let length = 0;
  const reader = request.body.getReader();
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    length += next.value.byteLength;
    if (length > maxBytes) {
      void reader.cancel().catch(() => undefined);
      throw tooLarge(maxBytes);
    }
    chunks.push(next.value);
  }
  return chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks, length);
}

/** Refuses what must not even be read. @throws GraphQLError (403, 405, 406, 415) */
function checkRequest({ method, headers }: Request): void {
  if (method !== 'GET' && method !== 'POST')
    throw refusal(405, 'GraphQL is asked by GET or POST.', { headers: { allow: 'GET, POST, OPTIONS' } });
  if (method === 'GET' && isForgery(headers))
    throw refusal(
      403,
      'This looks like a page of another site that asks in your name: links, forms and images of other sites are not answered. Scripts of pages that CORS_ORIGINS lists are.',
      { code: 'FORBIDDEN' },
    );
  const accept = headers.get('accept');
  if (chooseForWhole(accept) === null)
    throw refusal(
      406,
      'Accept application/json, application/graphql-response+json, text/event-stream or multipart/mixed; nothing else is answered.',
    );
  if (method === 'POST') checkContentType(headers.get('content-type'), headers.get('content-encoding'));
}

export const useRequestReading = ({ maxBytes, documentOf }: ReadRequest): Plugin => ({
  onRequestParse({ request, url, setRequestParser }) {
    checkRequest(request);
    setRequestParser(async () => {
      const params =
        request.method === 'GET' ? readSearch(url.search) : readBody(await bytesOf(request, maxBytes));
      const { variables, extensions, operationName } = params;
      return {
        query: documentOf(params),
        ...(variables === undefined ? {} : { variables }),
        ...(extensions === undefined ? {} : { extensions }),
        ...(operationName === undefined ? {} : { operationName }),
      };
    });
  },
});
