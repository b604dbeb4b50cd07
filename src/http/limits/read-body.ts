// Reads bodies into memory, with a limit for each and one for all together. `requestTimeout` of the
// server bounds the time.
import type { IncomingMessage, ServerResponse } from 'node:http';

/** Bytes of a body that a caller without credentials may send, and of a message over WebSocket. */
export const MAX_ANONYMOUS_BODY_BYTES = 1024 * 1024;

/** Bytes of all bodies that a process holds, until their responses are closed. */
const MAX_TOTAL_BYTES = 128 * 1024 * 1024;

/** Objects and lists of a body; once parsed, each takes some 50 bytes. */
export const MAX_BODY_BRACKETS = 1_000_000;
const [BRACKET, BRACE] = Buffer.from('[{');

/**
 * Why there is no body: it is too large, it would take many times its size when it is parsed, there
 * is no memory for it, or its client has disconnected.
 */
export type BodyFailure = 'too_large' | 'too_many_brackets' | 'no_memory' | 'disconnected';

/** Reads the whole body of a request. After a failure node:http drops the rest of the body. */
export type BodyReader = (
  incoming: IncomingMessage,
  response: ServerResponse,
  maxBytes: number,
) => Promise<Buffer | BodyFailure>;

export function createBodyReader(maxTotalBytes = MAX_TOTAL_BYTES): BodyReader {
  let totalBytes = 0;
  return (incoming, response, maxBytes) =>
    new Promise((resolve) => {
      if (Number(incoming.headers['content-length'] ?? 0) > maxBytes) return resolve('too_large');
      const chunks: Buffer[] = [];
      let bytes = 0;
      const release = (): void => {
        totalBytes -= bytes;
        bytes = 0;
        chunks.length = 0;
      };
      const add = (chunk: Buffer): void => {
        bytes += chunk.length;
        totalBytes += chunk.length;
        chunks.push(chunk);
        if (bytes <= maxBytes && totalBytes <= maxTotalBytes) return;
        resolve(bytes > maxBytes ? 'too_large' : 'no_memory');
        incoming.off('data', add);
        release();
      };
      incoming
        .on('data', add)
        .once('end', () => {
          const body = Buffer.concat(chunks);
          resolve(hasTooManyBrackets(body) ? 'too_many_brackets' : body);
        })
        .once('close', () => resolve('disconnected'))
        .on('error', () => undefined);
      response.once('close', release);
    });
}

function hasTooManyBrackets(body: Buffer): boolean {
  if (body.length <= MAX_BODY_BRACKETS) return false;
  let brackets = 0;
  for (const byte of body) if (byte === BRACKET || byte === BRACE) brackets += 1;
  return brackets > MAX_BODY_BRACKETS;
}
