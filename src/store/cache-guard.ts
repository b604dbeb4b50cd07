// Keeps a store that is slow, stalled or gone from making anybody wait: each use has a time limit, and after several failures
// the store is left alone for a while. It knows no store.

export interface GuardOptions {
  /** Milliseconds that one use may take. */
  readonly timeout: number;
  /** Failures in a row after which the store is left alone. */
  readonly failures: number;
  /** Milliseconds that it is left alone, after which one use tries again. */
  readonly pause: number;
  /** Told of every failure. */
  readonly onError: (error: unknown) => void;
}

/** Runs a use of the store. Undefined when it failed, was too slow, or the store is being left alone. */
export type Guard = <T>(use: () => Promise<T>) => Promise<T | undefined>;

/** Makes a guard; all uses of one store share it. */
export function openGuard({ timeout, failures, pause, onError }: GuardOptions): Guard {
  let failed = 0;
  let closedUntil = 0;

  return async <T>(use: () => Promise<T>): Promise<T | undefined> => {
    if (failed >= failures) {
      if (performance.now() < closedUntil) return undefined;
      closedUntil = performance.now() + pause;
    }
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error(`The store did not answer within ${timeout} ms.`)), timeout);
    });
    try {
      const result = await Promise.race([use(), late]);
      failed = 0;
      return result;
    } catch (error) {
      failed += 1;
      closedUntil = performance.now() + pause;
      onError(error);
      return undefined;
    } finally {
      clearTimeout(timer);
    }
  };
}
