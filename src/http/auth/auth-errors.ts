// Refusals that come before any work: as GraphQL sees them and, by `extensions.http`, as HTTP does. It must not know why.
import { GraphQLError } from 'graphql';

/** Seconds after which it is worth to try again. */
interface Patience {
  readonly retryAfterSeconds?: number;
}

const refusal = (
  status: number,
  code: string,
  message: string,
  { retryAfterSeconds }: Patience = {},
  headers: Record<string, string> = {},
): GraphQLError =>
  new GraphQLError(message, {
    extensions: {
      code,
      retryable: retryAfterSeconds !== undefined,
      ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
      http: {
        status,
        headers: {
          ...(retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) }),
          ...headers,
        },
      },
    },
  });

/** Who asks has not proved who they are. */
export const unauthenticated = (ways: string): GraphQLError =>
  refusal(
    401,
    'UNAUTHENTICATED',
    `This gateway holds the upstream key itself: send ${ways} as \`Authorization: Bearer …\`.`,
    {},
    { 'www-authenticate': 'Bearer' },
  );

/** Nobody can be told apart at present. */
export const authBackendUnavailable = (): GraphQLError =>
  refusal(
    503,
    'UPSTREAM_UNAVAILABLE',
    'The gateway cannot check your token at present: the keys of its issuer cannot be had. Try again in a moment.',
    { retryAfterSeconds: 5 },
  );

/** The page that asks was served under a name that is not the gateway's. */
export const hostNotAllowed = (): GraphQLError =>
  refusal(
    403,
    'FORBIDDEN',
    'This gateway holds a key for this machine only: ask it as localhost, 127.0.0.1 or [::1]. (Behind a proxy set PUBLIC_URL.)',
  );

/** Somebody asks too often. */
export const rateLimited = (message: string, retryAfterSeconds: number): GraphQLError =>
  refusal(429, 'RATE_LIMITED', message, { retryAfterSeconds });

/**
 * This process has too much to do. The code is RATE_LIMITED, as the cure is the same (wait, then the same again) and the upstream is
 * not what is missing; the status is 503, by which proxies know to try another process.
 */
export const overloaded = (): GraphQLError =>
  refusal(
    503,
    'RATE_LIMITED',
    'The gateway has as much to do as it can at present. Nothing was done; try again in a moment.',
    { retryAfterSeconds: 1 },
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
    'The body of this request did not arrive in time (REQUEST_BODY_SECONDS). Nothing was done; send it again.',
    {},
    { connection: 'close' },
  );
