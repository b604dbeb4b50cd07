// How many things of one kind a caller may have open at the same time, such as subscriptions.

export interface ConcurrencyQuota {
  /**
   * Acquires a place of a key.
   *
   * @returns releases the place, once or more often; null when the key has none left
   */
  acquire(key: string): (() => void) | null;
}

/** @param maxPerKey - 0 for any number */
export function createConcurrencyQuota(maxPerKey: number): ConcurrencyQuota {
  const held = new Map<string, number>();
  return {
    acquire(key) {
      const count = held.get(key) ?? 0;
      if (maxPerKey > 0 && count >= maxPerKey) return null;
      held.set(key, count + 1);
      let isHeld = true;
      return () => {
        if (!isHeld) return;
        isHeld = false;
        const left = (held.get(key) ?? 1) - 1;
        if (left === 0) held.delete(key);
        else held.set(key, left);
      };
    },
  };
}
