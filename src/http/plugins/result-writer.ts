// Writes results in the media type that the client prefers, in place of Yoga's processors: these ignore
// weights of Accept, and write each result as one string.
import { GraphQLError } from 'graphql';
import type { FetchAPI, Plugin } from 'graphql-yoga';
import type { Config } from '../../config.ts';
import { nodeResponseOf } from '../auth/node-request.ts';
import { httpError } from '../errors.ts';
import { type ResultPart, toClientResult, toResponseInit } from '../graphql/http-result.ts';
import {
  chooseFraming,
  isJson,
  type MediaType,
  negotiateEventStreamType,
  negotiateIncrementalType,
  negotiateResponseType,
} from '../graphql/media-type.ts';
import { frameParts, limitBytes, toBodyStream, toJsonPieces } from '../graphql/result-stream.ts';
import { rememberBody } from '../response-cache.ts';

/** Larger responses are written while they are serialized, and never stored. */
const MAX_BUFFERED_CHARACTERS = 2_000_000;

/** @param pulseMs - milliseconds between two signs of life in a silent event stream */
export function useResultWriter({ MAX_ANSWER_BYTES: maxBytes }: Config, pulseMs: number): Plugin {
  const subscriptions = new WeakSet<Request>();
  const toLimitedPieces = (result: ResultPart, before?: string, after?: string): Generator<string> =>
    limitBytes(toJsonPieces(toClientResult(result), before, after), maxBytes, () => tooLarge(maxBytes));

  function chooseMediaType(request: Request, isStream: boolean): MediaType {
    const accept = request.headers.get('accept');
    // A client that accepts nothing gets its error as JSON.
    if (!isStream) return negotiateResponseType(accept) ?? 'application/json';
    const negotiate = subscriptions.has(request) ? negotiateEventStreamType : negotiateIncrementalType;
    return negotiate(accept) ?? 'text/event-stream';
  }

  return {
    onSubscribe({ context: { request }, setResultAndStopExecution }) {
      if (negotiateEventStreamType(request.headers.get('accept')) !== null) subscriptions.add(request);
      else
        setResultAndStopExecution({
          errors: [
            httpError(406, 'A subscription is a stream: accept text/event-stream or multipart/mixed.'),
          ],
        });
    },
    onResultProcess({ request, result: given, serverContext, setResultProcessor }) {
      const mediaType = chooseMediaType(request, Symbol.asyncIterator in given);
      const connection = nodeResponseOf(serverContext);

      /** @param first - decides the status */
      function respondInParts({ Response }: FetchAPI, parts: AsyncIterable<ResultPart>, first: ResultPart) {
        const framing = chooseFraming(mediaType, subscriptions.has(request));
        const toPieces = (part: ResultPart) => toLimitedPieces(part, framing.head, framing.tail);
        const { status, headers } = toResponseInit(first, mediaType);
        return new Response(toBodyStream(frameParts(parts, { framing, toPieces, pulseMs }), connection), {
          status,
          headers: { ...headers, ...framing.headers },
        });
      }

      function respondWhole({ Response }: FetchAPI, result: ResultPart) {
        const { status, headers } = toResponseInit(result, mediaType);
        const init = { status, headers: { ...headers, 'content-type': `${mediaType}; charset=utf-8` } };
        const pieces = toLimitedPieces(result);
        const buffered: string[] = [];
        let length = 0;
        for (let next = pieces.next(); next.done !== true; next = pieces.next()) {
          buffered.push(next.value);
          length += next.value.length;
          if (length > MAX_BUFFERED_CHARACTERS)
            return new Response(toBodyStream(chain(buffered, pieces), connection), init);
        }
        const [only = '', ...more] = buffered;
        const body = more.length === 0 ? only : Buffer.concat(buffered.map((piece) => Buffer.from(piece)));
        return rememberBody(new Response(body, init), body);
      }

      setResultProcessor((result, fetchAPI) => {
        if (Array.isArray(result)) throw new Error('Batches are refused before they are executed.');
        if (Symbol.asyncIterator in result) return respondInParts(fetchAPI, result, { data: {} });
        if (!isJson(mediaType)) return respondInParts(fetchAPI, chain([result]), result);
        try {
          return respondWhole(fetchAPI, result);
        } catch (error) {
          if (!(error instanceof GraphQLError)) throw error;
          return respondWhole(fetchAPI, { data: null, errors: [error] });
        }
      }, mediaType);
    },
  };
}

async function* chain<T>(...sources: readonly Iterable<T>[]): AsyncGenerator<T> {
  for (const source of sources) yield* source;
}

const tooLarge = (maxBytes: number): GraphQLError =>
  new GraphQLError(
    `The response has more than ${maxBytes} bytes (MAX_ANSWER_BYTES). Select fewer fields or shorter lists, ` +
      'or page through them.',
    { extensions: { code: 'QUERY_TOO_EXPENSIVE', retryable: false } },
  );
