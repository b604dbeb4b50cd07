// Virtual time for one history: timers in a heap, and the clocks of replicas, which end with them.
import type { Clock } from '../../src/async/clock.ts';

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
  work: Work | undefined;
}

const isBefore = (a: Timer, b: Timer): boolean => a.at < b.at || (a.at === b.at && a.order < b.order);

/** Lets everything run that waits for no timer. */
export const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

export class VirtualTime {
  /** Milliseconds since the history began. */
  now = 0;
  /** How many timers have run. */
  ran = 0;
  readonly #random: Random;
  readonly #heap: Timer[] = [];
  constructor(random: Random) {
    this.#random = random;
    present = this;
  }

  /** Does work after a time. @returns takes it back */
  after(milliseconds: number, work: Work): () => void {
    const timer: Timer = { at: this.now + Math.max(0, milliseconds), order: this.#random.next(), work };
    const heap = this.#heap;
    let index = heap.push(timer) - 1;
    for (let above = (index - 1) >> 1; index > 0; index = above, above = (index - 1) >> 1) {
      const parent = heap[above];
      if (parent === undefined || !isBefore(timer, parent)) break;
      heap[index] = parent;
      heap[above] = timer;
    }
    return () => {
      timer.work = undefined;
    };
  }

  #shift(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return;
    let index = 0;
    for (;;) {
      let below = 2 * index + 1;
      const [left, right] = [heap[below], heap[below + 1]];
      if (left === undefined) break;
      if (right !== undefined && isBefore(right, left)) below += 1;
      const child = heap[below];
      if (child === undefined || !isBefore(child, last)) break;
      heap[index] = child;
      index = below;
    }
    heap[index] = last;
  }

  /** Lets time pass. @param isDone - ends it earlier */
  async advance(milliseconds: number, isDone: () => boolean = () => false): Promise<void> {
    const end = this.now + milliseconds;
    await settled();
    for (;;) {
      if (isDone()) return;
      const next = this.#heap[0];
      if (next === undefined || next.at > end) break;
      this.#shift();
      const { work } = next;
      if (work === undefined) continue;
      this.now = Math.max(this.now, next.at);
      this.ran += 1;
      await work();
      await settled();
    }
    this.now = end;
  }
}

/** When histories begin. */
export const EPOCH = Date.UTC(2026, 10, 28);

/** The life of one process: when it is over, none of its timers runs any more. */
export interface Life {
  isOver: boolean;
}

function sleep(
  after: VirtualTime['after'],
  life: Life,
  milliseconds: number,
  signal: AbortSignal | undefined,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = () => {
      stop();
      if (!life.isOver) reject(new DOMException('The operation was aborted', 'AbortError'));
    };
    const stop = after(milliseconds, () => {
      signal?.removeEventListener('abort', fail);
      resolve();
    });
    if (signal?.aborted === true) fail();
    else signal?.addEventListener('abort', fail, { once: true });
  });
}

let present: VirtualTime | undefined;
/** Stands in for that of node:timers/promises below src/store, in the present history. @public */
export async function setTimeout(
  milliseconds: number,
  _: undefined,
  { signal }: { readonly signal?: AbortSignal } = {},
): Promise<void> {
  const time = present;
  if (time !== undefined) await sleep(time.after.bind(time), { isOver: false }, milliseconds, signal);
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
      let stop: () => void;
      const again = (): void => {
        stop = after(milliseconds, () => {
          again();
          work();
        });
      };
      again();
      return () => stop();
    },
    sleep: (milliseconds, { signal } = {}) => sleep(after, life, milliseconds, signal),
  };
}
