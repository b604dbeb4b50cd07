// How many streams (or sockets) each account has open at a time, in this process. It must not know what is streamed.
import type { RateLimitBucket } from './rate-limit.ts';

export interface ConcurrencyQuota {
  /** Takes a place of every account. @returns how to give it back, once or more often; null when one of them has none left */
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
