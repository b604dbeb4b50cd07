// The state of one request, which every layer is given, and the response that it gets.
import type { IncomingHttpHeaders } from 'node:http';
import { GraphQLError } from 'graphql';
import type { RequestRecord } from '../telemetry/request-record.ts';

export interface Caller {
  /** The bearer token for the Batch API; undefined when the caller gave none. */
  readonly token: string | undefined;
  /** The token, or the name of its key; null without a token. Never stored. */
  readonly identity: string | null;
  /** Keyed hash of the identity; null without a token. */
  readonly principal: string | null;
  /**
   * Whether the gateway has verified the caller. A forwarded token is verified by the upstream only
   * and may be invented.
   */
  readonly isProven: boolean;
}

export interface RateLimitResult {
  readonly isAllowed: boolean;
  readonly limit: number;
  readonly remaining: number;
  /** Whole seconds until the whole quota is there again. */
  readonly resetSeconds: number;
}

/** Why a request is refused before it runs, as metrics name it. */
export type RefusalReason = 'busy' | 'rate';

export interface Refusal {
  readonly reason: RefusalReason | 'credentials';
  readonly error: GraphQLError;
}

/** The result of the checks of a client. */
export interface AccessCheck {
  /** The caller, or why its credentials are refused. */
  readonly caller: Caller | GraphQLError;
  /** The state of its rate limit; null where nothing is counted. */
  readonly rate: RateLimitResult | null;
  readonly refusal: Refusal | null;
}

/** The scope in which a response may be reused, and for how long. */
export interface Sharing {
  /** How long it may be stored. */
  readonly seconds: number;
  /**
   * Whether it has URLs that begin with the request's Host header; no shared cache may store these.
   */
  readonly dependsOnHost: boolean;
  /** Null for an operation without a name, undefined for a file. */
  readonly operationName: string | null | undefined;
  /** The whole file, of which the response may be a part. */
  readonly content?: Uint8Array;
}

/** The response of a route or an operation, to which layers add what every response has. */
export interface HttpResponse {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Record<string, string>;
  /**
   * Written at the pace of its client where it comes in pieces, and ended when its client leaves.
   */
  readonly body: string | Uint8Array | AsyncIterable<string | Uint8Array> | null;
  /** UTF-8 when absent; latin1 for a text that has one character for each byte. */
  readonly encoding?: 'latin1' | undefined;
  /** Undefined for a response that is for this request alone. */
  readonly sharing?: Sharing | undefined;
}

/** A request as it came, over a socket or from a program. */
export interface ClientRequest {
  readonly method: string;
  /** Path and search. */
  readonly url: string;
  readonly path: string;
  /** Scheme and host as the client reached them: `http://localhost:4000`. */
  readonly origin: string;
  readonly headers: IncomingHttpHeaders;
  /** Address of the client, as limits count it; undefined for a request made by `gateway.fetch`. */
  readonly address: string | undefined;
  /** The other end of the connection: a client or a proxy. */
  readonly remoteAddress: string | undefined;
  /** Aborted when the client disconnects. */
  readonly signal: AbortSignal;
}

/** Answers a request. */
export type Answer = (exchange: Exchange) => Promise<HttpResponse>;

/** One layer around what answers requests: it may answer itself, or change what `next` gives. */
export type Layer = (exchange: Exchange, next: Answer) => Promise<HttpResponse>;

export interface Exchange extends ClientRequest, AccessCheck {
  readonly record: RequestRecord;
  /** The body of a POST; an error when it is too large. */
  readonly body: Buffer | GraphQLError | undefined;
  /**
   * Stops counting the request as in flight; a subscription does this before its response is
   * closed.
   */
  readonly release: () => void;
  /** Adds a clean-up that runs when the request, or this part of it, has ended. */
  readonly onEnd: (cleanUp: () => void) => unknown;
  /**
   * Answers by `run`, or as an identical request that is being answered: for what is the same for
   * every caller, as is known before it runs.
   */
  readonly share: (run: Answer) => Promise<HttpResponse>;
}

/**
 * The caller of a request.
 *
 * @throws GraphQLError UNAUTHENTICATED, or UPSTREAM_UNAVAILABLE when no credentials can be checked
 */
export function identifyCaller({ caller }: Pick<Exchange, 'caller'>): Caller {
  if (caller instanceof GraphQLError) throw caller;
  return caller;
}

/**
 * The whole body of a request.
 *
 * @throws GraphQLError (400, 413) when it is too large for its caller
 */
export function readBody({ body }: Pick<Exchange, 'body'>): Uint8Array {
  if (body instanceof GraphQLError) throw body;
  return body ?? new Uint8Array();
}

/**
 * Runs a part of a request, such as one execution for several, whose clean-ups run with its end.
 */
export async function runPart<T>(exchange: Exchange, run: (part: Exchange) => Promise<T>): Promise<T> {
  const cleanUps: (() => void)[] = [];
  try {
    return await run({ ...exchange, onEnd: (cleanUp) => cleanUps.push(cleanUp) });
  } finally {
    for (const cleanUp of cleanUps) cleanUp();
  }
}

/** Whether a body is at hand, and does not come in pieces. */
export const isWhole = (body: HttpResponse['body']): body is string | Uint8Array | null =>
  body === null || typeof body === 'string' || body instanceof Uint8Array;
