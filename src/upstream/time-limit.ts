// A limit of time joined with somebody's patience. It knows nothing of what is limited.
import { setMaxListeners } from 'node:events';
import { Leave, type Leaving } from './leaving.ts';

const tooLate = (): DOMException =>
  new DOMException('The operation was aborted due to timeout', 'TimeoutError');

/** A limit that can be moved and lifted. Begins at once. */
export class TimeLimit {
  /** Aborted by the caller, with their reason, or when the time is up, with a TimeoutError. */
  readonly leaving = new Leave();
  private readonly caller: Leaving | undefined;
  private timer: NodeJS.Timeout | undefined;
  /** On the clock of `performance.now()`. */
  private until = 0;

  constructor(caller: Leaving | undefined, milliseconds: number) {
    this.caller = caller;
    if (caller?.aborted === true) {
      this.leave();
      return;
    }
    this.move(milliseconds);
    // Many calls and events share a patience; each listens no longer than its own limit.
    if (caller instanceof AbortSignal) setMaxListeners(0, caller);
    caller?.addEventListener('abort', this.leave);
  }

  /** Puts the end off to so many milliseconds from now. */
  move(milliseconds: number): void {
    const until = performance.now() + milliseconds;
    // A timer that comes too early begins again: usually none comes at all.
    if (this.timer === undefined || until < this.until) this.start(milliseconds);
    this.until = until;
  }
  /** Lifts the limit; the caller may still leave. */
  lift(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
  }
  /** Lets go of the caller too: nothing is limited any more. */
  end(): void {
    this.lift();
    this.caller?.removeEventListener('abort', this.leave);
  }
  /** Ends now what is limited: whoever waited for it has left. */
  readonly leave = (): void => {
    this.lift();
    this.leaving.leave(this.caller?.reason);
  };

  private start(milliseconds: number): void {
    this.lift();
    this.timer = setTimeout(late, milliseconds, this).unref();
  }
  /** Ends what is limited, unless the end was put off. */
  check(): void {
    const left = this.until - performance.now();
    if (left >= 1) this.start(left);
    else {
      this.end();
      this.leaving.leave(tooLate());
    }
  }
}

function late(limit: TimeLimit): void {
  limit.check();
}

/**
 * One signal for a caller's patience and a limit. The timer holds it: one of `AbortSignal.timeout` that only `AbortSignal.any` refers to may
 * be collected before its time, and then nothing ends.
 */
export const deadline = (caller: Leaving | undefined, milliseconds: number): AbortSignal =>
  new TimeLimit(caller, milliseconds).leaving.signal;
