// Content negotiation: chooses the media type by the Accept header (RFC 9110), weights included, and frames
// successive results: Server-Sent Events in the format of graphql-sse, or multipart/mixed in the format of
// `@defer` clients.

/** What answers of the gateway can be. */
export type MediaType =
  | 'application/json'
  | 'application/graphql-response+json'
  | 'text/event-stream'
  | 'multipart/mixed';

/** Those of a result in one piece. */
export type JsonType = 'application/json' | 'application/graphql-response+json';

export const isJson = (type: MediaType | null): type is JsonType =>
  type === 'application/json' || type === 'application/graphql-response+json';

/** One result at once. The first is taken where the client leaves the choice. */
const WHOLE: readonly MediaType[] = ['application/json', 'application/graphql-response+json'];
/** Results one after the other: the events of a subscription. */
const EVENTS: readonly MediaType[] = ['text/event-stream'];
/** One result in parts (`@defer`, `@stream`). */
const PARTS: readonly MediaType[] = ['multipart/mixed', 'text/event-stream'];

/** One member of an Accept header. */
interface Range {
  readonly type: string;
  /** Weight from 0 to 1; 0 forbids. */
  readonly weight: number;
}

const ANYTHING: readonly Range[] = [{ type: '*/*', weight: 1 }];

const weightOf = (parameters: readonly string[]): number => {
  const given = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
  return given !== undefined && /^(0(\.\d{0,3})?|1(\.0{0,3})?)$/.test(given) ? Number(given) : 1;
};

/** Responses are UTF-8, and their parts in the format of 2022-08-24; a range with another matches none. */
const isOffered = (parameters: readonly string[]): boolean =>
  parameters.every(
    (parameter) =>
      !/^(charset|deferspec|incrementalspec)=/.test(parameter) ||
      /^(charset="?utf-8"?|deferspec="?20220824"?)$/.test(parameter),
  );

function rangesOf(accept: string | null): readonly Range[] {
  if (accept === null || accept === '') return ANYTHING;
  return accept
    .toLowerCase()
    .split(',')
    .map((member) => member.split(';').map((part) => part.trim()))
    .filter(([, ...parameters]) => isOffered(parameters))
    .map(([type = '', ...parameters]) => ({ type, weight: weightOf(parameters) }));
}

/**
 * How specifically a range matches a type: 2 by name, 1 by `type/*`, 0 by any range, -1 not at all.
 */
function closeness(range: string, type: string): number {
  if (range === type) return 2;
  if (range === `${type.split('/')[0]}/*`) return 1;
  return range === '*/*' ? 0 : -1;
}

/**
 * The offered media type that the client prefers; null when it accepts none. The most specific
 * range gives the weight of a type; equal weights are ordered by specificity, then by the client's
 * order, then by the order of the offers.
 *
 * @param accept - the Accept header; null or empty accepts any type
 */
function chooseMediaType<T extends string>(accept: string | null, offers: readonly T[]): T | null {
  const ranges = rangesOf(accept);
  const rated = offers.flatMap((type) => {
    const best = ranges
      .map((range, place) => ({ type, place, weight: range.weight, close: closeness(range.type, type) }))
      .filter(({ close }) => close >= 0)
      .sort((a, b) => b.close - a.close)[0];
    return best === undefined || best.weight === 0 ? [] : [best];
  });
  rated.sort((a, b) => b.weight - a.weight || b.close - a.close || a.place - b.place);
  return rated[0]?.type ?? null;
}

/**
 * The latest result: clients send the same header with every request, and parsing allocates about
 * 100 objects.
 */
let last: { readonly accept: string | null; readonly type: MediaType | null } | undefined;

/**
 * The media type of a single result: JSON where it is accepted at all, else a stream of one event.
 */
export function negotiateResponseType(accept: string | null): MediaType | null {
  if (last?.accept !== accept)
    last = { accept, type: chooseMediaType(accept, WHOLE) ?? chooseMediaType(accept, PARTS) };
  return last?.type ?? null;
}

/** Those of some media types that a client names: a wildcard is no wish for a stream of parts. */
function chooseNamed(accept: string | null, offers: readonly MediaType[]): MediaType | null {
  const named = rangesOf(accept).map(({ type }) => type);
  return chooseMediaType(
    accept,
    offers.filter((type) => named.includes(type)),
  );
}

/**
 * Whether a client wants a page, as a browser that opens an address does: it names text/html, and
 * not with less weight than the other type that is offered there.
 */
export const prefersHtml = (accept: string | null, other: 'application/json' | 'text/plain'): boolean =>
  (accept ?? '').toLowerCase().includes('text/html') &&
  chooseMediaType(accept, ['text/html', other]) === 'text/html';

/** The media type of a result in parts; null where the client names none that can carry parts. */
export const negotiateIncrementalType = (accept: string | null): MediaType | null =>
  chooseNamed(accept, PARTS);

/** The media type of a subscription's events; null where the client accepts no stream. */
export const negotiateEventStreamType = (accept: string | null): MediaType | null =>
  chooseNamed(accept, PARTS) ?? chooseMediaType(accept, EVENTS);

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
    'cache-control': 'private, no-store, no-transform',
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
