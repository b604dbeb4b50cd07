// Reads bodies into memory, with a limit for each and one for all together. `requestTimeout` of the
// server bounds the time.
import type { IncomingMessage } from 'node:http';

/** Bytes of a body that a caller without credentials may send, and of a message over WebSocket. */
export const MAX_ANONYMOUS_BODY_BYTES = 1024 * 1024;

/** Bytes of all bodies that a process holds, until their responses are closed. */
const MAX_TOTAL_BYTES = 128 * 1024 * 1024;

/**
 * Why there is no body: it is too large, there is no memory for it, or its client has disconnected.
 */
export type BodyFailure = 'too_large' | 'no_memory' | 'disconnected';

export interface BodyReader {
  /** Reads the whole body of a request. After a failure node:http drops the rest of the body. */
  read(incoming: IncomingMessage, maxBytes: number): Promise<Buffer | BodyFailure>;
  /** Counts a body that was read in another way; `release` it as well. */
  hold(body: Buffer): Buffer | BodyFailure;
  /** Releases the memory of a body that was read, when its response is closed. */
  release(body: Buffer): void;
}

export function createBodyReader(maxTotalBytes = MAX_TOTAL_BYTES): BodyReader {
  let totalBytes = 0;
  return {
    read: (incoming, maxBytes) =>
      new Promise((resolve) => {
        if (Number(incoming.headers['content-length'] ?? 0) > maxBytes) return resolve('too_large');
        const chunks: Buffer[] = [];
        let bytes = 0;
        let hasEnded = false;
        const end = (result: Buffer | BodyFailure): void => {
          if (hasEnded) return;
          hasEnded = true;
          if (typeof result === 'string') totalBytes -= bytes;
          chunks.length = 0;
          resolve(result);
        };
        incoming
          .on('data', (chunk: Buffer) => {
            if (hasEnded) return;
            bytes += chunk.length;
            totalBytes += chunk.length;
            chunks.push(chunk);
            if (bytes > maxBytes) end('too_large');
            else if (totalBytes > maxTotalBytes) end('no_memory');
          })
          .on('end', () => {
            const [first] = chunks;
            end(first !== undefined && chunks.length === 1 ? first : Buffer.concat(chunks));
          })
          .on('close', () => end('disconnected'))
          .on('error', () => undefined);
      }),
    hold(body) {
      if (totalBytes + body.length > maxTotalBytes) return 'no_memory';
      totalBytes += body.length;
      return body;
    },
    release({ length }) {
      totalBytes -= length;
    },
  };
}
