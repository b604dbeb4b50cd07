// Reads the body of a request into memory, up to a limit. The server's `requestTimeout` bounds the time.
import type { IncomingMessage } from 'node:http';

/** Bytes of a body that a caller without credentials may send, and of a message over WebSocket. */
export const MAX_ANONYMOUS_BODY_BYTES = 1024 * 1024;

/** Why there is no body: larger than the limit, or its client has disconnected. */
export type BodyFailure = 'too_large' | 'disconnected';

/**
 * Reads the whole body. Of one that is too large node:http drops the rest once the request is
 * answered.
 */
export function readBody(incoming: IncomingMessage, maxBytes: number): Promise<Buffer | BodyFailure> {
  return new Promise((resolve) => {
    if (Number(incoming.headers['content-length'] ?? 0) > maxBytes) return resolve('too_large');
    const chunks: Buffer[] = [];
    let bytes = 0;
    const add = (chunk: Buffer): void => {
      bytes += chunk.length;
      if (bytes <= maxBytes) return void chunks.push(chunk);
      chunks.length = 0;
      resolve('too_large');
    };
    incoming
      .on('data', add)
      .once('end', () => resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)))
      .once('close', () => resolve('disconnected'))
      .on('error', () => undefined);
  });
}
