// What the routes answer with: refusals, GET and HEAD only, upstream errors as HTTP statuses, upstream
// bodies as web streams, the Range header (RFC 9110, section 14), and pages: compressed once per
// encoding, with ETag, and a policy that allows only the gateway's own files.
import { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { GraphQLError } from 'graphql';
import { createEtag, matchesIfNoneMatch } from '../../etag.ts';
import { UpstreamError } from '../../upstream/errors.ts';
import { discard } from '../../upstream/http/response-body.ts';
import type { StreamedResponse } from '../../upstream/http/upstream-client.ts';
import { LINK_MINUTES, type LinkRefusal } from '../auth/signed-links.ts';

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

/** The named headers that a request or an answer has. @param read - gives a header by its name */
export const forwardedHeaders = (
  read: (name: string) => string | string[] | null | undefined,
  names: readonly string[],
): Record<string, string> =>
  Object.fromEntries(
    names.flatMap((name) => {
      const value = read(name);
      return typeof value === 'string' && /^[\x20-\x7e]*$/.test(value) ? [[name, value]] : [];
    }),
  );

/** The upstream's headers that describe the bytes of a file. */
const DESCRIBING = ['content-length', 'content-range', 'accept-ranges', 'etag', 'last-modified'];

/** A file of the upstream, streamed; without a body where the upstream sends none of the file. */
export function forwardedFile(answer: StreamedResponse, headers: Record<string, string>): Response {
  const { status } = answer;
  const hasFile = status !== 304 && status !== 416;
  const described = forwardedHeaders((name) => answer.headers[name], DESCRIBING);
  if (!hasFile) {
    discard(answer);
    delete described['content-length'];
  }
  return new Response(hasFile ? streamOf(answer.body) : null, {
    status,
    headers: { ...described, ...headers },
  });
}

/** What a browser saves a file as. */
export function attachment(name: string, ending: string): string {
  const ascii = name.replace(/[^\w.-]+/g, '_').slice(0, 120);
  // A lone surrogate cannot be encoded.
  const encoded = encodeURIComponent(name.replace(/\p{Cs}/gu, '\ufffd')).replace(
    /['()*]/g,
    (c) => `%${c.charCodeAt(0).toString(16)}`,
  );
  return `attachment; filename="${ascii}.${ending}"; filename*=UTF-8''${encoded}.${ending}`;
}

/**
 * Headers of a file that came by a signed link. Pages of any site may read it, as the link is all
 * that it takes; no cache may keep it longer than the link opens.
 */
export const LINK_HEADERS: Readonly<Record<string, string>> = {
  'cache-control': 'private, no-store',
  'access-control-allow-origin': '*',
  'access-control-expose-headers': 'content-disposition, content-length, content-range, etag',
  'cross-origin-resource-policy': 'cross-origin',
};

/** The answer to a link that opens nothing. */
export const refusedLink = (refusal: LinkRefusal): Response =>
  textResponse(
    403,
    refusal === 'expired'
      ? `This link has expired: links open for ${LINK_MINUTES} minutes. Ask for \`signedUrl\` again.`
      : 'The signature of this link is not valid for this file. Ask for `signedUrl` again.',
    LINK_HEADERS,
  );

/** An id in a path; null where its escapes are wrong. */
export function decodedId(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

const STATUS_OF_CODE: Readonly<Record<string, number>> = {
  BAD_USER_INPUT: 400,
  UNAUTHENTICATED: 401,
  FORBIDDEN: 403,
  NOT_FOUND: 404,
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

type Encoding = 'br' | 'gzip' | 'identity';

/** Something to send again and again. */
export interface CachedPage {
  readonly etag: string;
  encoded(encoding: Encoding): Promise<Uint8Array<ArrayBuffer>>;
}

/** Quality 5 takes a fifth of the time of quality 9, for five percent more bytes. */
const brotli = (bytes: Uint8Array) =>
  promisify(brotliCompress)(bytes, {
    params: { [constants.BROTLI_PARAM_QUALITY]: 5, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.byteLength },
  });
const COMPRESS = {
  br: brotli,
  gzip: (bytes: Uint8Array) => promisify(gzip)(bytes),
  identity: async (bytes: Uint8Array) => bytes,
};

/** Keeps bytes with what they are compressed to, each made when first asked for. */
export function cachePage(bytes: Uint8Array): CachedPage {
  const made = new Map<Encoding, Promise<Uint8Array<ArrayBuffer>>>();
  return {
    etag: createEtag(bytes),
    encoded(encoding) {
      const known = made.get(encoding);
      if (known !== undefined) return known;
      const making = COMPRESS[encoding](bytes).then((result) => new Uint8Array(result));
      made.set(encoding, making);
      return making;
    },
  };
}

/** Calls `make` once for each key, on first use. */
export function oncePer<K, T>(key: () => K, make: (key: K) => T): () => T {
  const made = new Map<K, { readonly value: T }>();
  return () => {
    const now = key();
    const known = made.get(now) ?? { value: make(now) };
    made.set(now, known);
    return known.value;
  };
}

/** Calls `make` once, on first use. */
export const once = <T>(make: () => T): (() => T) => oncePer(() => undefined, make);

/** The best encoding that the client takes; `q=0` refuses one. */
function encodingFor(request: Request): Encoding {
  const header = request.headers.get('accept-encoding') ?? '';
  const takes = (name: string): boolean =>
    header
      .split(',')
      .some((item) => item.trim().split(';')[0]?.trim() === name && !/;\s*q=0(\.0*)?\s*$/.test(item));
  return takes('br') ? 'br' : takes('gzip') ? 'gzip' : 'identity';
}

/** Responds with the cached bytes, or 304. */
export async function cachedPageResponse(
  request: Request,
  kept: CachedPage,
  headers: Record<string, string>,
): Promise<Response> {
  const encoding = encodingFor(request);
  // A strong tag names one sequence of bytes, so each encoding has its own.
  const etag = encoding === 'identity' ? kept.etag : kept.etag.replace(/"$/, `-${encoding}"`);
  const all = { ...headers, etag, vary: 'accept, accept-encoding', 'x-content-type-options': 'nosniff' };
  if (matchesIfNoneMatch(request.headers.get('if-none-match'), etag))
    return new Response(null, { status: 304, headers: all });
  const body = await kept.encoded(encoding);
  return new Response(body, {
    headers: {
      ...all,
      'content-length': String(body.byteLength),
      ...(encoding === 'identity' ? {} : { 'content-encoding': encoding }),
    },
  });
}

/**
 * Headers of a page that loads only the gateway's own files. Pages with an editor have the wider
 * policy of http/csp.ts.
 */
export const PAGE_HEADERS: Readonly<Record<string, string>> = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-cache',
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; base-uri 'none'; " +
    "form-action 'none'; frame-ancestors 'none'",
};
