// The body of an answer: read whole within a byte limit, or streamed at the pace of its reader.
import { pipeline, Transform } from 'node:stream';
import { promisify } from 'node:util';
import {
  brotliDecompress,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  gunzip,
  inflate,
} from 'node:zlib';
import type { Dispatcher } from 'undici';
import { readAtMost } from '../../async/read-at-most.ts';
import { UpstreamError } from '../errors.ts';
import { parseJson } from '../json/parse-json.ts';
import type { Operation } from '../operations.ts';
import type { StreamedResponse, UpstreamResponse } from './upstream-client.ts';

/** The first value of a header. */
export const headerValue = (value: string | string[] | undefined): string | undefined =>
  Array.isArray(value) ? value[0] : value;

/** Whether a status says that the body is the whole answer. */
export const isWhole = (status: number): boolean => status >= 200 && status < 300 && status !== 206;

/** Ends a body that is not wanted, and its connection where there is more of it. */
export function discard({ body }: Pick<StreamedResponse, 'body'>): void {
  body.on('error', () => undefined).destroy();
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

/** Bytes of an answer that says why there is none. */
const MAX_REFUSAL_BYTES = 256 * 1024;

export interface ReadOptions {
  readonly operation: Operation;
  readonly maxBytes: number;
  /** Milliseconds until the answer is there to its end. */
  readonly wholeMs: number;
  readonly signal: AbortSignal | undefined;
  /** Called when the answer begins. */
  readonly onStart: (status: number) => void;
}

/**
 * Sends a request and reads its answer without a stream, which costs more than the rest of a small
 * call. Of a refusal whose body cannot be read only the status counts.
 *
 * @throws what undici says of a request that failed; a TimeoutError; the signal's reason
 */
export function exchange(
  dispatcher: Dispatcher,
  request: Dispatcher.DispatchOptions,
  { operation, maxBytes, wholeMs, signal, onStart }: ReadOptions,
): Promise<UpstreamResponse> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const chunks: Buffer[] = [];
    let size = 0;
    let status = 0;
    let headers: UpstreamResponse['headers'] = {};
    let controller: Dispatcher.DispatchController | undefined;
    let hasEnded = false;

    const timer = setTimeout(
      () => abort(new DOMException('The time is up', 'TimeoutError')),
      wholeMs,
    ).unref();
    const leave = (): void => abort(signal?.reason);
    signal?.addEventListener('abort', leave);

    function end(): void {
      hasEnded = true;
      clearTimeout(timer);
      signal?.removeEventListener('abort', leave);
    }
    function fail(error: unknown): void {
      if (hasEnded) return;
      end();
      if (status >= 400 && signal?.aborted !== true)
        resolve({ operation, status, headers, body: Buffer.alloc(0) });
      else reject(error);
    }
    function abort(reason: Error): void {
      fail(reason);
      controller?.abort(reason);
    }

    dispatcher.dispatch(request, {
      onRequestStart(started) {
        controller = started;
        // The time was up, or the caller left, while a connection was made.
        if (hasEnded) started.abort(new DOMException('The request is not wanted any more', 'AbortError'));
      },
      onResponseStart(_, code, received) {
        // 100 and 103 come before the answer.
        if (code < 200) return;
        status = code;
        headers = received;
        onStart(code);
      },
      onResponseData(_, chunk) {
        size += chunk.byteLength;
        if (size > (status >= 400 ? MAX_REFUSAL_BYTES : maxBytes)) abort(tooLarge(operation, status));
        else chunks.push(chunk);
      },
      onResponseEnd() {
        end();
        resolve({ operation, status, headers, body: Buffer.concat(chunks, size) });
      },
      onResponseError: (_, error) => fail(error),
    });
  });
}

const DECOMPRESS = {
  gzip: promisify(gunzip),
  deflate: promisify(inflate),
  br: promisify(brotliDecompress),
} as const;
const DECODERS = { gzip: createGunzip, deflate: createInflate, br: createBrotliDecompress } as const;

/** The encoding of a body; undefined for one that can be read as it is. */
function compression({ headers }: Pick<UpstreamResponse, 'headers'>): keyof typeof DECODERS | undefined {
  const name = headers['content-encoding'];
  if (name === undefined) return undefined;
  const encoding = String(name).trim().toLowerCase();
  return encoding === 'gzip' || encoding === 'deflate' || encoding === 'br' ? encoding : undefined;
}

/** The answer with its body decompressed. @throws Error also for more than `maxBytes` */
export async function decompress(answer: UpstreamResponse, maxBytes: number): Promise<UpstreamResponse> {
  const encoding = compression(answer);
  if (encoding === undefined || answer.body.byteLength === 0) return answer;
  try {
    return { ...answer, body: await DECOMPRESS[encoding](answer.body, { maxOutputLength: maxBytes }) };
  } catch (error) {
    if (answer.status >= 400) return { ...answer, body: Buffer.alloc(0) };
    const isLarge = error instanceof RangeError;
    throw isLarge ? tooLarge(answer.operation, answer.status) : error;
  }
}

/** Decompresses a stream, but not a range: compressed bytes cannot be read from their middle. */
function decompressStream(answer: StreamedResponse): StreamedResponse {
  const encoding = compression(answer);
  if (encoding === undefined || answer.status === 206) return answer;
  const { 'content-encoding': _, 'content-length': __, ...headers } = answer.headers;
  // A failure reaches the reader through the decoder.
  return { ...answer, headers, body: pipeline(answer.body, DECODERS[encoding](), () => undefined) };
}

/** Bytes that must come in each interval while the client waits for them. */
const MIN_BYTES = 4 * 1024;

/**
 * Streams a body, decompressed, at its reader's pace. An UpstreamError ends one that is too large
 * or too slow.
 */
export function limitPace(
  compressed: StreamedResponse,
  maxBytes: number,
  intervalMs: number,
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
  // A failure reaches the reader through the stream itself.
  return { ...answer, body: pipeline(body, passed, () => clearInterval(timer)) };
}

/** Reads the rest of a small body that is streamed. */
export const readSmall = ({ body, operation, status }: StreamedResponse): Promise<Buffer> =>
  readAtMost(body, MAX_REFUSAL_BYTES, () => tooLarge(operation, status));

/** Parses JSON of the service. @throws UpstreamError UPSTREAM_DRIFT when it is not JSON */
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

/** The JSON of an answer; undefined for an empty one. @throws UpstreamError UPSTREAM_DRIFT */
export const readAnyJson = async ({ operation, body, status }: UpstreamResponse): Promise<unknown> =>
  body.byteLength === 0 ? undefined : parseJsonBody(operation, body, status);
