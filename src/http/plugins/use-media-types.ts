// Serializes results in the media type that the client prefers, with the status of GraphQL over
// HTTP. Replaces Yoga's own choice, which ignores weights.
import type { GraphQLError } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { IncrementalResult } from '../../execution/incremental-result.ts';
import { createPrivateField } from '../../private-field.ts';
import type { Telemetry } from '../../telemetry/telemetry.ts';
import { nodeResponseOf } from '../auth/node-request.ts';
import { httpError } from '../errors.ts';
import { incrementalParts, streamedBodies } from '../graphql/incremental-body.ts';
import {
  EVENT_STREAM,
  framingOf,
  isJson,
  type MediaType,
  MULTIPART_EVENTS,
  negotiateEventStreamType,
  negotiateIncrementalType,
  negotiateResponseType,
  type StreamFraming,
} from '../graphql/media-type.ts';
import {
  type Body,
  type ExecutionOrIncrementalResult,
  httpHeadOf,
  STREAM_THRESHOLD_BYTES,
  serializeResult,
  toBuffer,
} from '../graphql/serialize-result.ts';
import { streamOf } from '../graphql/stream-body.ts';
import type { ClientErrors } from './errors.ts';
import { noteBody } from './response-caching.ts';

/** What an answer is whose result is still coming. */
const BEGUN: ExecutionOrIncrementalResult = { data: {} };

async function* alone<T>(one: T): AsyncIterable<T> {
  yield one;
}

const partOf = (framing: StreamFraming) => (result: ExecutionOrIncrementalResult) =>
  serializeResult(result, framing.head, framing.tail);

/**
 * Serializes events. A result object shared by many streams (use-execution.ts) is serialized once.
 */
function eventWriter(framing: StreamFraming): (result: ExecutionOrIncrementalResult) => Uint8Array {
  const written = createPrivateField<ExecutionOrIncrementalResult, Uint8Array>();
  return (result) => {
    const part = written.get(result) ?? toBuffer(serializeResult(result, framing.head, framing.tail));
    written.set(result, part);
    return part;
  };
}

const EVENT_WRITERS = new Map([EVENT_STREAM, MULTIPART_EVENTS].map((one) => [one, eventWriter(one)]));

/**
 * Longer answers are encoded once, for the client and the response cache; shorter ones go out with
 * their head.
 */
const TEXT_CHARACTERS = 16_384;

export interface MediaTypeSources {
  /** Milliseconds between two signs of life in a silent event stream. */
  readonly pulseMs: number;
  readonly errors: Pick<ClientErrors, 'ofResult'>;
  readonly telemetry: Pick<Telemetry, 'exchangeOf'>;
}

export const useMediaTypes = ({ pulseMs, errors, telemetry }: MediaTypeSources): Plugin => {
  const subscriptions = createPrivateField<Request, true>();

  /**
   * The media type of the response; JSON when the client accepts none, so that the error is
   * readable.
   */
  function mediaTypeOf(request: Request, isStream: boolean): MediaType {
    const accept = request.headers.get('accept');
    if (!isStream) return negotiateResponseType(accept) ?? 'application/json';
    const choose = subscriptions.get(request) === true ? negotiateEventStreamType : negotiateIncrementalType;
    return choose(accept) ?? 'text/event-stream';
  }

  return {
    onSubscribe({ context: { request }, setResultAndStopExecution }) {
      if (negotiateEventStreamType(request.headers.get('accept')) !== null) subscriptions.set(request, true);
      else
        setResultAndStopExecution({
          errors: [
            httpError(406, 'A subscription is a stream: accept text/event-stream or multipart/mixed.'),
          ],
        });
    },
    onResultProcess({ request, result: given, serverContext, setResultProcessor }) {
      const isEvents = subscriptions.get(request) === true;
      const isParts = given instanceof IncrementalResult && given.stream !== undefined;
      const mediaType = mediaTypeOf(request, Symbol.asyncIterator in given || isParts);
      const framing = mediaType === 'multipart/mixed' && isEvents ? MULTIPART_EVENTS : framingOf(mediaType);
      const connection = nodeResponseOf(serverContext);
      const shown = (all: readonly GraphQLError[]) => errors.ofResult(all, telemetry.exchangeOf(request));

      setResultProcessor((result, { Response }) => {
        /** Results that come one after the other. @param first - which decides the status */
        const inParts = (
          results: AsyncIterable<ExecutionOrIncrementalResult>,
          first: ExecutionOrIncrementalResult = BEGUN,
        ) => {
          const { opening, closing, pulse: text } = framing;
          // Parts are not shared; caching their bytes would hold memory longer than needed.
          const write = (isEvents ? EVENT_WRITERS.get(framing) : undefined) ?? partOf(framing);
          const pulse = text === undefined ? undefined : { text, ms: pulseMs };
          const stream = streamOf(results, { write, opening, closing, pulse, connection });
          return new Response(stream, httpHeadOf(first, mediaType, framing));
        };
        /** One result in chunks. */
        const inChunks = (bodies: AsyncIterable<Body>, first: ExecutionOrIncrementalResult) =>
          new Response(streamOf(bodies, { write: (body) => body, connection }), httpHeadOf(first, mediaType));

        if (Array.isArray(result))
          throw new Error('Lists of operations are refused before they are executed.');
        if (result instanceof IncrementalResult)
          return isParts || !isJson(mediaType)
            ? inParts(incrementalParts(result, shown))
            : inChunks(streamedBodies(result, shown), BEGUN);
        if (Symbol.asyncIterator in result) return inParts(result);
        if (!isJson(mediaType)) return inParts(alone(result), result);
        const made = serializeResult(result);
        const isText = typeof made === 'string';
        if (!isText && made.byteLength > STREAM_THRESHOLD_BYTES && request.method !== 'GET')
          return inChunks(alone(made), result);
        const body = isText && made.length <= TEXT_CHARACTERS ? made : toBuffer(made);
        return noteBody(new Response(body, httpHeadOf(result, mediaType)), body);
      }, mediaType);
    },
  };
};
