// The body of an answer: decompressed, limited in its pace, and read as bytes or JSON.
import { finished, pipeline, type Readable, Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { networkFailure, UpstreamError } from '../errors.ts';
import { parseJson } from '../json/parse-json.ts';
import type { StreamedResponse, Upstream } from './upstream-client.ts';

/** The first value of a header. */
export const headerValue = (value: string | string[] | undefined): string | undefined =>
  Array.isArray(value) ? value[0] : value;

/** Whether a status says that the body is the whole answer. */
export const isWhole = (status: number): boolean => status >= 200 && status < 300 && status !== 206;

/** Ends a body that is not wanted, and its connection where there is more of it. */
export function discard({ body }: Pick<StreamedResponse, 'body'>): void {
  body.on('error', () => undefined).destroy();
}

const DECODERS: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

/** Decompresses an answer, but not a range: compressed bytes cannot be read from their middle. */
export function decompress(answer: StreamedResponse): StreamedResponse {
  const { 'content-encoding': encoding, 'content-length': _, ...headers } = answer.headers;
  const createDecoder = DECODERS[String(encoding).trim().toLowerCase()];
  if (createDecoder === undefined || answer.status === 206) return answer;
  // A failure reaches the reader through the decoder.
  return { ...answer, headers, body: pipeline(answer.body, createDecoder(), () => undefined) };
}

/** A body that is larger than any honest answer. */
const tooLarge = (operation: string, status: number): UpstreamError =>
  new UpstreamError(`The upstream's answer to ${operation} is too large.`, {
    operation,
    code: 'UPSTREAM_DRIFT',
    status,
    retryable: false,
  });

const tooSlow = (operation: string): UpstreamError =>
  new UpstreamError(`The upstream sends its answer to ${operation} too slowly. Try again.`, {
    operation,
    code: 'UPSTREAM_TIMEOUT',
    retryable: true,
  });

/** Bytes that must come in each interval while the client waits for them. */
const MIN_BYTES = 4 * 1024;

/** Streams a body at its client's pace; an UpstreamError ends one too large or too slow. */
export function limitPace(answer: StreamedResponse, intervalMs: number): StreamedResponse {
  const { body, status, call } = answer;
  const { operation, maxBytes } = call;
  let total = 0;
  let lastTotal = 0;
  const passed = new Transform({
    transform(chunk: Uint8Array, _, done) {
      total += chunk.byteLength;
      if (total > maxBytes) done(tooLarge(operation, status));
      else done(null, chunk);
    },
  });
  const timer = setInterval(() => {
    // Unread data: the client is slow, not the upstream.
    if (passed.readableLength === 0 && total - lastTotal < MIN_BYTES) passed.destroy(tooSlow(operation));
    lastTotal = total;
  }, intervalMs).unref();
  // A failure reaches the reader through the stream itself.
  return { ...answer, body: pipeline(body, passed, () => clearInterval(timer)) };
}

/**
 * Collects chunks by events: iteration makes a promise for each, a third of a small answer's cost.
 */
const collect = (body: Readable, maxBytes: number, toError: () => Error): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    const chunks: Uint8Array[] = [];
    let size = 0;
    body.on('data', (chunk: Uint8Array) => {
      size += chunk.byteLength;
      if (size > maxBytes) body.destroy(toError());
      else chunks.push(chunk);
    });
    finished(body, (error) => (error == null ? resolve(Buffer.concat(chunks)) : reject(error)));
  });

/** Reads a whole body. @throws UpstreamError when it breaks off, is late or exceeds the limit */
export async function readBytes(up: Upstream, { body, status, call }: StreamedResponse): Promise<Buffer> {
  const { operation, maxBytes } = call;
  try {
    const bytes = await collect(body, maxBytes, () => tooLarge(operation, status));
    up.onBytes?.(operation, bytes.byteLength);
    return bytes;
  } catch (error) {
    throw networkFailure(operation, error, up.signal);
  }
}

/** Parses a whole body. @throws UpstreamError UPSTREAM_DRIFT when it is not JSON */
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

/**
 * Reads and parses a body in UTF-8; undefined for an empty one.
 *
 * @throws UpstreamError UPSTREAM_DRIFT
 */
export async function readAnyJson(up: Upstream, answer: StreamedResponse): Promise<unknown> {
  const bytes = await readBytes(up, answer);
  return bytes.byteLength === 0 ? undefined : parseJsonBody(answer.call.operation, bytes, answer.status);
}
