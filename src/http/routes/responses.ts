// Helpers of the file routes: refusals, GET and HEAD only, upstream errors as HTTP statuses,
// upstream bodies as web streams, the Range header (RFC 9110, section 14).

import { Readable } from 'node:stream';
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

/** Closes a body that may not have started: an abandoned iterator would hold its connection. */
function leave(body: AsyncIterable<Uint8Array>): void {
  if (!(body instanceof Readable)) return;
  // That it was given up is no news.
  body.on('error', () => undefined);
  body.destroy();
}

/**
 * A body as a web stream. Not Readable.toWeb, which throws an uncaught error when cancelled midway
 * (Node 20).
 */
export function streamOf(body: AsyncIterable<Uint8Array>): ReadableStream<Uint8Array> {
  const chunks = body[Symbol.asyncIterator]();
  return new ReadableStream(
    {
      async pull(controller) {
        const { done, value } = await chunks.next();
        if (done === true) controller.close();
        else controller.enqueue(value);
      },
      async cancel() {
        await chunks.return?.();
        leave(body);
      },
    },
    // Nothing is read ahead: the body of a response to HEAD is never read.
    { highWaterMark: 0 },
  );
}

/** 0-based, the end excluded. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/**
 * Parses a Range header with one range.
 *
 * @returns null when the whole file is to be sent: no header, another unit, several ranges, or an
 *   invalid one
 */
export function byteRange(header: string | null, size: number): ByteRange | 'unsatisfiable' | null {
  const [, from, to] = /^bytes=(\d*)-(\d*)$/.exec(header?.trim() ?? '') ?? [];
  if (from === undefined || to === undefined || (from === '' && to === '')) return null;
  if (from === '') {
    const length = Math.min(Number(to), size);
    return length === 0 ? 'unsatisfiable' : { start: size - length, end: size };
  }
  const start = Number(from);
  if (to !== '' && Number(to) < start) return null;
  if (start >= size) return 'unsatisfiable';
  return { start, end: to === '' ? size : Math.min(Number(to) + 1, size) };
}
