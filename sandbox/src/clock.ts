// The one clock of the sandbox: queue deadline, retention, rate windows and signed URLs all read
// it. Tests hold a ManualClock and advance it, so that a month passes in a millisecond.

/** The time, and a way to be called later. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /**
   * Calls `run` once, `ms` milliseconds from now (never before this call returns). Returns its
   * cancellation.
   */
  after(ms: number, run: () => void): () => void;
}

/**
 * setTimeout takes a signed 32-bit delay; a longer one would fire at once, so it is waited for in
 * legs.
 */
const LONGEST_TIMEOUT_MS = 2 ** 31 - 1;

/** The time of the machine. Its timers never keep the process alive. */
export const systemClock: Clock = {
  now: () => Date.now(),
  after(ms, run) {
    let timer: NodeJS.Timeout;
    const wait = (left: number): void => {
      const leg = Math.min(Math.max(left, 0), LONGEST_TIMEOUT_MS);
      timer = setTimeout(() => (left > leg ? wait(left - leg) : run()), leg).unref();
    };
    wait(ms);
    return () => clearTimeout(timer);
  },
};

interface Timer {
  readonly due: number;
  readonly run: () => void;
}

/** A clock that stands still until it is advanced. */
export class ManualClock implements Clock {
  #now: number;
  #timers: Timer[] = [];

  /**
   * @param startMs milliseconds since the epoch; by default a fixed day, so that tests are
   * reproducible
   */
  constructor(startMs: number = Date.UTC(2026, 5, 1, 12)) {
    this.#now = startMs;
  }

  now(): number {
    return this.#now;
  }

  after(ms: number, run: () => void): () => void {
    const timer = { due: this.#now + Math.max(ms, 0), run };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
  }

  /**
   * Moves the time on by `ms`, running every timer that falls due at its own time, earliest first,
   * new ones included.
   */
  advance(ms: number): void {
    const end = this.#now + ms;
    for (let timer = this.#next(end); timer !== undefined; timer = this.#next(end)) {
      const due = timer;
      this.#timers = this.#timers.filter((other) => other !== due);
      this.#now = Math.max(this.#now, due.due);
      due.run();
    }
    this.#now = end;
  }

  /** The earliest timer due by `end`; of equals the one set first. */
  #next(end: number): Timer | undefined {
    let earliest: Timer | undefined;
    for (const timer of this.#timers)
      if (timer.due <= end && (earliest === undefined || timer.due < earliest.due)) earliest = timer;
    return earliest;
  }
}
