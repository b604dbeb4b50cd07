// Limiter of one host, for all requests of a process: calls in flight with fair shares, a circuit
// breaker, and pauses after 429.
//
// The rule of the shares: a caller may have as many calls in flight as places are free. A caller
// alone gets half of the places, two get a third each, and the next one always finds some free.
import { LRUCache } from 'lru-cache';
import { type Clock, systemClock } from '../../async/clock.ts';
import { UpstreamError } from '../errors.ts';
import { createRateLimitBackoff } from './backoff.ts';
import { type BreakerRules, type BreakerState, createBreaker, type Reachability } from './breaker.ts';
import { createFairQueue } from './fair-queue.ts';

export interface HostLimits {
  /** Reads in flight at the same time (`UPSTREAM_MAX_IN_FLIGHT`). */
  readonly inFlight: number;
  /** Reads that wait; one more is refused. */
  readonly queue: number;
  readonly breaker: BreakerRules;
}

export interface LimitedCall {
  /** The name of the caller in whose share it counts. */
  readonly caller: string;
  readonly operation: string;
  /** Whether it is sent at once, beside the shares, such as Submit. */
  readonly isUrgent: boolean;
  /** Scope of a pause after a 429; undefined for a call that ignores pauses. */
  readonly scope: string | undefined;
  readonly signal: AbortSignal | undefined;
  readonly maxWaitMs: number;
}

/** How a call ended: `slowed` with a 429. */
export type CallOutcome = Reachability | 'slowed';

/** Ends the call that has it. Only the first call of it counts. */
export type Permit = (outcome: CallOutcome) => void;

/** Why a call is not sent now. */
type HoldReason = 'breaker' | 'paused' | 'full' | 'waited';

export interface HostLimiterState {
  readonly inFlight: number;
  readonly queued: number;
  /** The circuit breaker, which opens when no connection can be made. */
  readonly host: BreakerState;
}

export interface HostLimiter {
  /**
   * Waits until the call may be sent.
   *
   * @throws UpstreamError with `sent: false`, or the abort reason
   */
  enter(call: LimitedCall): Promise<Permit>;
  /** Pauses a scope after a 429. @param seconds - its Retry-After; undefined without one */
  slowDown(scope: string, seconds: number | undefined): void;
  /** For metrics. */
  state(): HostLimiterState;
}

/** A call waits for a pause of up to so many milliseconds; for a longer one it is refused. */
const MAX_PAUSE_MS = 5_000;

interface Waiting {
  readonly caller: string;
  start(): void;
  refuse(reason: HoldReason): void;
}

/** A state of the host in which a call has to wait. */
interface Hold {
  readonly reason: HoldReason;
  readonly waitMs: number;
}

const HOLD_TEXTS: Readonly<Record<HoldReason, (seconds: number) => string>> = {
  breaker: (seconds) => `The upstream cannot be reached; it is asked again in ${seconds} s.`,
  paused: (seconds) => `The upstream asked to slow down for ${seconds} s.`,
  full: () => 'Too many calls wait for the upstream; try again in a moment.',
  waited: () => 'The call waited too long for its turn; try again in a moment.',
};

function toHeldBackError({ reason, waitMs }: Hold, operation: string): UpstreamError {
  const seconds = Math.max(1, Math.ceil(waitMs / 1000));
  const text = `${HOLD_TEXTS[reason](seconds)} This call was not sent (${operation}).`;
  return new UpstreamError(text, {
    operation,
    code: reason === 'paused' || reason === 'full' ? 'RATE_LIMITED' : 'UPSTREAM_UNAVAILABLE',
    retryable: true,
    retryAfterSeconds: seconds,
    sent: false,
    heldBack: true,
  });
}

