// Rate limits by caller and address, shared by all processes of a store. A process leases a
// twentieth of a quota at a time from the store, so that most requests need no store call; while
// the store is away, each process counts for itself.
import type { GraphQLError } from 'graphql';
import { LRUCache } from 'lru-cache';
import { withTimeout } from '../../async/deadline.ts';
import type { TokenBucketStore, TokenResult } from '../../store/rate-limit/token-bucket.ts';
import { openMemoryRates } from '../../store/rate-limit/token-bucket.ts';
import type { Caller } from '../auth/authenticate.ts';
import { rateLimited } from '../errors.ts';

export interface RateLimitQuota {
  readonly key: string;
  readonly perMinute: number;
}

export interface RateLimitResult {
  readonly allowed: boolean;
  readonly limit: number;
  /** About how much is left; other processes may hold some of it. */
  readonly remaining: number;
  /** Whole seconds until the whole quota is there again, about. */
  readonly resetSeconds: number;
  /** Whole seconds until it is worth to try again, at least 1; 0 when allowed. */
  readonly retryAfterSeconds: number;
}

export interface RateLimit {
  /** Spends one token; at once where the store need not be asked, which is nearly always. */
  spend(quota: RateLimitQuota): RateLimitResult | Promise<RateLimitResult>;
}

export interface RateLimitOptions {
  readonly rates: TokenBucketStore;
  /** Told when the store cannot be asked, once until it can. */
  readonly onError: (error: unknown) => void;
  readonly now?: () => number;
}

interface Lease {
  tokens: number;
  /** What the store had left when it was asked last. */
  behind: number;
  /** Tokens of a lease are no good for ever: the bucket fills up meanwhile. */
  until: number;
  refusedUntil: number;
  taking: Promise<void> | undefined;
}

const LEASES_PER_QUOTA = 20;
const LEASE_MS = 60_000;
/** How long the store may take, and for how long it is not asked after a failure. */
const STORE_TIMEOUT_MS = 250;
const STORE_PAUSE_MS = 5_000;
/** An exhausted quota is looked up in the store at most this often. */
const MIN_REFUSAL_MS = 250;
const MAX_LEASES = 50_000;

const soon = <T>(asked: Promise<T>): Promise<T> =>
  withTimeout(asked, STORE_TIMEOUT_MS, () => {
    throw new Error(`no answer within ${STORE_TIMEOUT_MS} ms`);
  });

export function openRateLimit({
  rates,
  onError,
  now = () => performance.now(),
}: RateLimitOptions): RateLimit {
  // By size: room for a `max` would be taken at once.
  const leases = new LRUCache<string, Lease>({ maxSize: MAX_LEASES, sizeCalculation: () => 1 });
  const own = openMemoryRates(now);
  let awayUntil = 0;
  let away = false;

  const leaseOf = (key: string): Lease => {
    const found = leases.get(key);
    if (found !== undefined) return found;
    const made: Lease = { tokens: 0, behind: 0, until: 0, refusedUntil: 0, taking: undefined };
    leases.set(key, made);
    return made;
  };

  async function taken(quota: RateLimitQuota, tokens: number): Promise<TokenResult> {
    if (now() >= awayUntil) {
      try {
        const answer = await soon(rates.take({ ...quota, tokens }));
        away = false;
        return answer;
      } catch (error) {
        awayUntil = now() + STORE_PAUSE_MS;
        if (!away) onError(error);
        away = true;
      }
    }
    return own.take({ ...quota, tokens });
  }

  async function refill(lease: Lease, quota: RateLimitQuota): Promise<void> {
    const wanted = Math.max(1, Math.floor(quota.perMinute / LEASES_PER_QUOTA));
    const { granted, left, waitMs } = await taken(quota, wanted);
    lease.tokens = granted;
    lease.behind = left;
    lease.until = now() + LEASE_MS;
    lease.refusedUntil = granted > 0 ? 0 : now() + Math.max(waitMs, MIN_REFUSAL_MS);
  }

  const toResult = (
    { perMinute: limit }: RateLimitQuota,
    lease: Lease,
    allowed: boolean,
  ): RateLimitResult => {
    const remaining = allowed ? Math.min(limit - 1, lease.tokens + lease.behind) : 0;
    return {
      allowed,
      limit,
      remaining,
      resetSeconds: Math.ceil(((limit - remaining) / limit) * 60),
      retryAfterSeconds: allowed ? 0 : Math.max(1, Math.ceil((lease.refusedUntil - now()) / 1000)),
    };
  };

  /** Undefined where the store has to be asked. */
  function spendNow(quota: RateLimitQuota, lease: Lease): RateLimitResult | undefined {
    if (lease.tokens > 0 && now() < lease.until) {
      lease.tokens -= 1;
      return toResult(quota, lease, true);
    }
    return now() < lease.refusedUntil ? toResult(quota, lease, false) : undefined;
  }

  async function spendSoon(quota: RateLimitQuota, lease: Lease): Promise<RateLimitResult> {
    for (;;) {
      // Concurrent requests share one refill of the lease.
      lease.taking ??= refill(lease, quota).finally(() => {
        lease.taking = undefined;
      });
      await lease.taking;
      const spent = spendNow(quota, lease);
      if (spent !== undefined) return spent;
    }
  }

  return {
    spend(quota) {
      const lease = leaseOf(quota.key);
      return spendNow(quota, lease) ?? spendSoon(quota, lease);
    },
  };
}

export const rateLimitError = ({ limit, retryAfterSeconds }: RateLimitResult): GraphQLError =>
  rateLimited(
    `These are more than ${limit} requests in a minute (RATE_LIMIT_PER_MINUTE). ` +
      `Try again in ${retryAfterSeconds} s.`,
    retryAfterSeconds,
  );

/** The caller's rate limit as response headers. */
export const rateLimitHeaders = ({ limit, remaining, resetSeconds }: RateLimitResult) => ({
  'ratelimit-limit': String(limit),
  'ratelimit-remaining': String(remaining),
  'ratelimit-reset': String(resetSeconds),
});

/** A token bucket that a request is counted against, with its multiple of the usual quota. */
export interface RateLimitBucket {
  readonly key: string;
  readonly share: number;
}

/** All unproven tokens of one address together may do as much as so many callers. */
const CALLERS_PER_ADDRESS = 10;

/**
 * The buckets of a request. A verified caller has one of its own, from any address. An unverified
 * token may be invented: it has one, too, and all such tokens of an address share another.
 *
 * @param caller - null for a request without valid credentials
 * @param address - undefined for a request without a connection
 */
export function bucketsOf(caller: Caller | null, address: string | undefined): RateLimitBucket[] {
  const { principal = null, proven = false } = caller ?? {};
  if (principal === null) return address === undefined ? [] : [{ key: `address:${address}`, share: 1 }];
  const own = { key: `caller:${principal}`, share: 1 };
  if (proven || address === undefined) return [own];
  return [own, { key: `behind:${address}`, share: CALLERS_PER_ADDRESS }];
}

/**
 * The account that a caller's stored data counts against: the address for an unverified token, else
 * the caller.
 */
export const storageAccountOf = (caller: Caller, address: string | undefined): string =>
  bucketsOf(caller, address).at(-1)?.key ?? 'no connection';
