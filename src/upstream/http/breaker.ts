// A circuit breaker: after several failures in a row it opens for a while, then one probe call
// decides. Not a library, because a call ends with its body, an aborted call says nothing, and
// callers need to know when to retry.

/** Closed: calls go through. Open: none does. Half-open: one may, and decides. */
export type BreakerState = 'closed' | 'open' | 'half-open';

/** How a call ended: `left` when it says nothing of the upstream. */
export type CallEnding = 'well' | 'failed' | 'left';

export interface BreakerRules {
  /** Failures in a row after which it opens. */
  readonly failures: number;
  /** Milliseconds that it stays open the first time; twice as long after every failed trial. */
  readonly first: number;
  /** Milliseconds that it stays open at most. */
  readonly longest: number;
}

export interface Breaker {
  state(): BreakerState;
  /** Milliseconds until a call may be let through; 0: one may now. */
  wait(): number;
  /**
   * Lets a call through that {@link wait} allowed.
   *
   * @returns the callback for its end, called once
   */
  enter(): (ending: CallEnding) => void;
}

/** How soon to ask again while another call tries. Milliseconds. */
const TRIAL_MS = 1000;

/** A closed breaker. @param now - milliseconds of a clock that only goes forward */
export function openBreaker(rules: BreakerRules, now: () => number): Breaker {
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
    state() {
      if (opened === 0) return 'closed';
      return now() < until ? 'open' : 'half-open';
    },
    wait() {
      if (opened === 0) return 0;
      const left = until - now();
      return left > 0 ? left : trial ? TRIAL_MS : 0;
    },
    enter() {
      const tries = opened > 0;
      if (tries) trial = true;
      return (ending) => {
        if (tries) trial = false;
        if (ending === 'well') close();
        else if (ending === 'failed') {
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
