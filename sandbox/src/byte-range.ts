// One file's bytes as an answer, whole or the one range that was asked for (RFC 9110, section 14).
import { createHash } from 'node:crypto';

/**
 * First and last byte, both included; 'whole' when the header is absent or not understood, 'none'
 * when it lies outside.
 */
function readRange(header: string | null, size: number): { first: number; last: number } | 'whole' | 'none' {
  const [, from, to] = /^bytes=(\d*)-(\d*)$/.exec(header ?? '') ?? [];
  if (from === undefined || to === undefined || (from === '' && to === '')) return 'whole';
  if (from === '') {
    const length = Math.min(Number(to), size);
    return length === 0 ? 'none' : { first: size - length, last: size - 1 };
  }
  const first = Number(from);
  const last = to === '' ? size - 1 : Math.min(Number(to), size - 1);
  if (to !== '' && Number(to) < first) return 'whole';
  return first >= size ? 'none' : { first, last };
}

/** Answers GET and HEAD: 200, 206, 304 or 416, with length, entity tag and Accept-Ranges. */
export function serveBytes(request: Request, bytes: Uint8Array<ArrayBuffer>, contentType: string): Response {
  const etag = `"${createHash('sha256').update(bytes).digest('hex').slice(0, 32)}"`;
  const headers = {
    'content-type': contentType,
    'accept-ranges': 'bytes',
    etag,
    'cache-control': 'private, no-store',
  };
  if (request.headers.get('if-none-match') === etag) return new Response(null, { status: 304, headers });

  const ifRange = request.headers.get('if-range');
  const asked = ifRange === null || ifRange === etag ? request.headers.get('range') : null;
  const range = readRange(asked, bytes.length);
  if (range === 'none')
    return new Response(null, {
      status: 416,
      headers: { ...headers, 'content-range': `bytes */${bytes.length}` },
    });
  if (range === 'whole')
    return new Response(bytes, { headers: { ...headers, 'content-length': String(bytes.length) } });
  const part = bytes.slice(range.first, range.last + 1);
  return new Response(part, {
    status: 206,
    headers: {
      ...headers,
      'content-length': String(part.length),
      'content-range': `bytes ${range.first}-${range.last}/${bytes.length}`,
    },
  });
}
