// Shares out the time of one turn of the event loop among work of one kind: what has no time left
// goes on in a later turn, and timers and sockets are served in between.
import { setImmediate as nextImmediate } from 'node:timers/promises';

export class TurnClock {
  readonly #turnMs: number;
  /** When the work of this turn began; undefined while none has. */
  #began: number | undefined;

  /** @param turnMs - how long the work may keep the event loop at once, all of it together */
  constructor(turnMs: number) {
    this.#turnMs = turnMs;
  }
  /** Whether this turn has time left; always for the first work of a turn. */
  hasTime(): boolean {
    const now = performance.now();
    if (this.#began !== undefined) return now - this.#began <= this.#turnMs;
    this.#began = now;
    setImmediate(() => {
      this.#began = undefined;
    });
    return true;
  }
  /** Resolves in a later turn that has time. */
  async nextTurn(): Promise<void> {
    do await nextImmediate();
    while (!this.hasTime());
  }
}

/** Milliseconds of one turn for all executions together. */
const EXECUTION_MS = 8;

/**
 * The time of all executions of this process. Hundreds may wait for the same answer of the service,
 * whose arrival continues them all.
 */
export const executionTurns = new TurnClock(EXECUTION_MS);
