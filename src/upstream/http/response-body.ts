// Reads the body of an answer: as bytes within its limit, or as JSON.
import { finished, type Readable } from 'node:stream';
import { networkFailure, UpstreamError } from '../errors.ts';
import { parseJson } from '../json/parse-json.ts';
import type { StreamedResponse, Upstream } from './upstream-client.ts';

const NO_BYTES = new Uint8Array();

/** The first value of a header. */
export const headerValue = (value: string | string[] | undefined): string | undefined =>
  Array.isArray(value) ? value[0] : value;

/** Reads chunks by events: iteration makes a promise for each, a third of a small answer's cost. */
const eachPiece = (body: Readable, take: (piece: Uint8Array) => void): Promise<void> =>
  new Promise((resolve, reject) => {
    body.on('data', (piece: Uint8Array) => {
      try {
        take(piece);
      } catch (error) {
        reject(error);
        body.destroy();
      }
    });
    finished(body, (error) => (error == null ? resolve() : reject(error)));
  });

/** A body that is larger than any honest answer. */
export const tooLarge = (operation: string, status: number): UpstreamError =>
  new UpstreamError(`The upstream's answer to ${operation} is too large.`, {
    operation,
    code: 'UPSTREAM_DRIFT',
    status,
    retryable: false,
  });

/** Whether a status says that the body is the whole answer. */
export const isWhole = (status: number): boolean => status >= 200 && status < 300 && status !== 206;

/** Lets go of a body that is not wanted, and of its connection where there is more of it. */
export function discard({ body }: Pick<StreamedResponse, 'body'>): void {
  body.on('error', () => undefined).destroy();
}

/** Reads a body that comes in pieces. @returns how many bytes */
async function readPieces(
  up: Upstream,
  { body, status, call: { operation, maxBytes } }: StreamedResponse,
  take: (piece: Uint8Array) => void,
): Promise<number> {
  let size = 0;
  try {
    await eachPiece(body, (piece) => {
      size += piece.byteLength;
      if (size > maxBytes) throw tooLarge(operation, status);
      take(piece);
    });
  } catch (error) {
    throw networkFailure(operation, error, up.signal);
  }
  return size;
}

/**
 * Reads a whole body.
 *
 * @throws {@link UpstreamError} when it breaks off, is late or exceeds the limit
 */
export async function readBytes(up: Upstream, answer: StreamedResponse): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  const size = await readPieces(up, answer, (piece) => pieces.push(piece));
  up.onBytes?.(answer.call.operation, size);
  const [first = NO_BYTES] = pieces;
  return pieces.length <= 1 ? first : Buffer.concat(pieces);
}

/** Parses a whole body. @throws {@link UpstreamError} UPSTREAM_DRIFT when it is no JSON */
export async function parseJsonBody(operation: string, bytes: Uint8Array, status = 200): Promise<unknown> {
  try {
    return await parseJson(bytes);
  } catch (error) {
    throw new UpstreamError(
      `The upstream's answer to ${operation} is not JSON.`,
      { operation, code: 'UPSTREAM_DRIFT', status, retryable: true },
      { cause: error },
    );
  }
}

/** The bytes in UTF-8, which JSON is in unless the answer says otherwise. */
function inUtf8(bytes: Uint8Array, contentType: string | undefined): Uint8Array {
  const charset = /;\s*charset\s*=\s*"?([\w.:-]+)/i.exec(contentType ?? '')?.[1];
  if (charset === undefined || /^(utf-?8|us-ascii)$/i.test(charset)) return bytes;
  try {
    return new TextEncoder().encode(new TextDecoder(charset).decode(bytes));
  } catch {
    // An unknown character set: UTF-8 is the better guess.
    return bytes;
  }
}

/** Reads and parses a body; undefined for an empty one. @throws UpstreamError UPSTREAM_DRIFT for invalid JSON */
export async function readAnyJson(up: Upstream, answer: StreamedResponse): Promise<unknown> {
  const { call, status, headers } = answer;
  const bytes = inUtf8(await readBytes(up, answer), headerValue(headers['content-type']));
  return bytes.byteLength === 0 ? undefined : parseJsonBody(call.operation, bytes, status);
}
