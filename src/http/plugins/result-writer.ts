// Writes results in the media type that the client prefers, in place of Yoga's processors: these
// ignore weights of Accept, and write each result as one string.
import { GraphQLError } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import type { Config } from '../../config.ts';
import { httpError } from '../errors.ts';
import { getExchange, type HttpResponse } from '../exchange.ts';
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

/** Larger responses are written while they are serialized, and never stored. */
const MAX_BUFFERED_BYTES = 2_000_000;

/** @param pulseMs - milliseconds between two signs of life in a silent event stream */
export function useResultWriter({ MAX_ANSWER_BYTES: maxBytes }: Config, pulseMs: number): Plugin {
  const subscriptions = new WeakSet<Request>();
  const toLimitedPieces = (result: ResultPart, before?: string, after?: string): Generator<Buffer> =>
    limitBytes(toJsonPieces(toClientResult(result), before, after), maxBytes, () => tooLarge(maxBytes));

  function chooseMediaType(request: Request, isStream: boolean): MediaType {
    const accept = request.headers.get('accept');
    // A client that accepts nothing gets its error as JSON.
    if (!isStream) return negotiateResponseType(accept) ?? 'application/json';
    const negotiate = subscriptions.has(request) ? negotiateEventStreamType : negotiateIncrementalType;
    return negotiate(accept) ?? 'text/event-stream';
  }

  /** @param first - decides the status */
  function respondInParts(
    request: Request,
    mediaType: MediaType,
    parts: AsyncIterable<ResultPart>,
    first: ResultPart,
  ): HttpResponse {
    const framing = chooseFraming(mediaType, subscriptions.has(request));
    const toPieces = (part: ResultPart) => toLimitedPieces(part, framing.head, framing.tail);
    const { status, headers } = toResponseInit(first, mediaType);
    const pieces = frameParts(parts, { framing, toPieces, pulseMs });
    const body = toBodyStream(pieces, getExchange(request).connection);
    return { status, headers: { ...headers, ...framing.headers }, body };
  }

  function respondWhole(request: Request, mediaType: MediaType, result: ResultPart): HttpResponse {
    const { connection, isSmall } = getExchange(request);
    const { status, headers } = toResponseInit(result, mediaType);
    headers['content-type'] = `${mediaType}; charset=utf-8`;
    if (isSmall === true) {
      const body = JSON.stringify(toClientResult(result));
      // A character has at most three bytes.
      if (body.length * 3 > maxBytes && Buffer.byteLength(body) > maxBytes) throw tooLarge(maxBytes);
      return { status, headers, body };
    }
    const pieces = toLimitedPieces(result);
    const buffered: Buffer[] = [];
    let length = 0;
    for (let next = pieces.next(); next.done !== true; next = pieces.next()) {
      buffered.push(next.value);
      length += next.value.length;
      if (length > MAX_BUFFERED_BYTES)
        return { status, headers, body: toBodyStream(chain(buffered, pieces), connection) };
    }
    return { status, headers, body: Buffer.concat(buffered) };
  }

  function respond(request: Request, result: ResultPart | AsyncIterable<ResultPart>): HttpResponse {
    const isStream = Symbol.asyncIterator in result;
    const mediaType = chooseMediaType(request, isStream);
    if (isStream) return respondInParts(request, mediaType, result, { data: {} });
    if (!isJson(mediaType)) return respondInParts(request, mediaType, chain([result]), result);
    try {
      return respondWhole(request, mediaType, result);
    } catch (error) {
      if (!(error instanceof GraphQLError)) throw error;
      return respondWhole(request, mediaType, { data: null, errors: [error] });
    }
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
    onResultProcess({ request, setResultProcessor }) {
      setResultProcessor((result, { Response }) => {
        if (Array.isArray(result)) throw new Error('Batches are refused before they are executed.');
        getExchange(request).response = respond(request, result);
        // Yoga wants a Response; the one of the exchange is sent.
        return new Response();
      }, 'application/json');
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
