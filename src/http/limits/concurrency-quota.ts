// How many things of one kind a caller may have open at the same time, such as subscriptions.

export interface ConcurrencyQuota {
  /**
   * Takes a place of a key.
   *
   * @returns gives the place back, once or more often; null when the key has none left
   */
  take(key: string): (() => void) | null;
}

/** @param maxPerKey - 0 for any number */
export function createConcurrencyQuota(maxPerKey: number): ConcurrencyQuota {
  const taken = new Map<string, number>();
  return {
    take(key) {
      const count = taken.get(key) ?? 0;
      if (maxPerKey > 0 && count >= maxPerKey) return null;
      taken.set(key, count + 1);
      let isTaken = true;
      return () => {
        if (!isTaken) return;
        isTaken = false;
        const left = (taken.get(key) ?? 1) - 1;
        if (left === 0) taken.delete(key);
        else taken.set(key, left);
      };
    },
  };
}
