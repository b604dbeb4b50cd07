// A limit of time joined with a caller's patience into one abort signal. It knows nothing of what is limited.
import { setMaxListeners } from 'node:events';

/** A limit that can be moved and lifted. */
export interface TimeLimit {
  /** Aborted by the caller's signal, with its reason, or when the time is up, with a TimeoutError. */
  readonly signal: AbortSignal;
  /** Puts the end off to so many milliseconds from now. */
  move(milliseconds: number): void;
  /** Lifts the limit; the caller's signal still counts. */
  lift(): void;
  /** Lets go of the caller's signal too: nothing is limited any more. */
  end(): void;
  /** Ends now what is limited: whoever waited for it has left. */
  leave(): void;
}

const tooLate = (): DOMException =>
  new DOMException('The operation was aborted due to timeout', 'TimeoutError');

/**
 * Begins a limit. The timer holds the signal: one of `AbortSignal.timeout` that only `AbortSignal.any` refers to may be collected
 * before its time, and then nothing ends.
 */
export function timeLimit(signal: AbortSignal | undefined, milliseconds: number): TimeLimit {
  const controller = new AbortController();
  // Many calls and events share a patience; each listens no longer than its own limit.
  setMaxListeners(0, controller.signal);
  let timer: NodeJS.Timeout | undefined;
  const lift = () => clearTimeout(timer);
  const leave = () => {
    lift();
    controller.abort(signal?.reason);
  };
  const end = () => {
    lift();
    signal?.removeEventListener('abort', leave);
  };
  const late = () => {
    end();
    controller.abort(tooLate());
  };
  const move = (by: number) => {
    lift();
    timer = setTimeout(late, by).unref();
  };
  if (signal?.aborted === true) leave();
  else {
    move(milliseconds);
    if (signal !== undefined) {
      setMaxListeners(0, signal);
      signal.addEventListener('abort', leave, { once: true });
    }
  }
  return { signal: controller.signal, move, lift, end, leave };
}

/** One signal for a caller's patience and a limit. */
export const deadline = (signal: AbortSignal | undefined, milliseconds: number): AbortSignal =>
  timeLimit(signal, milliseconds).signal;
