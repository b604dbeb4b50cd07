// Limits the open streams (or sockets) of each account, in this process.
import type { RateLimitBucket } from './rate-limit.ts';

export interface ConcurrencyQuota {
  /**
   * Takes a slot of every account.
   *
   * @returns an idempotent release; null when one account has no slot left
   */
  take(accounts: readonly RateLimitBucket[]): (() => void) | null;
}

/** @param most - places of an account with a share of 1; 0: any number */
export function createConcurrencyQuota(most: number): ConcurrencyQuota {
  const taken = new Map<string, number>();
  const change = (key: string, by: number): void => {
    const count = (taken.get(key) ?? 0) + by;
    if (count === 0) taken.delete(key);
    else taken.set(key, count);
  };
  return {
    take(accounts) {
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
