// Frames successive results: Server-Sent Events in the format of graphql-sse, or multipart/mixed in
// the format of `@defer` clients.
import type { JsonType, MediaType } from './media-type.ts';

/** How parts are written one after the other. */
export interface StreamFraming {
  readonly headers: Readonly<Record<string, string>>;
  readonly opening: string;
  /** What stands before and behind the JSON of a part, which is a single line. */
  readonly head: string;
  readonly tail: string;
  readonly closing: string;
  /** Sent while nothing happens, so that no proxy closes the connection as idle. */
  readonly pulse?: string;
}

export const EVENT_STREAM: StreamFraming = {
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
const MULTIPART: StreamFraming = {
  headers: { 'content-type': 'multipart/mixed; boundary="-"; deferSpec=20220824', 'x-accel-buffering': 'no' },
  opening: '\r\n---',
  head: '\r\nContent-Type: application/json; charset=utf-8\r\n\r\n',
  tail: '\r\n---',
  closing: '--\r\n',
};

/** Subscriptions as Apollo's clients read them over multipart. */
export const MULTIPART_EVENTS: StreamFraming = {
  ...MULTIPART,
  headers: { ...MULTIPART.headers, 'content-type': 'multipart/mixed; boundary="-"; subscriptionSpec=1.0' },
  head: `${MULTIPART.head}{"payload":`,
  tail: `}${MULTIPART.tail}`,
  pulse: `${MULTIPART.head}{}${MULTIPART.tail}`,
};

const whole = (mediaType: JsonType): StreamFraming => ({
  headers: { 'content-type': `${mediaType}; charset=utf-8` },
  opening: '',
  head: '',
  tail: '',
  closing: '',
});

const FRAMINGS: Readonly<Record<MediaType, StreamFraming>> = {
  'application/json': whole('application/json'),
  'application/graphql-response+json': whole('application/graphql-response+json'),
  'text/event-stream': EVENT_STREAM,
  'multipart/mixed': MULTIPART,
};

/** How a result is written in a media type; subscriptions have one of their own in multipart. */
export const framingOf = (mediaType: MediaType): StreamFraming => FRAMINGS[mediaType];
