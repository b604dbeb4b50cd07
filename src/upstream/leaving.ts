// Somebody who waits and may leave: what is used of an AbortSignal between the parts of a call, without being one. A request needs three,
// and an AbortSignal costs ten times as much. It knows nothing of what is waited for.
import { setMaxListeners } from 'node:events';

/** Who waits. Every AbortSignal is one. */
export interface Leaving {
  /** Whether they have left. */
  readonly aborted: boolean;
  /** Why they have. */
  readonly reason: unknown;
  addEventListener(type: 'abort', listener: () => void): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

/** One that can be told to leave. */
export class Leave implements Leaving {
  aborted = false;
  reason: unknown = undefined;
  private listeners: (() => void)[] = [];
  private made: AbortSignal | undefined;

  addEventListener(_: 'abort', listener: () => void): void {
    this.listeners.push(listener);
  }
  removeEventListener(_: 'abort', listener: () => void): void {
    const at = this.listeners.indexOf(listener);
    if (at !== -1) this.listeners.splice(at, 1);
  }
  /** Leaves, once: all who listen are told. @param reason - that of an AbortController when absent */
  leave(reason: unknown = new DOMException('This operation was aborted', 'AbortError')): void {
    if (this.aborted) return;
    this.aborted = true;
    this.reason = reason;
    const { listeners } = this;
    this.listeners = [];
    for (const listener of listeners) listener();
  }
  /** The same as an AbortSignal, for those who take nothing else. */
  get signal(): AbortSignal {
    this.made ??= madeFrom(this);
    return this.made;
  }
}

function madeFrom(leaving: Leaving): AbortSignal {
  const controller = new AbortController();
  // Each call of a request listens.
  setMaxListeners(0, controller.signal);
  if (leaving.aborted) controller.abort(leaving.reason);
  else leaving.addEventListener('abort', () => controller.abort(leaving.reason));
  return controller.signal;
}

/** Whoever waits as an AbortSignal. */
export function signalOf(leaving: Leaving): AbortSignal {
  if (leaving instanceof AbortSignal) return leaving;
  return leaving instanceof Leave ? leaving.signal : madeFrom(leaving);
}
