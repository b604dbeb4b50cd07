// Errors that refuse a request before any work, with the HTTP status and headers in
// `extensions.http`.
import { GraphQLError } from 'graphql';

/** @param retryAfterSeconds - after which it is worth to try again; undefined when it never is */
function refusal(
  status: number,
  code: string,
  message: string,
  retryAfterSeconds?: number,
  headers: Record<string, string> = {},
): GraphQLError {
  const isRetryable = retryAfterSeconds !== undefined;
  return new GraphQLError(message, {
    extensions: {
      code,
      retryable: isRetryable,
      ...(isRetryable && { retryAfterSeconds }),
      http: {
        status,
        headers: { ...(isRetryable && { 'retry-after': String(retryAfterSeconds) }), ...headers },
      },
    },
  });
}

/** The caller's credentials are missing or invalid. */
export const unauthenticated = (ways: string): GraphQLError =>
  refusal(
    401,
    'UNAUTHENTICATED',
    `This gateway holds the upstream key itself: send ${ways} in the header \`Authorization\`, after the word \`Bearer\`.`,
    undefined,
    { 'www-authenticate': 'Bearer' },
  );

/** Credentials cannot be checked at present. */
export const authBackendUnavailable = (): GraphQLError =>
  refusal(
    503,
    'UPSTREAM_UNAVAILABLE',
    'The gateway cannot check your token at present: the keys of its issuer cannot be had. ' +
      'Try again in a moment.',
    5,
  );

/** The page that asks was served under a name that is not the gateway's. */
export const hostNotAllowed = (): GraphQLError =>
  refusal(
    403,
    'FORBIDDEN',
    'This gateway holds a key for this machine only: ask it as localhost, 127.0.0.1 or [::1]. ' +
      '(Behind a proxy set PUBLIC_URL.)',
  );

/** The caller has used up its rate limit. */
export const rateLimited = (message: string, retryAfterSeconds: number): GraphQLError =>
  refusal(429, 'RATE_LIMITED', message, retryAfterSeconds);

/**
 * This process is overloaded. The code is RATE_LIMITED, because the cure is the same (wait, then
 * retry) and the upstream is available; the status is 503, on which proxies try another process.
 */
export const overloaded = (): GraphQLError =>
  refusal(
    503,
    'RATE_LIMITED',
    'The gateway has as much to do as it can at present. Nothing was done; try again in a moment.',
    1,
  );

/** The body of a request is too large. @param maxBytes - as configured */
export const bodyTooLarge = (maxBytes: number): GraphQLError =>
  refusal(
    413,
    'BAD_USER_INPUT',
    `The body is larger than ${maxBytes} bytes (MAX_BODY_BYTES); send less at once.`,
  );

/** The body of a request did not arrive in time. */
export const bodyTooSlow = (): GraphQLError =>
  refusal(
    408,
    'BAD_USER_INPUT',
    'The body of this request did not arrive in time (REQUEST_BODY_SECONDS). ' +
      'Nothing was done; send it again.',
    undefined,
    { connection: 'close' },
  );