/** Creates the limiter of a host. */
export function createHostLimiter(limits: HostLimits, clock: Clock = systemClock): HostLimiter {
  const breaker = createBreaker(limits.breaker, clock.monotonic);
  const pauses = createRateLimitBackoff(clock.monotonic, clock.random);
  const queue = createFairQueue<Waiting>();
  /** Calls in flight by caller. */
  const byCaller = new Map<string, number>();
  let inFlight = 0;

  const hasShare = ({ caller }: Waiting | LimitedCall): boolean =>
    (byCaller.get(caller) ?? 0) < limits.inFlight - inFlight;

  const count = (caller: string, change: 1 | -1): void => {
    inFlight += change;
    const calls = (byCaller.get(caller) ?? 0) + change;
    if (calls === 0) byCaller.delete(caller);
    else byCaller.set(caller, calls);
  };

  /** Ends a call in flight and starts those that have their share now. */
  const endCall = ({ caller }: LimitedCall): void => {
    count(caller, -1);
    for (let next = queue.shift(hasShare); next !== undefined; next = queue.shift(hasShare)) next.start();
  };

  /** Null when the breaker is closed and the scope of the call does not pause. */
  const findHold = ({ scope }: LimitedCall): Hold | null => {
    const closedMs = breaker.wait();
    if (closedMs > 0) return { reason: 'breaker', waitMs: closedMs };
    const pauseMs = scope === undefined ? 0 : pauses.remaining(scope);
    return pauseMs > 0 ? { reason: 'paused', waitMs: pauseMs } : null;
  };

  /** Waits for a short pause to end. @throws UpstreamError for a longer one, or the abort reason */
  const waitForHost = async (call: LimitedCall): Promise<void> => {
    for (let hold = findHold(call); hold !== null; hold = findHold(call)) {
      if (hold.reason === 'breaker' || hold.waitMs > MAX_PAUSE_MS)
        throw toHeldBackError(hold, call.operation);
      await clock.sleep(hold.waitMs, { signal: call.signal }).catch(() => call.signal?.throwIfAborted());
    }
  };

  const createPermit = (call: LimitedCall): Permit => {
    const report = breaker.enter();
    let hasEnded = false;
    return (outcome) => {
      if (hasEnded) return;
      hasEnded = true;
      report(outcome === 'slowed' ? 'reached' : outcome);
      if (outcome === 'reached' && call.scope !== undefined) pauses.end(call.scope);
      if (!call.isUrgent) endCall(call);
    };
  };

  /** Waits in the queue. @throws UpstreamError or the abort reason */
  const waitForShare = ({ operation, caller, signal, maxWaitMs }: LimitedCall): Promise<void> =>
    new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      const waiting: Waiting = {
        caller,
        start() {
          leave();
          count(caller, 1);
          resolve();
        },
        refuse(reason) {
          leave();
          reject(toHeldBackError({ reason, waitMs: 1000 }, operation));
        },
      };
      const stopTimer = clock.after(maxWaitMs, () => waiting.refuse('waited'), { ref: false });
      function abort(): void {
        leave();
        reject(signal?.reason);
      }
      function leave(): void {
        queue.remove(waiting);
        stopTimer();
        signal?.removeEventListener('abort', abort);
      }
      signal?.addEventListener('abort', abort);
      queue.push(waiting);
      if (queue.size > limits.queue) queue.dropLast(caller)?.refuse('full');
    });

  return {
    async enter(call) {
      for (;;) {
        await waitForHost(call);
        if (call.isUrgent) return createPermit(call);
        if (hasShare(call)) {
          count(call.caller, 1);
          return createPermit(call);
        }
        await waitForShare(call);
        // The breaker may have opened, or a pause begun, while it waited.
        if (findHold(call) === null) return createPermit(call);
        endCall(call);
      }
    },
    slowDown: pauses.start,
    state: () => ({ inFlight, queued: queue.size, host: breaker.state() }),
  };
}

export interface HostLimiters {
  readonly api: HostLimiter;
  /** The limiter of a host of files, whose failure delays no other. */
  files(host: string): HostLimiter;
  state(): { readonly api: HostLimiterState; readonly files: readonly HostLimiterState[] };
}

/** Hosts that are remembered; the one asked least recently is forgotten first. */
const MAX_HOSTS = 50;

/** Creates the limiters of a process. */
export function createHostLimiters(limits: HostLimits, clock: Clock = systemClock): HostLimiters {
  const api = createHostLimiter(limits, clock);
  const hosts = new LRUCache<string, HostLimiter>({ max: MAX_HOSTS });
  return {
    api,
    files(host) {
      const limiter = hosts.get(host) ?? createHostLimiter(limits, clock);
      hosts.set(host, limiter);
      return limiter;
    },
    state: () => ({ api: api.state(), files: [...hosts.values()].map((limiter) => limiter.state()) }),
  };
}
