// Lets everybody do so much in a minute, over all processes that share a store. Tokens are taken from the store a twentieth of the
// budget at a time, so that most requests ask nobody; without the store each process counts for itself. It knows no HTTP.
import { LRUCache } from 'lru-cache';
import type { Rates, Taken } from '../store/rates.ts';
import { openMemoryRates } from '../store/rates-memory.ts';

/** What somebody may spend. */
export interface Budget {
  readonly key: string;
  readonly perMinute: number;
}

export interface Verdict {
  readonly allowed: boolean;
  readonly limit: number;
  /** About how much is left; other processes may hold some of it. */
  readonly remaining: number;
  /** Whole seconds until the whole budget is there again, about. */
  readonly resetSeconds: number;
  /** Whole seconds until it is worth to try again, at least 1; 0 when allowed. */
  readonly retryAfterSeconds: number;
}

export interface RateLimit {
  /** Spends one token; at once where the store need not be asked, which is nearly always. */
  spend(budget: Budget): Verdict | Promise<Verdict>;
}

export interface RateLimitOptions {
  readonly rates: Rates;
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

const LEASES_IN_A_BUDGET = 20;
const LEASE_MS = 60_000;
/** How long the store may take, and for how long it is left alone when it failed. */
const ANSWER_MS = 250;
const REST_MS = 5_000;
/** Who has nothing left is looked up in the store so often at most. */
const REFUSED_MS = 250;
const MOST_LEASES = 50_000;

/** Waits for an answer, but not for long. */
async function soon<T>(asked: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${ANSWER_MS} ms`)), ANSWER_MS);
  });
  try {
    return await Promise.race([asked, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Opens the limit. */
export function openRateLimit({
  rates,
  onError,
  now = () => performance.now(),
}: RateLimitOptions): RateLimit {
  // By size: room for a `max` would be taken at once.
  const leases = new LRUCache<string, Lease>({ maxSize: MOST_LEASES, sizeCalculation: () => 1 });
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

  async function taken(budget: Budget, tokens: number): Promise<Taken> {
    if (now() >= awayUntil) {
      try {
        const answer = await soon(rates.take({ ...budget, tokens }));
        away = false;
        return answer;
      } catch (error) {
        awayUntil = now() + REST_MS;
        if (!away) onError(error);
        away = true;
      }
    }
    return own.take({ ...budget, tokens });
  }

  async function refill(lease: Lease, budget: Budget): Promise<void> {
    const wanted = Math.max(1, Math.floor(budget.perMinute / LEASES_IN_A_BUDGET));
    const { granted, left, waitMs } = await taken(budget, wanted);
    lease.tokens = granted;
    lease.behind = left;
    lease.until = now() + LEASE_MS;
    lease.refusedUntil = granted > 0 ? 0 : now() + Math.max(waitMs, REFUSED_MS);
  }

  const verdict = ({ perMinute: limit }: Budget, lease: Lease, allowed: boolean): Verdict => {
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
  function spendNow(budget: Budget, lease: Lease): Verdict | undefined {
    if (lease.tokens > 0 && now() < lease.until) {
      lease.tokens -= 1;
      return verdict(budget, lease, true);
    }
    return now() < lease.refusedUntil ? verdict(budget, lease, false) : undefined;
  }

  async function spendSoon(budget: Budget, lease: Lease): Promise<Verdict> {
    for (;;) {
      // All who wait for the same lease wait for one answer.
      lease.taking ??= refill(lease, budget).finally(() => {
        lease.taking = undefined;
      });
      await lease.taking;
      const spent = spendNow(budget, lease);
      if (spent !== undefined) return spent;
    }
  }

  return {
    spend(budget) {
      const lease = leaseOf(budget.key);
      return spendNow(budget, lease) ?? spendSoon(budget, lease);
    },
  };
}
