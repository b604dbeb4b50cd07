// The state of one request in all layers. Yoga and the routes look it up by their `Request`.
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { GraphQLError } from 'graphql';
import type { RequestRecord } from '../telemetry/request-record.ts';
import type { AccessCheck } from './access/access-control.ts';
import type { Caller } from './access/authenticate.ts';

/** A response before the headers that every response has. */
export interface HttpResponse {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Record<string, string>;
  readonly body: string | Buffer | ReadableStream<Uint8Array> | null;
  /** UTF-8 when absent; latin1 for a text that has one character for each byte. */
  readonly encoding?: 'latin1' | undefined;
}

/** A result or a file that may be the same for every caller. */
export interface ShareableResponse {
  /** How long it may be stored. */
  readonly seconds: number;
  /**
   * Whether it has URLs that begin with the request's Host header; no shared cache may store these.
   */
  readonly dependsOnHost: boolean;
  /** Null for an operation without a name, undefined for a file. */
  readonly operationName: string | null | undefined;
  /** The whole file, of which the response may be a part. */
  readonly content?: Buffer;
}

export interface Exchange extends AccessCheck {
  readonly method: string;
  /** Path and search. */
  readonly url: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** Address of the client, as limits count it; undefined for a request made by `gateway.fetch`. */
  readonly address: string | undefined;
  /** Undefined for a request made by `gateway.fetch`, and over WebSocket. */
  readonly connection: ServerResponse | undefined;
  readonly record: RequestRecord;
  /** The body of a POST; an error when it is too large. */
  readonly body: Buffer | GraphQLError | undefined;
  /**
   * Stops counting the request as in flight; a subscription does this before its response is
   * closed.
   */
  readonly release: () => void;
  /**
   * Whether the GraphQL result has few values, by their estimate: it is serialized in one piece.
   */
  isSmall?: boolean;
  shareable?: ShareableResponse;
  /** Key in the response cache if other requests wait there for this response. */
  key?: string | undefined;
}

const EXCHANGE = Symbol('exchange');

/**
 * A request that knows its exchange. V8 keeps values of a WeakMap, with all that they refer to,
 * until the next collection of old objects.
 */
type KnownRequest = Request & { [EXCHANGE]?: Exchange };

export function setExchange(request: KnownRequest, exchange: Exchange): void {
  request[EXCHANGE] = exchange;
}

/** @throws Error for a request that has passed no limits */
export function getExchange(request: KnownRequest): Exchange {
  const exchange = request[EXCHANGE];
  if (exchange === undefined) throw new Error('This request has passed no limits.');
  return exchange;
}

/**
 * The caller of a request.
 *
 * @throws GraphQLError UNAUTHENTICATED, or UPSTREAM_UNAVAILABLE when no credentials can be checked
 */
export function identifyCaller(request: Request): Caller {
  const { caller } = getExchange(request);
  if (caller instanceof GraphQLError) throw caller;
  return caller;
}

/**
 * The whole body of a request.
 *
 * @throws GraphQLError (400, 413) when it is too large for its caller
 */
export function readBody(request: Request): Uint8Array {
  const { body } = getExchange(request);
  if (body instanceof GraphQLError) throw body;
  return body ?? new Uint8Array();
}
