// Token buckets as GCRA: one number per bucket, the time at which it will be full again, so that
// every store can hold it in one field.

import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import { NOW, openRedis } from '../redis-connection.ts';

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

const MINUTE_MS = 60_000;

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
  const granted = Math.min(tokens, available);
  const next = from + granted * each;
  const left = available - granted;
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

const PREFIX = 'foldatlas:rate:1:';

/** KEYS bucket; ARGV time, tokens, per minute. The same sum as `takeTokens`. */
const TAKE = `${NOW}
  local each = ${MINUTE_MS} / tonumber(ARGV[3])
  local from = math.min(math.max(tonumber(redis.call('GET', KEYS[1]) or '0'), now), now + ${MINUTE_MS})
  local available = math.floor((${MINUTE_MS} - (from - now)) / each + 0.0001)
  local granted = math.min(tonumber(ARGV[2]), available)
  local full = from + granted * each
  local left = available - granted
  if granted > 0 then
    redis.call('SET', KEYS[1], string.format('%.4f', full), 'PX', math.ceil(full - now))
  end
  local wait = 0
  if left == 0 then wait = math.max(0, math.ceil(full + each - ${MINUTE_MS} - now)) end
  return { granted, left, wait }
`;

const reply = z.tuple([z.number(), z.number(), z.number()]);

/** Opens the buckets. @param onError - called with every lost connection */
function openRedisRates(url: string, onError: (error: unknown) => void): TokenBucketStore {
  const redis = openRedis(url, onError);
  return {
    async take({ key, tokens, perMinute }) {
      const answer = await redis.run(TAKE, [PREFIX + key], ['', String(tokens), String(perMinute)]);
      const [granted, left, waitMs] = reply.parse(answer);
      return { granted, left, waitMs };
    },
    close: () => redis.close(),
  };
}

/**
 * Opens the buckets: those of this process, or of all replicas that share a Redis.
 *
 * @param storeUrl - `memory:`, `sqlite:PATH`, `redis://…` or `rediss://…`
 */
export const openRates = (storeUrl: string, onError: (error: unknown) => void): TokenBucketStore =>
  /^rediss?:/.test(storeUrl) ? openRedisRates(storeUrl, onError) : openMemoryRates();
