// Writes results in the media type that the client likes best, with the status that GraphQL over HTTP asks for. It replaces what Yoga
// chooses, which knows no weights. It knows no operation.
import type { Plugin } from 'graphql-yoga';
import { type AnyResult, bodyOf, headOf } from '../protocol/answer.ts';
import { allOf, LARGE, streamOfBody } from '../protocol/body.ts';
import {
  chooseForEvents,
  chooseForParts,
  chooseForWhole,
  isJson,
  type MediaType,
} from '../protocol/media-type.ts';
import { refusal } from '../protocol/refusal.ts';
import {
  EVENT_STREAM,
  type Framing,
  framingOf,
  MULTIPART_EVENTS,
  streamOf,
} from '../protocol/streamed-answer.ts';

async function* alone(result: AnyResult): AsyncIterable<AnyResult> {
  yield result;
}

const partOf = (framing: Framing) => (result: AnyResult) => allOf(bodyOf(result, framing.head, framing.tail));

/** Writes events. A result that many streams were given as one object (shared-events.ts) is written once, and its bytes are theirs together. */
function eventWriter(framing: Framing): (result: AnyResult) => Uint8Array {
  const write = partOf(framing);
  const written = new WeakMap<AnyResult, Uint8Array>();
  return (result) => {
    const part = written.get(result) ?? write(result);
    written.set(result, part);
    return part;
  };
}

const EVENT_WRITERS = new Map([EVENT_STREAM, MULTIPART_EVENTS].map((one) => [one, eventWriter(one)]));

/** @param pulseMs - milliseconds between two signs of life in a silent event stream */
export const useMediaTypes = (pulseMs: number): Plugin => {
  const subscriptions = new WeakSet<Request>();

  /** The media type of an answer; JSON for what nobody can read anyway, so that at least the reason arrives. */
  function mediaTypeOf(request: Request, isStream: boolean): MediaType {
    const accept = request.headers.get('accept');
    if (!isStream) return chooseForWhole(accept) ?? 'application/json';
    const choose = subscriptions.has(request) ? chooseForEvents : chooseForParts;
    return choose(accept) ?? 'text/event-stream';
  }

  function framingFor(request: Request, mediaType: MediaType): Framing {
    return mediaType === 'multipart/mixed' && subscriptions.has(request)
      ? MULTIPART_EVENTS
      : framingOf(mediaType);
  }

  return {
    onSubscribe({ context: { request }, setResultAndStopExecution }) {
      if (chooseForEvents(request.headers.get('accept')) !== null) subscriptions.add(request);
      else
        setResultAndStopExecution({
          errors: [refusal(406, 'A subscription is a stream: accept text/event-stream or multipart/mixed.')],
        });
    },
    onResultProcess({ request, result: given, setResultProcessor }) {
      const mediaType = mediaTypeOf(request, Symbol.asyncIterator in given);
      const framing = framingFor(request, mediaType);
      // Parts are nobody else's: what remembered their bytes would hold them for longer than they are needed.
      const write = (subscriptions.has(request) ? EVENT_WRITERS.get(framing) : undefined) ?? partOf(framing);
      setResultProcessor((result, { Response }) => {
        if (Array.isArray(result))
          throw new Error('Lists of operations are refused before they are executed.');
        if (Symbol.asyncIterator in result)
          return new Response(
            streamOf(result, write, framing, pulseMs),
            headOf({ data: {} }, mediaType, framing),
          );
        if (isJson(mediaType)) {
          const body = bodyOf(result);
          if (typeof body === 'string') return new Response(body, headOf(result, mediaType));
          return new Response(
            body.byteLength > LARGE ? streamOfBody(body) : allOf(body),
            headOf(result, mediaType),
          );
        }
        return new Response(
          streamOf(alone(result), write, framing, pulseMs),
          headOf(result, mediaType, framing),
        );
      }, mediaType);
    },
  };
};
