// The file routes, which are answered before GraphQL sees the request, and what they answer with: refusals,
// GET and HEAD only, upstream errors as HTTP statuses, files with ETag and ranges (RFC 9110, section 14).
import { GraphQLError } from 'graphql';
import { matchesIfNoneMatch } from '../../etag.ts';
import { StoreError } from '../../store/redis-connection.ts';
import { UpstreamError } from '../../upstream/errors.ts';
import { discard } from '../../upstream/http/response-body.ts';
import type { StreamedResponse } from '../../upstream/http/upstream-client.ts';
import { nodeResponseOf } from '../auth/node-request.ts';
import { LINK_MINUTES, type LinkRefusal } from '../auth/signed-links.ts';
import { STATUS_OF_CODE } from '../errors.ts';
import { leaveSource, streamOf } from '../graphql/stream-body.ts';
import { isAbort, STORE_AWAY, TOOK_TOO_LONG } from '../plugins/errors.ts';

/** A refusal as one line of text. */
export const textResponse = (status: number, text: string, headers: Record<string, string> = {}): Response =>
  new Response(`${text}\n`, {
    status,
    headers: {
      'content-type': 'text/plain; charset=utf-8',
      'cache-control': 'no-store',
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

/** What a request says of a range: only GET has ranges (RFC 9110, section 14.2). */
export const rangeHeaders = ({ method, headers }: Request): Record<string, string> =>
  method === 'GET' ? forwardedHeaders((name) => headers.get(name), ['range', 'if-range']) : {};

/**
 * A file that is sent while it is read: its source is left when the client disconnects, and the
 * connection is cut when the source fails.
 */
export interface StreamedFile {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: AsyncIterable<Uint8Array>;
}

export type RouteAnswer = Response | StreamedFile;

/** The upstream's headers that describe the bytes of a file. */
const DESCRIBING = ['content-length', 'content-range', 'accept-ranges', 'etag', 'last-modified'];

/** A file of the upstream, streamed; without a body where the upstream sends none of the file. */
export function forwardedFile(answer: StreamedResponse, headers: Record<string, string>): RouteAnswer {
  const { status, body } = answer;
  const described = { ...forwardedHeaders((name) => answer.headers[name], DESCRIBING), ...headers };
  if (status !== 304 && status !== 416) return { status, headers: described, body };
  discard(answer);
  delete described['content-length'];
  return new Response(null, { status, headers: described });
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

const STATUS_OF_FILE: Readonly<Record<string, number>> = {
  ...STATUS_OF_CODE,
  BAD_USER_INPUT: 400,
  QUERY_TOO_EXPENSIVE: 400,
  NOT_FOUND: 404,
  RESULT_EXPIRED: 410,
};

/** What a failure with a code is as an HTTP answer of ours; undefined for any other error. */
function failureAnswer(error: unknown): Response | undefined {
  if (error instanceof StoreError) return textResponse(503, STORE_AWAY, { 'retry-after': '5' });
  const known = error instanceof UpstreamError || error instanceof GraphQLError ? error : undefined;
  const about = known instanceof UpstreamError ? known.failure : known?.extensions;
  if (known === undefined || typeof about?.code !== 'string') return undefined;
  const status =
    known instanceof GraphQLError && known.extensions.http?.status !== undefined
      ? known.extensions.http.status
      : (STATUS_OF_FILE[about.code] ?? 502);
  return textResponse(status, known.message, {
    ...(typeof about.retryAfterSeconds === 'number'
      ? { 'retry-after': String(about.retryAfterSeconds) }
      : {}),
    ...(status === 401 ? { 'www-authenticate': 'Bearer' } : {}),
  });
}

const METHODS = {
  GET: ['GET, HEAD', 'This address can only be read. GraphQL is at /graphql.'],
  POST: ['POST', 'Send the list of identifiers by POST.'],
} as const;

/** Runs a route for its method, refuses others, and maps upstream errors to statuses. */
async function handleMethod(
  request: Request,
  method: keyof typeof METHODS,
  answer: () => Promise<RouteAnswer>,
): Promise<RouteAnswer> {
  const [allow, refusal] = METHODS[method];
  if (!allow.split(', ').includes(request.method)) return textResponse(405, refusal, { allow });
  try {
    const answered = await answer();
    if (request.method !== 'HEAD') return answered;
    if (answered instanceof Response) await answered.body?.cancel();
    else await leaveSource(answered.body);
    return new Response(null, { status: answered.status, headers: answered.headers });
  } catch (error) {
    const isLate = isAbort(error) && !request.signal.aborted;
    const refusal = isLate ? textResponse(504, TOOK_TOO_LONG) : failureAnswer(error);
    if (refusal === undefined) throw error;
    return refusal;
  }
}

/** A request for a route. */
export interface RouteRequest {
  readonly request: Request;
  readonly url: URL;
  /** What the groups of the route's path found. */
  readonly parts: readonly string[];
  /** The server adapter's. */
  readonly serverContext: unknown;
}

/** What answers some paths. */
export interface Route {
  readonly path: RegExp;
  /** Which requests for the path it takes; all when absent. */
  readonly takes?: (request: Request) => boolean;
  /** GET when absent, and HEAD with it. */
  readonly method?: keyof typeof METHODS;
  /** Whether it answers all methods. */
  readonly isForAllMethods?: boolean;
  readonly answer: (asked: RouteRequest) => Promise<RouteAnswer> | RouteAnswer;
}

/** The answer of the first route that takes the request. A POST to GraphQL is for none of them. */
export async function answerRoute(
  routes: readonly Route[],
  request: Request,
  serverContext: unknown,
): Promise<Response | undefined> {
  const url = new URL(request.url);
  for (const { path, takes, method = 'GET', isForAllMethods, answer } of routes) {
    const [found, ...parts] = path.exec(url.pathname) ?? [];
    if (found === undefined || takes?.(request) === false) continue;
    const asked = { request, url, parts, serverContext };
    const answered =
      isForAllMethods === true
        ? await answer(asked)
        : await handleMethod(request, method, async () => answer(asked));
    if (answered instanceof Response) return answered;
    const connection = nodeResponseOf(serverContext);
    const { body, status, headers } = answered;
    return new Response(streamOf(body, { write: (bytes) => bytes, connection }), { status, headers });
  }
  return undefined;
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

/**
 * A file that is at hand: nothing when the client has it, and the range asked for where the headers
 * say that there are ranges.
 *
 * @param headers - with its `etag`; `content-encoding` where the content is compressed
 */
export function fileResponse(
  request: Request,
  content: Uint8Array<ArrayBuffer>,
  headers: Readonly<Record<string, string>> & { readonly etag: string },
): Response {
  const { 'content-encoding': _, ...uncoded } = headers;
  if (matchesIfNoneMatch(request.headers.get('if-none-match'), headers.etag))
    return new Response(null, { status: 304, headers: uncoded });
  const size = content.byteLength;
  const { range: wanted = null, 'if-range': condition = headers.etag } = rangeHeaders(request);
  const isRangeMeant = 'accept-ranges' in headers && condition === headers.etag;
  const range = isRangeMeant ? byteRange(wanted, size) : null;
  if (range === 'unsatisfiable')
    return new Response(null, { status: 416, headers: { ...headers, 'content-range': `bytes */${size}` } });
  const { start, end } = range ?? { start: 0, end: size };
  return new Response(content.subarray(start, end), {
    status: range === null ? 200 : 206,
    headers: {
      ...headers,
      'content-length': String(end - start),
      ...(range === null ? {} : { 'content-range': `bytes ${start}-${end - 1}/${size}` }),
    },
  });
}

/**
 * Headers of a page that loads only the gateway's own files. Pages with an editor have the wider
 * policy of pages/html.ts.
 */
export const PAGE_HEADERS: Readonly<Record<string, string>> = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-cache',
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
};

export const TEXT_HEADERS = { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-cache' };
