// Content negotiation by the Accept header with its weights (RFC 9110), and how results are framed
// that come one after the other: Server-Sent Events as graphql-sse has them, or multipart/mixed as
// clients of `@defer` do.

/** The media types of responses to GraphQL requests. */
export type MediaType =
  | 'application/json'
  | 'application/graphql-response+json'
  | 'text/event-stream'
  | 'multipart/mixed';

/** Media types of a result in one piece. */
export type JsonType = 'application/json' | 'application/graphql-response+json';

export const isJson = (type: MediaType | null): type is JsonType =>
  type === 'application/json' || type === 'application/graphql-response+json';

/** The first is taken where the client leaves the choice. */
const WHOLE: readonly MediaType[] = ['application/json', 'application/graphql-response+json'];
const IN_PARTS: readonly MediaType[] = ['multipart/mixed', 'text/event-stream'];

/** One member of an Accept header. */
interface MediaRange {
  readonly type: string;
  /** From 0 to 1; 0 forbids. */
  readonly weight: number;
}

/** A response is UTF-8, and its parts have the format of 2022-08-24. */
const isOffered = (parameters: readonly string[]): boolean =>
  parameters.every(
    (parameter) =>
      !/^(charset|deferspec|incrementalspec)=/.test(parameter) ||
      /^(charset="?utf-8"?|deferspec="?20220824"?)$/.test(parameter),
  );

/** Clients send fewer than ten; the rest of a longer header is not read. */
const MAX_RANGES = 50;
const MAX_PARAMETERS = 10;

function parseAccept(accept: string | null): readonly MediaRange[] {
  const members = (accept || '*/*').toLowerCase().split(',', MAX_RANGES);
  return members
    .map((member) => member.split(';', MAX_PARAMETERS).map((part) => part.trim()))
    .filter(([, ...parameters]) => isOffered(parameters))
    .map(([type = '', ...parameters]) => {
      const weight = Number(parameters.find((parameter) => parameter.startsWith('q='))?.slice(2) ?? 1);
      return { type, weight: weight >= 0 && weight <= 1 ? weight : 1 };
    });
}

/** 2 where a range names a type, 1 for `type/*`, 0 for any type, -1 where it does not match. */
function specificity(range: string, type: string): number {
  if (range === type) return 2;
  if (range === `${type.split('/')[0]}/*`) return 1;
  return range === '*/*' ? 0 : -1;
}

/**
 * The media type that the client prefers; null when it accepts none. The most specific range gives
 * the weight of a type. Equal weights are ordered by specificity, then by the client's order, then
 * by the order of the offers.
 */
function chooseMediaType<T extends string>(accept: string | null, offers: readonly T[]): T | null {
  const ranges = parseAccept(accept);
  const rated = offers.flatMap((type) => {
    const [best] = ranges
      .map(({ type: range, weight }, place) => ({ type, place, weight, match: specificity(range, type) }))
      .filter(({ match }) => match >= 0)
      .sort((a, b) => b.match - a.match);
    return best === undefined || best.weight === 0 ? [] : [best];
  });
  rated.sort((a, b) => b.weight - a.weight || b.match - a.match || a.place - b.place);
  return rated[0]?.type ?? null;
}

type Negotiate = (accept: string | null) => MediaType | null;

/** Clients send few different headers. */
const MAX_REMEMBERED = 100;

/** Remembers the results for the last headers. */
function remember(negotiate: Negotiate): Negotiate {
  const results = new Map<string | null, MediaType | null>();
  return (accept) => {
    const known = results.get(accept);
    if (known !== undefined) return known;
    if (results.size >= MAX_REMEMBERED) results.clear();
    const result = negotiate(accept);
    results.set(accept, result);
    return result;
  };
}

/**
 * The media type of a single result: JSON where it is accepted at all, else a stream of one event.
 */
export const negotiateResponseType = remember(
  (accept) => chooseMediaType(accept, WHOLE) ?? chooseMediaType(accept, IN_PARTS),
);

/**
 * The media type of a result in parts; null unless the client names one: a wildcard is no wish for
 * parts.
 */
export const negotiateIncrementalType = remember((accept) => {
  const named = parseAccept(accept).map(({ type }) => type);
  return chooseMediaType(
    accept,
    IN_PARTS.filter((type) => named.includes(type)),
  );
});

/** The media type of a subscription's events; null where the client accepts no stream. */
export const negotiateEventStreamType = remember(
  (accept) => negotiateIncrementalType(accept) ?? chooseMediaType<MediaType>(accept, ['text/event-stream']),
);

/** Whether a client prefers a page to the other type that is offered, as browsers do. */
export const prefersHtml = (accept: string | null, other: 'application/json' | 'text/plain'): boolean =>
  (accept ?? '').toLowerCase().includes('text/html') &&
  chooseMediaType(accept, ['text/html', other]) === 'text/html';

/** How parts are written one after the other. */
export interface StreamFraming {
  readonly headers: Readonly<Record<string, string>>;
  readonly opening: string;
  /** The text before and after the JSON of a part. */
  readonly head: string;
  readonly tail: string;
  readonly closing: string;
  /** Sent while nothing happens, so that no proxy closes the connection as idle. */
  readonly pulse?: string;
}

const EVENT_STREAM: StreamFraming = {
  // No proxy may keep events or gather them.
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
const MULTIPART_EVENTS: StreamFraming = {
  ...MULTIPART,
  headers: { ...MULTIPART.headers, 'content-type': 'multipart/mixed; boundary="-"; subscriptionSpec=1.0' },
  head: `${MULTIPART.head}{"payload":`,
  tail: `}${MULTIPART.tail}`,
  pulse: `${MULTIPART.head}{}${MULTIPART.tail}`,
};

export function chooseFraming(mediaType: MediaType, isSubscription: boolean): StreamFraming {
  if (mediaType !== 'multipart/mixed') return EVENT_STREAM;
  return isSubscription ? MULTIPART_EVENTS : MULTIPART;
}
