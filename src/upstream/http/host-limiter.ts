// The limiter of one host, for all requests of a process: concurrency with a fair queue, in which
// callers, and the requests of one caller, take turns; circuit breaker, back-off after 429. Every
// call passes it.
import { setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { startDeadline } from '../../async/deadline.ts';
import { UpstreamError } from '../errors.ts';
import { createRateLimitBackoff } from './backoff.ts';
import { type BreakerRules, createBreaker, type Reachability } from './breaker.ts';

export function fairQueue<T>() {
  /** Items by caller and request; of each map the first has its turn, and stands last after it. */
  const callers = new Map<string, Map<string, T[]>>();
  let size = 0;

  /** Takes out one item; a request and a caller without any more are forgotten. */
  const take = (caller: string, request: string, at: number): T | undefined => {
    const requests = callers.get(caller);
    const items = requests?.get(request);
    const item = items?.splice(at, 1)[0];
    if (items?.length === 0) requests?.delete(request);
    if (requests?.size === 0) callers.delete(caller);
    size -= 1;
    return item;
  };

  return {
    get size() {
      return size;
    },
    /** Puts an item behind the others of its caller's request. */
    push(caller: string, request: string, item: T) {
      const requests = callers.get(caller) ?? new Map<string, T[]>();
      const items = requests.get(request) ?? [];
      callers.set(caller, requests.set(request, items));
      items.push(item);
      size += 1;
    },
    shift(): T | undefined {
      for (const [caller, requests] of callers) {
        for (const [request, items] of requests) {
          callers.delete(caller);
          callers.set(caller, requests);
          requests.delete(request);
          requests.set(request, items);
          return take(caller, request, 0);
        }
      }
      return undefined;
    },
    /** Takes out an item that does not want to wait any longer. @returns whether it was waiting */
    remove(caller: string, request: string, item: T): boolean {
      const at = callers.get(caller)?.get(request)?.indexOf(item) ?? -1;
      if (at !== -1) take(caller, request, at);
      return at !== -1;
    },
    /** Removes the last item of the longest queue; of this caller's when none is longer. */
    dropLast(caller: string): T | undefined {
      const lengthOf = (name: string): number =>
        [...(callers.get(name)?.values() ?? [])].reduce((sum, items) => sum + items.length, 0);
      let longest = { name: caller, length: lengthOf(caller) };
      for (const name of callers.keys())
        if (lengthOf(name) > longest.length) longest = { name, length: lengthOf(name) };
      const requests = [...(callers.get(longest.name) ?? [])];
      const most = Math.max(...requests.map(([, items]) => items.length));
      const fullest = requests.findLast(([, items]) => items.length === most);
      return fullest && take(longest.name, fullest[0], most - 1);
    },
  };
}

export interface HostLimits {
  /** Calls under way at the same time (`UPSTREAM_MAX_IN_FLIGHT`). */
  readonly inFlight: number;
  /** Calls that wait (`UPSTREAM_MAX_QUEUE`); one more is refused. */
  readonly queue: number;
  readonly breaker: BreakerRules;
}

export const defaultHostLimits: HostLimits = {
  inFlight: 64,
  queue: 1000,
  breaker: { failures: 10, first: 5_000, longest: 60_000 },
};

export interface QueuedCall {
  readonly operation: string;
  readonly caller: string;
  readonly request: string;
  /** Scope of a shared pause; undefined for a call that ignores pauses. */
  readonly scope: string | undefined;
  readonly signal: AbortSignal | undefined;
  readonly maxWaitMs: number;
}

/** How a call ended: `slowed` with a 429. */
export type CallOutcome = Reachability | 'slowed';

/** Ends the call that has it, which must happen once; later times do nothing. */
export type Permit = (outcome: CallOutcome) => void;

type Refused = 'breaker' | 'paused' | 'full' | 'waited';

export type HostLimiter = ReturnType<typeof createHostLimiter>;

/** A call waits for a pause of up to so many milliseconds; for a longer one it is refused. */
const MAX_PAUSE_MS = 5_000;

interface Waiting {
  readonly go: () => void;
  readonly refuse: (why: Refused) => void;
}

/** Creates the limiter of a host. @param now - milliseconds of a clock that only goes forward */
export function createHostLimiter(limits: HostLimits, now: () => number = () => performance.now()) {
  const breaker = createBreaker(limits.breaker, now);
  const slow = createRateLimitBackoff(now);
  const queue = fairQueue<Waiting>();
  const refused = { breaker: 0, paused: 0, full: 0, waited: 0 };
  let inFlight = 0;

  const refusal = (why: Refused, operation: string, wait: number): UpstreamError => {
    refused[why] += 1;
    const again = Math.max(1, Math.ceil(wait / 1000));
    const text = {
      breaker:
        `The upstream cannot be reached; it is asked for ${operation} again in ${again} s. ` +
        'This call was not sent.',
      paused: `The upstream asked to slow down for ${again} s. The call for ${operation} was not sent.`,
      full:
        `Too many calls wait for the upstream. The call for ${operation} was not sent; ` +
        'try again in a moment.',
      waited:
        `The call for ${operation} waited too long for its turn and was not sent. ` +
        'Try again in a moment.',
    }[why];
    return new UpstreamError(text, {
      operation,
      code: why === 'paused' || why === 'full' ? 'RATE_LIMITED' : 'UPSTREAM_UNAVAILABLE',
      retryable: true,
      retryAfterSeconds: again,
      sent: false,
      heldBack: true,
    });
  };

  /** @throws UpstreamError when the call may not go now */
  const check = ({ operation, scope }: QueuedCall): number => {
    const shut = breaker.wait();
    if (shut > 0) throw refusal('breaker', operation, shut);
    const wait = scope === undefined ? 0 : slow.wait(scope);
    if (wait > MAX_PAUSE_MS) throw refusal('paused', operation, wait);
    return wait;
  };

  const next = (): void => {
    inFlight -= 1;
    queue.shift()?.go();
  };

  /** The permit of a call that has a place. */
  const permit = ({ scope }: QueuedCall): Permit => {
    const leave = breaker.enter();
    let ended = false;
    return (outcome) => {
      if (ended) return;
      ended = true;
      leave(outcome === 'slowed' ? 'reached' : outcome);
      if (outcome === 'reached' && scope !== undefined) slow.served(scope);
      next();
    };
  };

  const place = ({ operation, caller, request, signal, maxWaitMs }: QueuedCall): Promise<void> =>
    new Promise((resolve, reject) => {
      const deadline = startDeadline(signal, maxWaitMs);
      const waiting: Waiting = {
        go() {
          deadline.end();
          inFlight += 1;
          resolve();
        },
        refuse(why) {
          deadline.end();
          reject(refusal(why, operation, 1000));
        },
      };
      const leave = () => {
        queue.remove(caller, request, waiting);
        if (signal?.aborted === true) reject(signal.reason);
        else waiting.refuse('waited');
      };
      if (deadline.signal.aborted) return leave();
      deadline.signal.addEventListener('abort', leave);
      queue.push(caller, request, waiting);
      if (queue.size > limits.queue) queue.dropLast(caller)?.refuse('full');
      return undefined;
    });

  /** The way of a call that has to wait for something. */
  const wait = async (call: QueuedCall): Promise<Permit> => {
    for (;;) {
      const slowed = check(call);
      if (slowed > 0) {
        await sleep(slowed, undefined, { signal: call.signal }).catch(() => {
          throw call.signal?.reason;
        });
        continue;
      }
      if (inFlight < limits.inFlight && queue.size === 0) inFlight += 1;
      else await place(call);
      // While it waited for its place things may have changed.
      let isPermitted = false;
      try {
        isPermitted = check(call) === 0;
      } finally {
        if (!isPermitted) next();
      }
      if (isPermitted) return permit(call);
    }
  };

  return {
    /** Gives a permit, at once if nothing prevents it. @throws UpstreamError with `sent: false` */
    enter(call: QueuedCall): Permit | Promise<Permit> {
      if (inFlight >= limits.inFlight || check(call) > 0) return wait(call);
      inFlight += 1;
      return permit(call);
    },
    /** Notes a 429. @param seconds - as its Retry-After says */
    slowDown: slow.note,
    /** Milliseconds that a scope waits yet. */
    pauseOf: slow.wait,
    /** What can be seen of it from outside, for metrics. */
    state: () => ({
      inFlight,
      queued: queue.size,
      /** Whether the host is tried: it opens when no connection can be made. */
      host: breaker.state(),
      paused: slow.count,
      refused: { ...refused },
    }),
  };
}

export type HostLimiters = ReturnType<typeof createHostLimiters>;

/** Hosts that are remembered; the one asked least recently is forgotten first. */
const MAX_HOSTS = 50;

/** The limiters of a process. Each host of files has its own, whose failure delays no other. */
export function createHostLimiters(limits: HostLimits) {
  const api = createHostLimiter(limits);
  const hosts = new LRUCache<string, HostLimiter>({ max: MAX_HOSTS });
  return {
    api,
    files(host: string): HostLimiter {
      const limiter = hosts.get(host) ?? createHostLimiter(limits);
      hosts.set(host, limiter);
      return limiter;
    },
    state: () => ({ api: api.state(), files: [...hosts.values()].map((limiter) => limiter.state()) }),
  };
}
