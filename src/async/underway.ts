// Work that goes on when its request has ended, so that the end of the process can wait for it.

export type Underway = ReturnType<typeof createUnderway>;

/**
 * A count, and no Set of promises: V8 keeps what has left a long-lived Set until the next full
 * collection, and with it the request.
 */
export function createUnderway() {
  let running = 0;
  const waiting: (() => void)[] = [];
  return {
    /** Does work that is waited for. */
    async run<T>(work: () => Promise<T>): Promise<T> {
      running += 1;
      try {
        return await work();
      } finally {
        running -= 1;
        if (running === 0) for (const resolve of waiting.splice(0)) resolve();
      }
    },
    /** Resolves as soon as nothing is under way. */
    async ended(): Promise<void> {
      if (running > 0) await new Promise<void>((resolve) => waiting.push(resolve));
    },
  };
}
