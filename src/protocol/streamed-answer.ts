// Results that come one after the other, as the bytes of one answer: Server-Sent Events as graphql-sse speaks them, or multipart/mixed as
// clients of `@defer` read it. It knows neither the server nor GraphQL.
import { setImmediate as turn } from 'node:timers/promises';
import type { JsonType, MediaType } from './media-type.ts';

/** How parts are written one after the other. */
export interface Framing {
  readonly headers: Readonly<Record<string, string>>;
  readonly opening: string;
  /** What stands before and behind the JSON of a part, which is a single line. */
  readonly head: string;
  readonly tail: string;
  readonly closing: string;
  /** What is sent when nothing happens, so that nobody on the way takes the connection for dead. */
  readonly pulse?: string;
}

export const EVENT_STREAM: Framing = {
  // What stands between must neither keep events nor gather them.
  headers: {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-cache',
    'x-accel-buffering': 'no',
  },
  opening: ':\n\n',
  head: 'event: next\ndata: ',
  tail: '\n\n',
  closing: 'event: complete\ndata:\n\n',
  pulse: ':\n\n',
};

/** The format of 2022-08-24, which Apollo Client, urql and Relay's networks read. */
const MULTIPART: Framing = {
  headers: { 'content-type': 'multipart/mixed; boundary="-"; deferSpec=20220824', 'x-accel-buffering': 'no' },
  opening: '\r\n---',
  head: '\r\nContent-Type: application/json; charset=utf-8\r\n\r\n',
  tail: '\r\n---',
  closing: '--\r\n',
};

/** Subscriptions as Apollo's clients read them over multipart. */
export const MULTIPART_EVENTS: Framing = {
  ...MULTIPART,
  headers: { ...MULTIPART.headers, 'content-type': 'multipart/mixed; boundary="-"; subscriptionSpec=1.0' },
  head: `${MULTIPART.head}{"payload":`,
  tail: `}${MULTIPART.tail}`,
  pulse: `${MULTIPART.head}{}${MULTIPART.tail}`,
};

const whole = (mediaType: JsonType): Framing => ({
  headers: { 'content-type': `${mediaType}; charset=utf-8` },
  opening: '',
  head: '',
  tail: '',
  closing: '',
});

const FRAMINGS: Readonly<Record<MediaType, Framing>> = {
  'application/json': whole('application/json'),
  'application/graphql-response+json': whole('application/graphql-response+json'),
  'text/event-stream': EVENT_STREAM,
  'multipart/mixed': MULTIPART,
};

/** How a result is written in a media type; subscriptions have one of their own in multipart. */
export const framingOf = (mediaType: MediaType): Framing => FRAMINGS[mediaType];

/**
 * The bytes of an answer. Parts are asked for as the client takes them; a client that leaves ends the source.
 *
 * @param write - a result as one part, which the stream does not change
 * @param pulseMs - milliseconds between two pulses
 */
export function streamOf<T>(
  results: AsyncIterable<T>,
  write: (result: T) => Uint8Array,
  framing: Framing,
  pulseMs: number,
): ReadableStream<Uint8Array> {
  // No generator stands between: one that waits for its source could not be left.
  const iterator = results[Symbol.asyncIterator]();
  const encoder = new TextEncoder();
  let pulses: ReturnType<typeof setInterval> | undefined;
  let parts = 0;
  const end = (): void => clearInterval(pulses);
  return new ReadableStream<Uint8Array>({
    start(controller) {
      const { opening, pulse } = framing;
      controller.enqueue(encoder.encode(opening));
      if (pulse === undefined) return;
      pulses = setInterval(() => {
        if ((controller.desiredSize ?? 0) > 0) controller.enqueue(encoder.encode(pulse));
      }, pulseMs);
      pulses.unref();
    },
    async pull(controller) {
      try {
        // What comes in one turn of the event loop goes into one part: each costs as much as the items of several.
        if (parts > 1) await turn();
        const next = await iterator.next();
        if (next.done !== true) {
          parts += 1;
          return controller.enqueue(write(next.value));
        }
        end();
        controller.enqueue(encoder.encode(framing.closing));
        controller.close();
      } catch (error) {
        end();
        controller.error(error);
      }
    },
    async cancel() {
      end();
      await iterator.return?.();
    },
  });
}
