// Time limits: one joined with a caller's AbortSignal, and one of a promise. Not
// `AbortSignal.timeout`: its timer cannot be cleared, and Node 20 may collect one that only
// `AbortSignal.any` refers to before it fires.
import { setMaxListeners } from 'node:events';
import { type Clock, systemClock } from './clock.ts';

/** A time limit joined with a caller's signal. */
export interface Deadline {
  /** Aborted with the caller's reason, or with a TimeoutError when the time is up. */
  readonly signal: AbortSignal;
  /** Removes the time limit and the listener of the caller's signal. */
  end(): void;
}

export function startDeadline(
  caller: AbortSignal,
  milliseconds: number,
  clock: Clock = systemClock,
): Deadline {
  const controller = new AbortController();
  const { signal } = controller;
  // All calls of a request listen to the same signal.
  setMaxListeners(0, signal, caller);

  function abort(): void {
    end();
    controller.abort(caller.reason);
  }
  function timeOut(): void {
    end();
    controller.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError'));
  }
  const clear = clock.after(milliseconds, timeOut, { ref: false });
  function end(): void {
    clear();
    caller.removeEventListener('abort', abort);
  }
  if (caller.aborted) abort();
  else caller.addEventListener('abort', abort);
  return { signal, end };
}

/**
 * The result of `work`; where that takes longer, what `onTimeout` gives or throws. The work itself
 * is not stopped. A result that arrived while the event loop was late is in time.
 */
export function withTimeout<T, R = T>(
  work: Promise<T>,
  milliseconds: number,
  onTimeout: () => R,
  clock: Pick<Clock, 'after'> = systemClock,
): Promise<T | R> {
  let stopTimer: (() => void) | undefined;
  let reading: NodeJS.Immediate | undefined;
  const late = new Promise<void>((resolve) => {
    stopTimer = clock.after(milliseconds, () => {
      // Node runs timers before it reads received data, and immediates after.
      reading = setImmediate(resolve);
    });
  }).then(onTimeout);
  return Promise.race([work, late]).finally(() => {
    stopTimer?.();
    clearImmediate(reading);
  });
}
