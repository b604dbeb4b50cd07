// Circuit breaker of a host: it opens after several failed connections in a row, and then one trial
// call decides. Only failed connections count. An answer, whatever its status, and a connection
// that breaks after the request was sent may be the fault of one caller's input.

/** Closed: calls go through. Open: none does. Half-open: one may, and decides. */
export type BreakerState = 'closed' | 'open' | 'half-open';

/** The outcome of a call; `unknown` for a call that its caller aborted. */
export type Reachability = 'reached' | 'unreachable' | 'unknown';

export interface BreakerRules {
  /** Failed connections in a row after which it opens. */
  readonly failures: number;
  /** Milliseconds that it stays open the first time; twice as long after every failed trial. */
  readonly first: number;
  /** Milliseconds that it stays open at most. */
  readonly longest: number;
}

export const defaultBreakerRules: BreakerRules = { failures: 10, first: 5_000, longest: 60_000 };

export interface Breaker {
  state(): BreakerState;
  /** Milliseconds until a call may be let through; 0 when one may now. */
  wait(): number;
  /** Lets a call through that `wait` allowed. @returns the callback for its end, called once */
  enter(): (outcome: Reachability) => void;
}

/** How soon to ask again while a trial call is under way. */
const TRIAL_MS = 1000;

/** Creates a closed breaker. @param now - milliseconds of a clock that only goes forward */
export function createBreaker(rules: BreakerRules, now: () => number): Breaker {
  let failures = 0;
  /** How often in a row it has opened; 0 when it is closed. */
  let timesOpened = 0;
  let openUntil = 0;
  let hasTrial = false;

  const open = () => {
    timesOpened += 1;
    openUntil = now() + Math.min(rules.first * 2 ** (timesOpened - 1), rules.longest);
  };

  return {
    state() {
      if (timesOpened === 0) return 'closed';
      return now() < openUntil ? 'open' : 'half-open';
    },
    wait() {
      if (timesOpened === 0) return 0;
      const left = openUntil - now();
      return left > 0 ? left : hasTrial ? TRIAL_MS : 0;
    },
    enter() {
      const isTrial = timesOpened > 0;
      if (isTrial) hasTrial = true;
      return (outcome) => {
        if (isTrial) hasTrial = false;
        if (outcome === 'reached') {
          failures = 0;
          timesOpened = 0;
        } else if (outcome === 'unreachable' && isTrial) open();
        // A call that began before the breaker opened shows nothing new.
        else if (outcome === 'unreachable' && timesOpened === 0) {
          failures += 1;
          if (failures >= rules.failures) open();
        }
      };
    },
  };
}
