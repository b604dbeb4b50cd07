// Reads the body of an answer: as bytes within its limit, or as JSON.
import { finished, type Readable } from 'node:stream';
import { networkFailure, UpstreamError } from '../errors.ts';
import { parseJson } from '../json/parse-json.ts';
import type { StreamedResponse, Upstream } from './upstream-client.ts';

/** The first value of a header. */
export const headerValue = (value: string | string[] | undefined): string | undefined =>
  Array.isArray(value) ? value[0] : value;

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

/** Ends a body that is not wanted, and its connection where there is more of it. */
export function discard({ body }: Pick<StreamedResponse, 'body'>): void {
  body.on('error', () => undefined).destroy();
}

/** Collects chunks by events: iteration makes a promise for each, a third of a small answer's cost. */
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

/** Reads and parses a body in UTF-8; undefined for an empty one. @throws UpstreamError UPSTREAM_DRIFT */
export async function readAnyJson(up: Upstream, answer: StreamedResponse): Promise<unknown> {
  const bytes = await readBytes(up, answer);
  return bytes.byteLength === 0 ? undefined : parseJsonBody(answer.call.operation, bytes, answer.status);
}
