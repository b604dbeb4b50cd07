// Pauses after a 429, which apply to all calls of a scope: as long as Retry-After says, or doubled each
// time where it says nothing.

/** The pause after a 429 that does not say how long: doubled for every one in a row. */
const FIRST_MS = 250;
const LONGEST_OWN_MS = 10_000;
/** Callers see a longer pause, but after this time the gateway tries the upstream again. */
const MAX_PAUSE_MS = 300_000;

/** Pauses that are over are forgotten from so many on. */
const MAX_SCOPES = 1000;

interface Pause {
  readonly until: number;
  /** How many pauses in a row had no time of their own. */
  readonly guesses: number;
}

export function createRateLimitBackoff(now: () => number) {
  const pauses = new Map<string, Pause>();
  const left = ({ until }: Pause): number => Math.max(0, until - now());
  return {
    /** Milliseconds that the calls of a scope have to wait yet. */
    wait(scope: string): number {
      const pause = pauses.get(scope);
      return pause === undefined ? 0 : left(pause);
    },
    /** Notes a 429 of a scope. @param seconds - its Retry-After; undefined without one */
    note(scope: string, seconds: number | undefined) {
      if (pauses.size >= MAX_SCOPES) {
        for (const [name, pause] of pauses) if (left(pause) === 0) pauses.delete(name);
      }
      const before = pauses.get(scope);
      // Calls in flight together get their 429 together: count it once.
      if (before !== undefined && left(before) > 0 && seconds === undefined) return;
      const guesses = seconds === undefined ? (before?.guesses ?? 0) + 1 : 0;
      // At random, so that processes do not return all at once.
      const own = Math.min(FIRST_MS * 2 ** (guesses - 1), LONGEST_OWN_MS) * (0.75 + Math.random() / 2);
      const asked = seconds === undefined ? own : Math.min(seconds * 1000, MAX_PAUSE_MS);
      pauses.set(scope, { until: Math.max(now() + asked, before?.until ?? 0), guesses });
    },
    /** Notes that the calls of a scope are served again. */
    served(scope: string) {
      const pause = pauses.get(scope);
      if (pause !== undefined && left(pause) === 0) pauses.delete(scope);
    },
    get count() {
      return [...pauses.values()].filter((pause) => left(pause) > 0).length;
    },
  };
}
