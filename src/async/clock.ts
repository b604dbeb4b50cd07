// Time, timers and randomness, as the code that handles money and batches takes them from the
// platform. The simulator (test/simulation) gives others.
import { setTimeout as wait } from 'node:timers/promises';

export interface SleepOptions {
  readonly signal?: AbortSignal | undefined;
  /** Whether the process waits for it; true when absent. */
  readonly ref?: boolean;
}

export interface Clock {
  /** Milliseconds since the epoch. It may be set, forward or back. */
  now(): number;
  /** The same by the clock of a shared store; the store's own when absent. */
  readonly storeNow?: () => number;
  /** Milliseconds of a clock that only goes forward. */
  monotonic(): number;
  /** From 0, below 1. */
  random(): number;
  /** @throws the reason of the signal when it aborts */
  sleep(milliseconds: number, options?: SleepOptions): Promise<void>;
  /** Does work once, unless the returned function is called before. */
  after(milliseconds: number, work: () => void, options?: Pick<SleepOptions, 'ref'>): () => void;
  /** Does work again and again, until the returned function is called. */
  every(milliseconds: number, work: () => void, options?: Pick<SleepOptions, 'ref'>): () => void;
}

/** The clock of the platform. */
export const systemClock: Clock = {
  now: Date.now,
  monotonic: () => performance.now(),
  random: Math.random,
  sleep: (milliseconds, options) => wait(milliseconds, undefined, options),
  after(milliseconds, work, { ref = true } = {}) {
    const timer = setTimeout(work, milliseconds);
    if (!ref) timer.unref();
    return () => clearTimeout(timer);
  },
  every(milliseconds, work, { ref = true } = {}) {
    const timer = setInterval(work, milliseconds);
    if (!ref) timer.unref();
    return () => clearInterval(timer);
  },
};
