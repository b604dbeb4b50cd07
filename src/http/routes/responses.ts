// Helpers of the file routes: plain refusals, GET and HEAD only, upstream errors as HTTP statuses.
import { GraphQLError } from 'graphql';
import { UpstreamError } from '../../upstream/errors.ts';

/** A refusal as one line of text. */
export const textResponse = (status: number, text: string, headers: Record<string, string> = {}): Response =>
  new Response(`${text}\n`, {
    status,
    headers: {
      'content-type': 'text/plain; charset=utf-8',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      ...headers,
    },
  });

/** The upstream's headers that describe a forwarded body. */
export const forwardedHeaders = (
  headers: Readonly<Record<string, string | string[] | undefined>>,
  names: readonly string[],
): Record<string, string> =>
  Object.fromEntries(
    names.flatMap((name) => {
      const value = headers[name];
      return typeof value === 'string' && /^[\x20-\x7e]*$/.test(value) ? [[name, value]] : [];
    }),
  );

const STATUS_OF_CODE: Readonly<Record<string, number>> = {
  BAD_USER_INPUT: 400,
  UNAUTHENTICATED: 401,
  FORBIDDEN: 403,
  RESULT_EXPIRED: 410,
  RATE_LIMITED: 429,
  UPSTREAM_DRIFT: 502,
  UPSTREAM_UNAVAILABLE: 503,
  UPSTREAM_TIMEOUT: 504,
};

/** What a failure with a code is as an HTTP answer of ours. */
function failureAnswer(error: Error, code: string, retryAfterSeconds?: number): Response {
  const status = STATUS_OF_CODE[code] ?? 502;
  return textResponse(status, error.message, {
    ...(retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) }),
    ...(status === 401 ? { 'www-authenticate': 'Bearer' } : {}),
  });
}

/** Runs a route for GET and HEAD, refuses other methods, and maps upstream errors to statuses. */
export async function handleGetOrHead(request: Request, answer: () => Promise<Response>): Promise<Response> {
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    return textResponse(405, 'This address can only be read.', { allow: 'GET, HEAD' });
  }
  try {
    const response = await answer();
    if (request.method === 'GET') return response;
    await response.body?.cancel();
    return new Response(null, { status: response.status, headers: response.headers });
  } catch (error) {
    if (error instanceof UpstreamError)
      return failureAnswer(error, error.failure.code, error.failure.retryAfterSeconds);
    if (error instanceof GraphQLError && typeof error.extensions.code === 'string') {
      const { code, retryAfterSeconds } = error.extensions;
      return failureAnswer(
        error,
        code,
        typeof retryAfterSeconds === 'number' ? retryAfterSeconds : undefined,
      );
    }
    throw error;
  }
}
