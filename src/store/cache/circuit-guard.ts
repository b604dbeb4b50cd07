// A circuit breaker for the store: each use has a time limit, and after several failures in a row
// the store is left alone for a while.
import { withTimeout } from '../../async/timeout.ts';

export interface GuardOptions {
  /** Milliseconds that one use may take. */
  readonly timeout: number;
  /** Failures in a row after which the store is left alone. */
  readonly failures: number;
  /** Milliseconds that it is left alone, after which one use tries again. */
  readonly pause: number;
  /** Called with every failure. */
  readonly onError: (error: unknown) => void;
}

/** Runs a use of the store. Undefined when it failed, timed out, or the circuit is open. */
export type StoreGuard = <T>(use: () => Promise<T>) => Promise<T | undefined>;

/** All uses of one store share a guard. */
export function createStoreGuard({ timeout, failures, pause, onError }: GuardOptions): StoreGuard {
  let failed = 0;
  let closedUntil = 0;
  const onTimeout = (): never => {
    throw new Error(`The store did not answer within ${timeout} ms.`);
  };

  return async <T>(use: () => Promise<T>): Promise<T | undefined> => {
    if (failed >= failures) {
      if (performance.now() < closedUntil) return undefined;
      closedUntil = performance.now() + pause;
    }
    try {
      const result = await withTimeout(use(), timeout, onTimeout);
      failed = 0;
      return result;
    } catch (error) {
      failed += 1;
      closedUntil = performance.now() + pause;
      onError(error);
      return undefined;
    }
  };
}
