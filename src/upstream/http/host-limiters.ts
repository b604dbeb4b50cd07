// The limiters of a process: one for the service, and one for each download host, so that a failing
// file store delays only its own files.
import { LRUCache } from 'lru-cache';
import { createHostLimiter, type GateRules, type GateState, type HostLimiter } from './host-limiter.ts';

export type Gates = ReturnType<typeof openGates>;

/** Hosts that are remembered; the one asked least recently is forgotten first. */
const MAX_HOSTS = 50;

const STATES = ['closed', 'half-open', 'open'] as const;

/** Several gates as one: everything added up, the worst state of each breaker. */
function together(states: readonly GateState[]): GateState {
  const sum = (of: (state: GateState) => number) => states.reduce((total, state) => total + of(state), 0);
  const worst = (found: readonly GateState['host'][]) =>
    STATES[Math.max(0, ...found.map((state) => STATES.indexOf(state)))] ?? 'closed';
  const names = new Set(states.flatMap(({ operations }) => Object.keys(operations)));
  return {
    inFlight: sum((state) => state.inFlight),
    queued: sum((state) => state.queued),
    host: worst(states.map(({ host }) => host)),
    operations: Object.fromEntries(
      [...names].map((name) => [name, worst(states.map(({ operations }) => operations[name] ?? 'closed'))]),
    ),
    paused: sum((state) => state.paused),
    refused: {
      breaker: sum(({ refused }) => refused.breaker),
      paused: sum(({ refused }) => refused.paused),
      full: sum(({ refused }) => refused.full),
      waited: sum(({ refused }) => refused.waited),
    },
  };
}

/** Opens the gates of a process. */
export function openGates(rules: GateRules) {
  const api = createHostLimiter(rules);
  const hosts = new LRUCache<string, HostLimiter>({ max: MAX_HOSTS });
  return {
    /** To the service. */
    api,
    /** To a host that files are fetched from. */
    files(host: string): HostLimiter {
      const gate = hosts.get(host) ?? createHostLimiter(rules);
      hosts.set(host, gate);
      return gate;
    },
    /** What can be seen of them, the hosts of files taken together. */
    state: () => ({ api: api.state(), files: together([...hosts.values()].map((gate) => gate.state())) }),
  };
}
