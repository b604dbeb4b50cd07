// Token buckets as GCRA: one number per bucket, the time at which it will be full again, so that
// every store can hold it in one field.
import { LRUCache } from 'lru-cache';

/** What to take of which bucket. */
export interface TokenRequest {
  readonly key: string;
  /** Tokens wanted, at least 1. */
  readonly tokens: number;
  /** What the bucket holds, and what flows into it in a minute. */
  readonly perMinute: number;
}

export interface TokenResult {
  /** 0 to the tokens wanted. */
  readonly granted: number;
  /** Tokens that remain in the bucket. */
  readonly left: number;
  /** Milliseconds until there is one more. */
  readonly waitMs: number;
}

/** Buckets, of which every process that shares the store sees the same. */
export interface TokenBucketStore {
  take(take: TokenRequest): Promise<TokenResult>;
  close(): Promise<void>;
}

export const MINUTE_MS = 60_000;

/**
 * Takes of a bucket.
 *
 * @param fullAt - when it is full again if nothing is taken, in milliseconds since the epoch
 */
export function takeTokens(
  fullAt: number,
  now: number,
  { tokens, perMinute }: TokenRequest,
): TokenResult & { fullAt: number } {
  const each = MINUTE_MS / perMinute;
  // A bucket fills within a minute: a later time comes from before the clock was set back.
  const from = Math.min(Math.max(fullAt, now), now + MINUTE_MS);
  // A ten-thousandth makes up for what fractions lose.
  const available = Math.floor((MINUTE_MS - (from - now)) / each + 1e-4);
  const granted = Math.max(0, Math.min(tokens, available));
  const next = from + granted * each;
  const left = Math.max(0, available - granted);
  return { granted, left, fullAt: next, waitMs: left > 0 ? 0 : Math.max(0, next + each - MINUTE_MS - now) };
}

/** Buckets in memory; beyond them the least recently used are full again. */
const MAX_BUCKETS = 100_000;

/** Buckets of this process alone. @param now - milliseconds since the epoch */
export function openMemoryRates(now: () => number = Date.now): TokenBucketStore {
  // By size: lru-cache would allocate `max` entries at once.
  const buckets = new LRUCache<string, number>({ maxSize: MAX_BUCKETS, sizeCalculation: () => 1 });
  return {
    async take(take) {
      const { fullAt, ...taken } = takeTokens(buckets.get(take.key) ?? 0, now(), take);
      buckets.set(take.key, fullAt);
      return taken;
    },
    async close() {
      buckets.clear();
    },
  };
}
