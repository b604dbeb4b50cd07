// Responses of the routes: a line of text, a file at hand with ETag and ranges (RFC 9110, section
// 14), a file of the service, and what answers a signed link.
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { LinkRefusal } from '../../context.ts';
import { matchesIfNoneMatch } from '../../etag.ts';
import type { StreamedResponse } from '../../upstream/http/call.ts';
import { discard } from '../../upstream/http/response-body.ts';
import { LINK_MINUTES } from '../access/signed-links.ts';
import type { Exchange, HttpResponse } from '../exchange.ts';

type Headers = Readonly<Record<string, string>>;

/** One line of text, such as a refusal. */
export const textResponse = (status: number, text: string, headers: Headers = {}): HttpResponse => ({
  status,
  headers: { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store', ...headers },
  body: `${text}\n`,
});

/** The named headers of a request or a response. @param read - gives a header by its name */
export const pickHeaders = (
  read: (name: string) => string | string[] | null | undefined,
  names: readonly string[],
): Record<string, string> =>
  Object.fromEntries(
    names.flatMap((name) => {
      const value = read(name);
      return typeof value === 'string' && /^[\x20-\x7e]*$/.test(value) ? [[name, value]] : [];
    }),
  );

/** The range of a request. Only GET has ranges (RFC 9110, section 14.2). */
export const rangeHeaders = ({
  method,
  headers,
}: Pick<Exchange, 'method' | 'headers'>): Record<string, string> =>
  method === 'GET' ? pickHeaders((name) => headers[name], ['range', 'if-range']) : {};

/** Headers of the service that describe the bytes of a file. */
const DESCRIBING = ['content-length', 'content-range', 'accept-ranges', 'etag', 'last-modified'];

/**
 * A file of the service, streamed; without a body where the service sends none of the file. Whether
 * it has ranges is for the service to say.
 */
export function forwardFile(
  answer: StreamedResponse,
  { 'accept-ranges': _, ...headers }: Headers,
): HttpResponse {
  const { status, body } = answer;
  const described = { ...pickHeaders((name) => answer.headers[name], DESCRIBING), ...headers };
  if (status !== 304 && status !== 416) return { status, headers: described, body };
  discard(answer);
  delete described['content-length'];
  return { status, headers: described, body: null };
}

/** The content-disposition of a file with this name. */
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
 * The bytes of a text that is written piece by piece, each in a turn of the event loop of its own.
 */
export async function* encodePieces(pieces: Iterable<string>): AsyncGenerator<Uint8Array> {
  for (const piece of pieces) {
    yield Buffer.from(piece);
    await nextTurn();
  }
}

/** An id in a path; null where its escapes are wrong. */
export function decodeId(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
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
 * A file that is at hand: nothing when the client has it, and the requested range where the headers
 * say that there are ranges.
 *
 * @param headers - with its `etag`; `content-encoding` where the content is compressed
 */
export function fileResponse(
  exchange: Pick<Exchange, 'method' | 'headers'>,
  content: Uint8Array,
  headers: Headers & { readonly etag: string },
): HttpResponse {
  const { 'content-encoding': _, ...uncoded } = headers;
  if (matchesIfNoneMatch(exchange.headers['if-none-match'], headers.etag))
    return { status: 304, headers: uncoded, body: null };
  const size = content.byteLength;
  const { range: wanted = null, 'if-range': condition = headers.etag } = rangeHeaders(exchange);
  const hasRanges = 'accept-ranges' in headers && condition === headers.etag;
  const range = hasRanges ? byteRange(wanted, size) : null;
  if (range === 'unsatisfiable')
    return { status: 416, headers: { ...headers, 'content-range': `bytes */${size}` }, body: null };
  const { start, end } = range ?? { start: 0, end: size };
  return {
    status: range === null ? 200 : 206,
    headers: {
      ...headers,
      'content-length': String(end - start),
      ...(range === null ? {} : { 'content-range': `bytes ${start}-${end - 1}/${size}` }),
    },
    body: content.subarray(start, end),
  };
}

/**
 * Headers of a file that came by a signed link. Pages of any site may read it, because the link is
 * all that it takes; no cache may keep it longer than the link opens.
 */
export const LINK_HEADERS: Headers = {
  'cache-control': 'private, no-store',
  'access-control-allow-origin': '*',
  'access-control-expose-headers': 'content-disposition, content-length, content-range, etag',
  'cross-origin-resource-policy': 'cross-origin',
};

/** The answer to a link that opens nothing. */
export const refuseLink = (refusal: LinkRefusal): HttpResponse =>
  textResponse(
    403,
    refusal === 'expired'
      ? `This link has expired: links open for ${LINK_MINUTES} minutes. Ask for \`signedUrl\` again.`
      : 'The signature of this link is not valid for this file. Ask for `signedUrl` again.',
    LINK_HEADERS,
  );
