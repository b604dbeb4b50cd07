// What this process can take: requests under way and how late the event loop is, how bounded amounts are
// shared out (places and bytes by client address, open streams by account), and in which turn of the event
// loop the work on a request begins.
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterMicrotasks, TurnClock } from '../../async/turn-clock.ts';
import type { Config } from '../../config.ts';
import type { RateLimitBucket } from './rate-limit.ts';

/** How often the loop's timer looks at the clock. */
const RESOLUTION_MS = 20;
/**
 * One long turn, such as a large answer being written, is no overload; several such windows in a
 * row are.
 */
const LATE_WINDOWS = 2;

const LOOK_MS = 1_000;

export function createLoadShedder({
  MAX_CONCURRENT_REQUESTS: mostRequests,
  MAX_EVENT_LOOP_DELAY_MS: mostDelayMs,
}: Config) {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  const places = createShares(mostRequests);
  let late = 0;
  const look = () => {
    // The timer's own interval is part of what it measures.
    const mean = delay.mean / 1e6 - RESOLUTION_MS;
    delay.reset();
    late = mean > mostDelayMs ? late + 1 : 0;
  };
  const looking = mostDelayMs > 0 ? setInterval(look, LOOK_MS).unref() : undefined;
  if (looking !== undefined) delay.enable();
  const isLate = () => late >= LATE_WINDOWS;
  return {
    /**
     * Begins a request.
     *
     * @param address - of the client; undefined for a request of this process itself
     * @returns ends it, once or more often; null when there is no room for it
     */
    enter(address?: string): (() => void) | null {
      if (isLate() || !places.take(address, 1)) return null;
      let inside = true;
      return () => {
        if (inside) places.give(address, 1);
        inside = false;
      };
    },
    /** Whether the event loop has been too late for a while. */
    get isLate() {
      return isLate();
    },
    get underWay() {
      return places.used;
    },
    close() {
      clearInterval(looking);
      delay.disable();
    },
  };
}

/**
 * One key alone may hold this much of the total, any other this much of the rest: there is always
 * something left for the next.
 */
const SHARE = 0.75;

export type Shares = ReturnType<typeof createShares>;

/**
 * Makes shares of a total.
 *
 * @param total - 0: any amount. Only keys that hold something are remembered.
 */
export function createShares(total: number) {
  const held = new Map<string, number>();
  let used = 0;
  const change = (key: string | undefined, by: number): void => {
    used += by;
    if (key === undefined) return;
    const own = (held.get(key) ?? 0) + by;
    if (own === 0) held.delete(key);
    else held.set(key, own);
  };
  /**
   * What a key may hold while all others hold what they do; without a key only the total counts.
   */
  const mostOf = (key: string | undefined): number => {
    if (total === 0) return Number.POSITIVE_INFINITY;
    return key === undefined ? total : Math.ceil(SHARE * (total - used + (held.get(key) ?? 0)));
  };
  return {
    /** Takes an amount. @returns false, with nothing taken, when it is more than the key may have. */
    take(key: string | undefined, amount: number): boolean {
      const own = key === undefined ? used : (held.get(key) ?? 0);
      if (own + amount > mostOf(key)) return false;
      change(key, amount);
      return true;
    },
    give: (key: string | undefined, amount: number) => change(key, -amount),
    /** Takes what is there already, also beyond what the key may have. */
    force: change,
    /** Whether a key holds more than it may have. */
    isOver: (key: string) => (held.get(key) ?? 0) > mostOf(key),
    /** What all keys hold together. */
    get used() {
      return used;
    },
  };
}

export type ConcurrencyQuota = ReturnType<typeof createConcurrencyQuota>;

/** @param most - places of an account with a share of 1; 0: any number */
export function createConcurrencyQuota(most: number) {
  const taken = new Map<string, number>();
  const change = (key: string, by: number): void => {
    const count = (taken.get(key) ?? 0) + by;
    if (count === 0) taken.delete(key);
    else taken.set(key, count);
  };
  return {
    /**
     * Takes a slot of every account.
     *
     * @returns an idempotent release; null when one account has no slot left
     */
    take(accounts: readonly RateLimitBucket[]): (() => void) | null {
      const isFull = ({ key, share }: RateLimitBucket) => most > 0 && (taken.get(key) ?? 0) >= most * share;
      if (accounts.some(isFull)) return null;
      for (const { key } of accounts) change(key, 1);
      let held = true;
      return () => {
        if (!held) return;
        held = false;
        for (const { key } of accounts) change(key, -1);
      };
    },
  };
}

export type Turns = ReturnType<typeof openTurns>;

/** Milliseconds of one turn for the beginning of requests. */
const TURN_MS = 10;
/** Milliseconds that work waits at most while each turn brings a connection. */
const MAX_ACCEPT_MS = 40;

/**
 * Opens the turns.
 *
 * @param turnMs - how long requests may keep the event loop at once
 * @param maxAcceptMs - how long they wait for connections to be accepted
 */
export function openTurns(turnMs = TURN_MS, maxAcceptMs = MAX_ACCEPT_MS) {
  const clock = new TurnClock(turnMs);
  const queues = new Map<string, (() => void)[]>();
  let waiting = 0;
  let isWorking = false;
  /** Turns that must bring no connection, this one among them, before work begins. */
  let acceptTurns = 0;

  /** The next work, of the address that was served longest ago. */
  function take(): (() => void) | undefined {
    for (const [address, queue] of queues) {
      queues.delete(address);
      const work = queue.shift();
      if (queue.length > 0) queues.set(address, queue);
      waiting -= 1;
      return work;
    }
    return undefined;
  }

  async function workOff(): Promise<void> {
    isWorking = true;
    let acceptEnd = performance.now() + maxAcceptMs;
    while (waiting > 0) {
      await nextTurn();
      if (acceptTurns > 0 && performance.now() < acceptEnd) continue;
      while (waiting > 0 && clock.hasTime()) {
        take()?.();
        await afterMicrotasks();
      }
      acceptEnd = performance.now() + maxAcceptMs;
    }
    isWorking = false;
  }

  function endTurn(): void {
    acceptTurns -= 1;
    if (acceptTurns > 0) setImmediate(endTurn);
  }

  return {
    /** Says that a connection was accepted in this turn, so that more may wait. */
    accepted(): void {
      if (acceptTurns === 0) setImmediate(endTurn);
      acceptTurns = 2;
    },
    /**
     * Begins the work on a request: at once where this turn has time left, else in a later one.
     * Those that wait are taken in rotation over their clients' addresses.
     */
    begin(address: string, work: () => void) {
      if (waiting === 0 && acceptTurns === 0 && clock.hasTime()) return work();
      const queue = queues.get(address) ?? [];
      if (queue.push(work) === 1) queues.set(address, queue);
      waiting += 1;
      if (!isWorking) void workOff();
    },
  };
}
