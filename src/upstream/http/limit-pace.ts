// Streams bodies at the pace of their reader.
import { pipeline, Transform } from 'node:stream';
import { asError, networkFailure, UpstreamError } from '../errors.ts';
import type { StreamedResponse } from './call.ts';
import { decompressStream, tooLarge } from './response-body.ts';

const tooSlow = (operation: string): UpstreamError =>
  new UpstreamError(`The upstream sends its answer to ${operation} too slowly. Try again.`, {
    operation,
    code: 'UPSTREAM_TIMEOUT',
    retryable: true,
  });

/** Bytes that must come in each interval while the client waits for them. */
const MIN_BYTES = 4 * 1024;

/**
 * Streams a body, decompressed, at its reader's pace. An UpstreamError ends one that is too large
 * too slow, or breaks off.
 */
export function limitPace(
  compressed: StreamedResponse,
  maxBytes: number,
  intervalMs: number,
  signal: AbortSignal | undefined,
): StreamedResponse {
  const answer = decompressStream(compressed);
  const { body, status, operation } = answer;
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
  // Before the listener of the pipeline, which would pass on the error of the connection.
  body.once('error', (error) => passed.destroy(asError(networkFailure(operation, error, signal, true))));
  // A failure reaches the reader through the stream itself.
  return { ...answer, body: pipeline(body, passed, () => clearInterval(timer)) };
}
