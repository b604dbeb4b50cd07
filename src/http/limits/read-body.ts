// Reads bodies into memory: bytes of each, and of all together. The server's `requestTimeout` bounds the
// time.
import type { IncomingMessage, ServerResponse } from 'node:http';

/** Bytes of a body that a caller without credentials may send, and of a message over WebSocket. */
export const MAX_ANONYMOUS_BODY_BYTES = 1024 * 1024;

/** Bytes of all bodies that a process holds, until their responses are closed. */
const MAX_TOTAL_BYTES = 128 * 1024 * 1024;

/**
 * Why there is no body: it is larger than the limit, there is no memory for it, or its client has
 * disconnected.
 */
export type BodyFailure = 'too_large' | 'no_memory' | 'disconnected';

/**
 * Reads the whole body of a request. Of one that fails node:http drops the rest once the request is
 * answered.
 */
export type BodyReader = (
  incoming: IncomingMessage,
  response: ServerResponse,
  maxBytes: number,
) => Promise<Buffer | BodyFailure>;

export function createBodyReader(maxTotalBytes = MAX_TOTAL_BYTES): BodyReader {
  let total = 0;
  return (incoming, response, maxBytes) =>
    new Promise((resolve) => {
      if (Number(incoming.headers['content-length'] ?? 0) > maxBytes) return resolve('too_large');
      const chunks: Buffer[] = [];
      let bytes = 0;
      const release = (): void => {
        total -= bytes;
        bytes = 0;
      };
      const fail = (failure: BodyFailure): void => {
        incoming.off('data', add);
        chunks.length = 0;
        release();
        resolve(failure);
      };
      const add = (chunk: Buffer): void => {
        const { length } = chunk;
        if (bytes + length > maxBytes) fail('too_large');
        else if (total + length > maxTotalBytes) fail('no_memory');
        else {
          chunks.push(chunk);
          bytes += length;
          total += length;
        }
      };
      incoming
        .on('data', add)
        .once('end', () => resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)))
        .once('close', () => resolve('disconnected'))
        .on('error', () => undefined);
      response.once('close', release);
    });
}
