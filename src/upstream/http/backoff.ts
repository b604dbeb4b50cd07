// When a host is left alone: a circuit breaker, which opens after several failures in a row until one
// probe call decides, and pauses after 429, which apply to all calls of a scope. No library: a call
// ends with its body, an aborted call says nothing, and callers need to know when to retry.

/** Closed: calls go through. Open: none does. Half-open: one may, and decides. */
export type BreakerState = 'closed' | 'open' | 'half-open';

/** How a call ended: `left` when it says nothing of the upstream. */
export type BreakerOutcome = 'well' | 'failed' | 'left';

export interface BreakerRules {
  /** Failures in a row after which it opens. */
  readonly failures: number;
  /** Milliseconds that it stays open the first time; twice as long after every failed trial. */
  readonly first: number;
  /** Milliseconds that it stays open at most. */
  readonly longest: number;
}

export type Breaker = ReturnType<typeof openBreaker>;

/** How soon to ask again while another call tries. Milliseconds. */
const TRIAL_MS = 1000;

/** A closed breaker. @param now - milliseconds of a clock that only goes forward */
export function openBreaker(rules: BreakerRules, now: () => number) {
  let failures = 0;
  /** How often in a row it has opened; 0: closed. */
  let opened = 0;
  let until = 0;
  let trial = false;

  const close = () => {
    failures = 0;
    opened = 0;
  };
  const open = () => {
    opened += 1;
    until = now() + Math.min(rules.first * 2 ** (opened - 1), rules.longest);
  };

  return {
    state(): BreakerState {
      if (opened === 0) return 'closed';
      return now() < until ? 'open' : 'half-open';
    },
    /** Milliseconds until a call may be let through; 0: one may now. */
    wait(): number {
      if (opened === 0) return 0;
      const left = until - now();
      return left > 0 ? left : trial ? TRIAL_MS : 0;
    },
    /** Lets a call through that wait allowed. @returns the callback for its end, called once */
    enter(): (outcome: BreakerOutcome) => void {
      const tries = opened > 0;
      if (tries) trial = true;
      return (outcome) => {
        if (tries) trial = false;
        if (outcome === 'well') close();
        else if (outcome === 'failed') {
          if (tries) open();
          // One that began before it opened tells nothing new.
          else if (opened === 0) {
            failures += 1;
            if (failures >= rules.failures) open();
          }
        }
      };
    },
  };
}

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
