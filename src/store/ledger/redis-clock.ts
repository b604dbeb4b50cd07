// Notices that the clock of Redis was set forward. Redis deletes keys by that clock, so it would
// free those that were paid.
import type { Clock } from '../../async/clock.ts';
import { MAX_AHEAD_MS } from './mark.ts';

/** A smaller jump goes unnoticed, so Redis stores everything for longer by as much. */
export const MAX_JUMP_MS = 7 * 24 * 3_600_000;

/** A look at the mark of a ledger and at the clock of Redis. */
interface Reading {
  /** The id of the mark; null where there is none. */
  readonly id: string | null;
  /** The newest time at which something was written, by the clock of Redis; 0 where nothing was. */
  readonly newest: number;
  /** The time by the clock of Redis. */
  readonly now: number;
}

/** The clock of Redis as a gateway has seen it. */
export interface RedisClock {
  /** The latest time that it may show. Milliseconds since the epoch. */
  latest(): number;
  /** Whether it is further ahead than time has passed. What it shows is then not believed. */
  isJumped(reading: Reading): boolean;
}

/**
 * The gateway's monotonic clock tells how much time has passed since it first saw this ledger. For
 * the time before, its wall clock tells, unless it is behind the newest entry: then it is wrong.
 */
export function createRedisClock({ now, monotonic }: Pick<Clock, 'now' | 'monotonic'>): RedisClock {
  let known: string | null = null;
  /** How far Redis is ahead of the monotonic clock at least. */
  let leastAheadMs = Number.POSITIVE_INFINITY;

  return {
    latest: () => Math.min(Number.MAX_SAFE_INTEGER, leastAheadMs + monotonic() + MAX_JUMP_MS),
    isJumped({ id, newest, now: shown }) {
      // An operator who accepts a ledger gives it a new mark.
      if (known !== null && id !== known) leastAheadMs = Number.POSITIVE_INFINITY;
      known = id;
      const aheadMs = shown - monotonic();
      const hasJumped = aheadMs - leastAheadMs > MAX_JUMP_MS;
      const isAheadOfAll = newest > 0 && shown - Math.max(newest, now()) > MAX_JUMP_MS;
      if (hasJumped || isAheadOfAll) return true;
      // Nothing is claimed while Redis is further behind its newest entry.
      if (newest - shown <= MAX_AHEAD_MS) leastAheadMs = Math.min(leastAheadMs, aheadMs);
      return false;
    },
  };
}
