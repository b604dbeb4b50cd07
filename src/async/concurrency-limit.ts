// Limits how many tasks run at the same time.

/** Runs a task as soon as fewer than the limit run; the others wait in order. */
export type ConcurrencyLimit = <T>(task: () => Promise<T>) => Promise<T>;

export function createConcurrencyLimit(max: number): ConcurrencyLimit {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (task) => {
    if (running < max) running += 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await task();
    } finally {
      // The place passes to the next task.
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  };
}
