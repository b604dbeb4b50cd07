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

/** The codes of the README with their HTTP statuses, for responses to what was not executed. */
export const STATUS_BY_CODE: Readonly<Record<string, number>> = {
  BAD_USER_INPUT: 400,
  PERSISTED_QUERY_NOT_FOUND: 400,
  PERSISTED_DOCUMENT_NOT_FOUND: 400,
  QUERY_TOO_EXPENSIVE: 400,
  NOT_FOUND: 404,
  RESULT_EXPIRED: 410,
  UNAUTHENTICATED: 401,
  FORBIDDEN: 403,
  RATE_LIMITED: 429,
  INTERNAL_SERVER_ERROR: 500,
  UPSTREAM_DRIFT: 502,
  UPSTREAM_UNAVAILABLE: 503,
  UPSTREAM_TIMEOUT: 504,
};

/**
 * No document is registered under a hash. Clients of Apollo's automatic persisted queries know the
 * message and the code, and send the text.
 */
export const persistedQueryNotFound = (): GraphQLError =>
  new GraphQLError('PersistedQueryNotFound', {
    extensions: { code: 'PERSISTED_QUERY_NOT_FOUND', retryable: false },
  });
