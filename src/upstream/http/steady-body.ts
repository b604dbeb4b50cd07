// A body streamed to a client at the client's pace: limited in bytes, aborted when the upstream
// stalls.
import { pipeline, type Readable, Transform } from 'node:stream';
import { UpstreamError } from '../errors.ts';
import { STALL_MS } from '../operations.ts';
import { tooLarge } from './response-body.ts';

/** Bytes that come within {@link STALL_MS} at least while the client waits for them. */
const MIN_BYTES = 4 * 1024;

const dripping = (operation: string): UpstreamError =>
  new UpstreamError(`The upstream sends its answer to ${operation} too slowly. Try again.`, {
    operation,
    code: 'UPSTREAM_TIMEOUT',
    retryable: true,
  });

/** How much of a body may come, and how fast it must. */
export interface SteadyBodyOptions {
  readonly operation: string;
  readonly status: number;
  readonly maxBytes: number;
  /** What the time is multiplied with (`UPSTREAM_PATIENCE`). */
  readonly patience: number;
}

/**
 * Streams a body.
 *
 * @returns a stream that ends with an UpstreamError if the body is too large or slow
 */
export function steadyBody(body: Readable, options: SteadyBodyOptions): Readable {
  const { operation, status, maxBytes, patience } = options;
  let total = 0;
  let atLastLook = 0;
  const passed = new Transform({
    transform(chunk: Uint8Array, _, done) {
      total += chunk.byteLength;
      if (total > maxBytes) done(tooLarge(operation, status));
      else done(null, chunk);
    },
  });
  const timer = setInterval(() => {
    // Unread data: the client is slow, not the upstream.
    if (passed.readableLength > 0) atLastLook = total;
    else if (total - atLastLook < MIN_BYTES) passed.destroy(dripping(operation));
    else atLastLook = total;
  }, STALL_MS * patience).unref();
  // A failure reaches the reader through the stream itself.
  return pipeline(body, passed, () => clearInterval(timer));
}
