// Sends a request and reads its answer whole, within a byte limit and a time limit.
import type { Dispatcher } from 'undici';
import type { Clock } from '../../async/clock.ts';
import type { Operation } from '../operations.ts';
import type { UpstreamResponse } from './call.ts';
import { MAX_REFUSAL_BYTES, tooLarge } from './response-body.ts';

/** The request options of one try of a call, and the limits of its answer. */
export interface Attempt {
  readonly operation: Operation;
  readonly dispatcher: Dispatcher;
  readonly request: Dispatcher.DispatchOptions;
  readonly signal: AbortSignal | undefined;
  /** Milliseconds until the answer is there to its end. */
  readonly wholeMs: number;
  /** Milliseconds after which a body that stands still is given up. */
  readonly stallMs: number;
  readonly maxBytes: number;
  readonly clock: Clock;
  /** Called when the answer begins. */
  begin(status: number): void;
}

/**
 * Sends a request and reads its answer without a stream, which costs more than the rest of a small
 * call. The status of a refusal counts even if its body cannot be read.
 *
 * @throws what undici says of a request that failed; a TimeoutError; the signal's reason
 */
export function requestWhole(attempt: Attempt): Promise<UpstreamResponse> {
  const { operation, dispatcher, request, signal, wholeMs, maxBytes, clock } = attempt;
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const chunks: Buffer[] = [];
    let size = 0;
    let status = 0;
    let headers: UpstreamResponse['headers'] = {};
    let controller: Dispatcher.DispatchController | undefined;
    let hasEnded = false;

    const timeOut = (): void => abort(new DOMException('The time is up', 'TimeoutError'));
    const stopTimer = clock.after(wholeMs, timeOut, { ref: false });
    const leave = (): void => abort(signal?.reason);
    signal?.addEventListener('abort', leave);

    function end(): void {
      hasEnded = true;
      stopTimer();
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
        attempt.begin(code);
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
