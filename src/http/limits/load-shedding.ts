// Load of the process: requests in flight and how late the event loop is; and how many streams
// an account may have open.
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Config } from '../../config.ts';
import type { RateLimitBucket } from './rate-limit.ts';

/** How often the loop's timer looks at the clock. */
const RESOLUTION_MS = 20;
const WINDOW_MS = 1_000;
/**
 * One long turn, such as a large answer being written, is no overload; several such windows in a
 * row are.
 */
const LATE_WINDOWS = 2;

/**
 * Refuses requests beyond MAX_CONCURRENT_REQUESTS, and while the event loop is late; none where that
 * setting is 0.
 */
export interface LoadShedder {
  /**
   * Counts a request.
   *
   * @returns ends it, once or more often; null when there is no room for it
   */
  enter(): (() => void) | null;
  /** Whether the event loop has been too late for a while. */
  readonly isLate: boolean;
  readonly inFlight: number;
  close(): void;
}

export function createLoadShedder({
  MAX_CONCURRENT_REQUESTS: maxInFlight,
  limits: { eventLoopDelayMs },
}: Config): LoadShedder {
  const maxDelayMs = maxInFlight > 0 ? eventLoopDelayMs : 0;
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  let inFlight = 0;
  let lateWindows = 0;
  const look = () => {
    // The timer's own interval is part of what it measures.
    const mean = delay.mean / 1e6 - RESOLUTION_MS;
    delay.reset();
    lateWindows = mean > maxDelayMs ? lateWindows + 1 : 0;
  };
  const looking = maxDelayMs > 0 ? setInterval(look, WINDOW_MS).unref() : undefined;
  if (looking !== undefined) delay.enable();
  const isLate = () => lateWindows >= LATE_WINDOWS;
  return {
    enter() {
      if (isLate() || (maxInFlight > 0 && inFlight >= maxInFlight)) return null;
      inFlight += 1;
      let isInside = true;
      return () => {
        if (isInside) inFlight -= 1;
        isInside = false;
      };
    },
    get isLate() {
      return isLate();
    },
    get inFlight() {
      return inFlight;
    },
    close() {
      clearInterval(looking);
      delay.disable();
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
