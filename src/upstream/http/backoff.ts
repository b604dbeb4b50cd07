// Pauses after a 429, which apply to all calls of a scope: as long as Retry-After says, or doubled
// each time where it says nothing.
import { LRUCache } from 'lru-cache';

export interface RateLimitBackoff {
  /** Milliseconds that the calls of a scope still wait. */
  remaining(scope: string): number;
  /** Starts a pause. @param seconds - the Retry-After of the 429; undefined without one */
  start(scope: string, seconds: number | undefined): void;
  /** Forgets a pause that is over: the calls of the scope are answered again. */
  end(scope: string): void;
}

/** The first pause without a Retry-After. */
const FIRST_PAUSE_MS = 250;
const MAX_GUESSED_PAUSE_MS = 10_000;
/** Scopes whose pauses are remembered. */
const MAX_SCOPES = 1000;

interface Pause {
  readonly until: number;
  /** How many pauses in a row came without a Retry-After. */
  readonly guesses: number;
}

/** @param now - milliseconds of a clock that only goes forward */
export function createRateLimitBackoff(
  now: () => number,
  random: () => number = Math.random,
): RateLimitBackoff {
  const pauses = new LRUCache<string, Pause>({ max: MAX_SCOPES });
  const left = (pause: Pause | undefined): number =>
    pause === undefined ? 0 : Math.max(0, pause.until - now());
  return {
    remaining: (scope) => left(pauses.get(scope)),
    start(scope, seconds) {
      const before = pauses.get(scope);
      // Calls in flight together get their 429 together: count it once.
      if (left(before) > 0 && seconds === undefined) return;
      const guesses = seconds === undefined ? (before?.guesses ?? 0) + 1 : 0;
      // At random, so that processes do not return all at once.
      const guessedMs =
        Math.min(FIRST_PAUSE_MS * 2 ** (guesses - 1), MAX_GUESSED_PAUSE_MS) * (0.75 + random() / 2);
      const pauseMs = seconds === undefined ? guessedMs : seconds * 1000;
      pauses.set(scope, { until: Math.max(now() + pauseMs, before?.until ?? 0), guesses });
    },
    end(scope) {
      if (left(pauses.get(scope)) === 0) pauses.delete(scope);
    },
  };
}
