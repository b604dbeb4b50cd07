// Limits the size of an upstream response body and decompresses it. The gateway asks for no
// compression, but a proxy or a store may send bodies compressed.
import { pipeline, type Readable, type Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { readAtMost } from '../../async/read-at-most.ts';
import { UpstreamError } from '../errors.ts';
import type { StreamedResponse, UpstreamResponse } from './call.ts';

/** The first value of a header. */
export const headerValue = (value: string | string[] | undefined): string | undefined =>
  Array.isArray(value) ? value[0] : value;

/** Bytes of an answer that says why there is none. */
export const MAX_REFUSAL_BYTES = 256 * 1024;

/** A body that is larger than any honest answer. */
export const tooLarge = (operation: string, status: number): UpstreamError =>
  new UpstreamError(`The upstream's answer to ${operation} is too large.`, {
    operation,
    code: 'UPSTREAM_DRIFT',
    status,
    retryable: false,
  });

const DECODERS: ReadonlyMap<string, () => Transform> = new Map([
  ['gzip', createGunzip],
  ['deflate', createInflate],
  ['br', createBrotliDecompress],
]);

/** A decoder for a body; undefined for one that can be read as it is. */
function openDecoder({ headers }: Pick<UpstreamResponse, 'headers'>): Transform | undefined {
  const encoding = headers['content-encoding'];
  return encoding === undefined ? undefined : DECODERS.get(String(encoding).trim().toLowerCase())?.();
}

/** The answer with its body decompressed. @throws Error, also for more than `maxBytes` */
export async function decompress(answer: UpstreamResponse, maxBytes: number): Promise<UpstreamResponse> {
  const { operation, status, body } = answer;
  const decoder = body.byteLength === 0 ? undefined : openDecoder(answer);
  if (decoder === undefined) return answer;
  decoder.end(body);
  const reading = readAtMost(decoder, maxBytes, () => tooLarge(operation, status));
  // The status of a refusal counts even if its body cannot be read.
  return { ...answer, body: await (status >= 400 ? reading.catch(() => Buffer.alloc(0)) : reading) };
}

/** The same of a stream, but not of a range: compressed bytes cannot be read from their middle. */
export function decompressStream(answer: StreamedResponse): StreamedResponse {
  const decoder = answer.status === 206 ? undefined : openDecoder(answer);
  if (decoder === undefined) return answer;
  const { 'content-encoding': _, 'content-length': __, ...headers } = answer.headers;
  // A failure reaches the reader through the decoder.
  return { ...answer, headers, body: pipeline(answer.body, decoder, () => undefined) };
}

/** Reads a small body that is streamed. */
export const readSmall = ({ body, operation, status }: StreamedResponse): Promise<Buffer> =>
  readAtMost(body, MAX_REFUSAL_BYTES, () => tooLarge(operation, status));

/** Ends a body that is not wanted, and its connection where there is more of it. */
export function discard({ body }: { readonly body: Readable }): void {
  body.on('error', () => undefined).destroy();
}
