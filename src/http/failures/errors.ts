// Errors that refuse a request before any work, with a code, and the HTTP status and headers in
// `extensions.http`.
import { GraphQLError } from 'graphql';

interface RefusalOptions {
  /** One of the codes of the README; BAD_USER_INPUT when absent. */
  readonly code?: string;
  /** After which it is worth to try again; absent when it never is. */
  readonly retryAfterSeconds?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * An error that becomes an answer with an HTTP status of its own, in every media type.
 *
 * @param status - the HTTP status, 4xx or 503
 * @param message - what is wrong and what to do next
 */
export function httpError(
  status: number,
  message: string,
  { code = 'BAD_USER_INPUT', retryAfterSeconds, headers }: RefusalOptions = {},
): GraphQLError {
  const retry = retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) };
  return new GraphQLError(message, {
    extensions: {
      code,
      retryable: retryAfterSeconds !== undefined,
      retryAfterSeconds,
      http: { status, headers: { ...retry, ...headers } },
    },
  });
}

/** The caller has used up its rate limit. */
export const rateLimited = (message: string, retryAfterSeconds: number): GraphQLError =>
  httpError(429, message, { code: 'RATE_LIMITED', retryAfterSeconds });

/**
 * This process is overloaded. The code is RATE_LIMITED, because the cure is the same (wait, then
 * retry) and the upstream is available; the status is 503, on which proxies try another process.
 */
export const overloaded = (): GraphQLError =>
  httpError(
    503,
    'The gateway has as much to do as it can at present. Nothing was done; try again in a moment.',
    {
      code: 'RATE_LIMITED',
      retryAfterSeconds: 1,
    },
  );

/** The body of a request is too large. @param maxBytes - for this caller */
export const bodyTooLarge = (maxBytes: number): GraphQLError =>
  httpError(
    413,
    `The body is larger than ${maxBytes} bytes; send less at once. (Callers with credentials may send ` +
      'MAX_BODY_BYTES, others at most 1 MiB of it.)',
  );

interface ErrorCode {
  /** The HTTP status of what was not executed. */
  readonly status: number;
  /**
   * Whether it is about the document or its variables: GraphQL in plain JSON has status 200 then.
   * Clients of Apollo read PERSISTED_QUERY_NOT_FOUND from an answer with status 200.
   */
  readonly isOfDocument?: true;
}

/** The codes of the README. */
export const ERROR_CODES: Readonly<Record<string, ErrorCode>> = {
  BAD_USER_INPUT: { status: 400, isOfDocument: true },
  PERSISTED_QUERY_NOT_FOUND: { status: 400, isOfDocument: true },
  PERSISTED_DOCUMENT_NOT_FOUND: { status: 400 },
  QUERY_TOO_EXPENSIVE: { status: 400, isOfDocument: true },
  NOT_FOUND: { status: 404, isOfDocument: true },
  RESULT_EXPIRED: { status: 410, isOfDocument: true },
  UNAUTHENTICATED: { status: 401 },
  FORBIDDEN: { status: 403 },
  RATE_LIMITED: { status: 429 },
  INTERNAL_SERVER_ERROR: { status: 500 },
  UPSTREAM_DRIFT: { status: 502 },
  UPSTREAM_UNAVAILABLE: { status: 503 },
  UPSTREAM_TIMEOUT: { status: 504 },
};

/** `extensions.http` of an error or a result, as Yoga has it. */
export interface HttpExtension {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Whether plain JSON has status 200 in any case. */
  readonly spec?: boolean;
}

export const readHttp = (extensions: Readonly<Record<string, unknown>> | undefined): HttpExtension => {
  const http = extensions?.http;
  return typeof http === 'object' && http !== null ? http : {};
};

/** The HTTP status of an error that ended its request. */
export const toErrorStatus = ({ extensions }: GraphQLError): number =>
  readHttp(extensions).status ?? ERROR_CODES[String(extensions.code)]?.status ?? 500;

/**
 * No document is registered under a hash. Clients of Apollo's automatic persisted queries know the
 * message and the code, and send the text.
 */
export const persistedQueryNotFound = (): GraphQLError =>
  new GraphQLError('PersistedQueryNotFound', {
    extensions: { code: 'PERSISTED_QUERY_NOT_FOUND', retryable: false },
  });
