// Virtual time for one history: timers in a heap, and the clocks of replicas, which end with them.
import type { Clock, SleepOptions } from '../../src/async/clock.ts';

/** Random numbers from a seed (mulberry32). */
export class Random {
  #state: number;
  constructor(seed: number) {
    this.#state = Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) >>> 0;
  }
  /** From 0, below 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let t = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  }
  below(limit: number): number {
    return Math.floor(this.next() * limit);
  }
  chance(share: number): boolean {
    return this.next() < share;
  }
  pick<T>(list: readonly [T, ...T[]]): T {
    return list[this.below(list.length)] ?? list[0];
  }
}

/** Time stands still until it is done. */
type Work = () => void | Promise<void>;

interface Timer {
  readonly at: number;
  /** Timers of one moment come in any order. */
  readonly order: number;
  readonly work: Work;
}

/** Lets everything run that waits for no timer. */
export const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

export class VirtualTime {
  /** Milliseconds since the history began. */
  now = 0;
  readonly #random: Random;
  /** The next one first. */
  readonly #timers: Timer[] = [];
  constructor(random: Random) {
    this.#random = random;
    present = this;
  }

  /** Does work after a time. @returns takes it back */
  after(milliseconds: number, work: Work): () => void {
    const timer: Timer = { at: this.now + Math.max(0, milliseconds), order: this.#random.next(), work };
    const timers = this.#timers;
    const before = timers.findLastIndex(
      ({ at, order }) => at < timer.at || (at === timer.at && order < timer.order),
    );
    timers.splice(before + 1, 0, timer);
    return () => {
      const index = timers.indexOf(timer);
      if (index !== -1) timers.splice(index, 1);
    };
  }

  /** Lets time pass. @param isDone - ends it earlier */
  async advance(milliseconds: number, isDone: () => boolean = () => false): Promise<void> {
    const end = this.now + milliseconds;
    await settled();
    while (!isDone()) {
      const [next] = this.#timers;
      if (next === undefined || next.at > end) {
        this.now = end;
        return;
      }
      this.#timers.shift();
      this.now = Math.max(this.now, next.at);
      await next.work();
      await settled();
    }
  }
}

/** When histories begin. */
export const EPOCH = Date.UTC(2026, 10, 28);

/** The life of one process: when it is over, none of its timers runs any more. */
export interface Life {
  isOver: boolean;
}

/** @param life - a process that is over does not hear that its wait was aborted */
const createSleep =
  (after: VirtualTime['after'], life: Life): Clock['sleep'] =>
  (milliseconds, { signal } = {}) =>
    new Promise((resolve, reject) => {
      const abort = () => {
        stop();
        if (!life.isOver) reject(new DOMException('The operation was aborted', 'AbortError'));
      };
      const stop = after(milliseconds, () => {
        signal?.removeEventListener('abort', abort);
        resolve();
      });
      if (signal?.aborted === true) abort();
      else signal?.addEventListener('abort', abort, { once: true });
    });

let present: VirtualTime | undefined;
/** Stands in for that of node:timers/promises below src/store, in the present history. @public */
export async function setTimeout(milliseconds: number, _: undefined, options?: SleepOptions): Promise<void> {
  const time = present;
  if (time !== undefined) await createSleep(time.after.bind(time), { isOver: false })(milliseconds, options);
}

/**
 * The clock of one process.
 *
 * @param skew - how far its wall clock is ahead, in milliseconds
 * @param storeNow - by the clock of the store; its own when absent
 */
export function createReplicaClock(
  time: VirtualTime,
  random: Random,
  life: Life,
  skew: () => number,
  storeNow?: () => number,
): Clock {
  const now = () => EPOCH + Math.round(time.now) + skew();
  const after = (milliseconds: number, work: () => void) =>
    time.after(milliseconds, () => {
      if (!life.isOver) work();
    });
  return {
    now,
    storeNow: storeNow ?? now,
    monotonic: () => time.now,
    random: () => random.next(),
    after,
    every(milliseconds, work) {
      const again = (): void => {
        stop = after(milliseconds, again);
        work();
      };
      let stop = after(milliseconds, again);
      return () => stop();
    },
    sleep: createSleep(after, life),
  };
}
