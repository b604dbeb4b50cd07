// Writes results in the media type that the client prefers: weights of Accept count, and large
// results are never one string.
import { GraphQLError } from 'graphql';
import type { Config } from '../../config.ts';
import type { Exchange, HttpResponse } from '../exchange.ts';
import { type ResultPart, toClientResult, toResponseInit } from './http-result.ts';
import {
  chooseFraming,
  isJson,
  type MediaType,
  negotiateEventStreamType,
  negotiateIncrementalType,
  negotiateResponseType,
} from './media-type.ts';
import { frameParts, limitBytes, toJsonPieces } from './result-stream.ts';
import type { Result } from './run-operation.ts';

/**
 * @param isSmall - whether the result has few values, none of which is a long text
 * @throws GraphQLError for a result of too many bytes
 */
export type WriteResult = (exchange: Exchange, result: Result, isSmall: boolean) => HttpResponse;

/** Larger responses are written while they are serialized, and never stored. */
const MAX_BUFFERED_BYTES = 2_000_000;

const isSubscription = ({ record }: Exchange): boolean => record.operation?.type === 'subscription';

function chooseMediaType(exchange: Exchange, isStream: boolean): MediaType {
  const accept = exchange.headers.accept ?? null;
  // A client that accepts nothing gets its error as JSON.
  if (!isStream) return negotiateResponseType(accept) ?? 'application/json';
  const negotiate = isSubscription(exchange) ? negotiateEventStreamType : negotiateIncrementalType;
  return negotiate(accept) ?? 'text/event-stream';
}

/** @param pulseMs - milliseconds between two signs of life in a silent event stream */
export function createResultWriter({ limits }: Config, pulseMs: number): WriteResult {
  const { answerBytes: maxBytes } = limits;
  const toLimitedPieces = (result: ResultPart, before?: string, after?: string): Generator<Buffer> =>
    limitBytes(toJsonPieces(toClientResult(result), before, after), maxBytes, () => tooLarge(maxBytes));

  /** @param first - decides the status */
  function writeParts(
    exchange: Exchange,
    mediaType: MediaType,
    parts: AsyncIterable<ResultPart>,
    first: ResultPart,
  ): HttpResponse {
    const framing = chooseFraming(mediaType, isSubscription(exchange));
    const toPieces = (part: ResultPart) => toLimitedPieces(part, framing.head, framing.tail);
    const { status, headers } = toResponseInit(first, mediaType);
    const body = frameParts(parts, { framing, toPieces, pulseMs });
    return { status, headers: { ...headers, ...framing.headers }, body };
  }

  function writeWhole(mediaType: MediaType, result: ResultPart, isSmall: boolean): HttpResponse {
    const { status, headers } = toResponseInit(result, mediaType);
    headers['content-type'] = `${mediaType}; charset=utf-8`;
    if (isSmall) {
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
      if (length > MAX_BUFFERED_BYTES) return { status, headers, body: chain(buffered, pieces) };
    }
    return { status, headers, body: Buffer.concat(buffered) };
  }

  return (exchange, result, isSmall) => {
    const isStream = Symbol.asyncIterator in result;
    const mediaType = chooseMediaType(exchange, isStream);
    if (isStream) return writeParts(exchange, mediaType, result, { data: {} });
    return isJson(mediaType)
      ? writeWhole(mediaType, result, isSmall)
      : writeParts(exchange, mediaType, chain([result]), result);
  };
}

async function* chain<T>(...sources: readonly Iterable<T>[]): AsyncGenerator<T> {
  for (const source of sources) yield* source;
}

const tooLarge = (maxBytes: number): GraphQLError =>
  new GraphQLError(
    `The response has more than ${maxBytes} bytes. Select fewer fields or shorter lists, ` +
      'or page through them.',
    { extensions: { code: 'QUERY_TOO_EXPENSIVE', retryable: false } },
  );
