// Runs a bounded number of checks at a time, first come first served, with a bounded queue, so that
// invalid tokens cannot take more of the processor than that.

/** There are as many checks as may wait. */
export class TooManyChecksError extends Error {}

export interface CheckLimits {
  /** Checks at a time. */
  readonly running: number;
  /** Checks that wait for their turn. */
  readonly waiting: number;
}

/**
 * @returns a function that runs a check when it is its turn; it rejects with TooManyChecksError
 * when too many wait
 */
export function limitChecks({ running, waiting }: CheckLimits): <T>(check: () => Promise<T>) => Promise<T> {
  const turns: (() => void)[] = [];
  let active = 0;
  return async (check) => {
    if (active >= running) {
      if (turns.length >= waiting) throw new TooManyChecksError('Too many tokens wait to be checked.');
      // The place of the check that ends is handed over: `active` stays as it is.
      await new Promise<void>((resolve) => turns.push(resolve));
    } else active += 1;
    try {
      return await check();
    } finally {
      const next = turns.shift();
      if (next === undefined) active -= 1;
      else next();
    }
  };
}
