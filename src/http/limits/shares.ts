// Shares a bounded amount out by key, such as places or bytes by client address: one key alone may
// hold three quarters of it, and of what some hold, any other may have three quarters of the rest,
// so that there is always something left for the next.

const SHARE = 0.75;

export interface Shares {
  /** Takes an amount. @returns false, with nothing taken, when it is more than the key may have. */
  take(key: string | undefined, amount: number): boolean;
  /** Gives an amount back. */
  give(key: string | undefined, amount: number): void;
  /** Takes what is there already, also beyond what the key may have. */
  force(key: string, amount: number): void;
  /** Whether a key holds more than it may have. */
  isOver(key: string): boolean;
  /** What all keys hold together. */
  readonly used: number;
}

/**
 * Makes shares of a total.
 *
 * @param total - 0: any amount. Only keys that hold something are remembered.
 */
export function createShares(total: number): Shares {
  const held = new Map<string, number>();
  let used = 0;
  const change = (key: string | undefined, by: number): void => {
    used += by;
    if (key === undefined) return;
    const own = (held.get(key) ?? 0) + by;
    if (own === 0) held.delete(key);
    else held.set(key, own);
  };
  /**
   * What a key may hold while all others hold what they do; without a key only the total counts.
   */
  const mostOf = (key: string | undefined): number => {
    if (total === 0) return Number.POSITIVE_INFINITY;
    return key === undefined ? total : Math.ceil(SHARE * (total - used + (held.get(key) ?? 0)));
  };
  return {
    take(key, amount) {
      const own = key === undefined ? used : (held.get(key) ?? 0);
      if (own + amount > mostOf(key)) return false;
      change(key, amount);
      return true;
    },
    give: (key, amount) => change(key, -amount),
    force: change,
    isOver: (key) => (held.get(key) ?? 0) > mostOf(key),
    get used() {
      return used;
    },
  };
}
