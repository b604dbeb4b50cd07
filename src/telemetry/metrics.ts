// The Prometheus metrics of a gateway, in a registry of its own. Label values come from small fixed
// sets: no ids, no names that a caller chooses, no secrets.
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { withTimeout } from '../async/deadline.ts';
import { VERSION } from '../package.ts';
import type { HostLimiters } from '../upstream/http/host-limiter.ts';

/**
 * Metrics that read Node's active handles and requests. On Node 20 that can end the process while
 * one of them is closing (`Assertion failed: !obj.IsEmpty()`).
 */
const CRASHING_METRICS = [
  'nodejs_active_handles',
  'nodejs_active_handles_total',
  'nodejs_active_requests',
  'nodejs_active_requests_total',
];

let processRegistry: Registry | undefined;

/** Event loop, memory, garbage collection: collected once for all gateways of a process. */
function processMetrics(): Registry {
  if (processRegistry === undefined) {
    processRegistry = new Registry();
    collectDefaultMetrics({ register: processRegistry });
    for (const name of CRASHING_METRICS) processRegistry.removeSingleMetric(name);
  }
  return processRegistry;
}

export interface Load {
  /** HTTP connections and WebSockets that are open. */
  readonly connections: number;
  /** Requests that are worked on. */
  readonly places: number;
}

/** What is read at each scrape. */
export interface MetricSources {
  /** Batches that this process polls for its watchers. */
  readonly pollers: () => number;
  readonly watchers: () => number;
  readonly isLedgerLost: () => boolean;
  /** Bytes of the ledger's store; rejects where the store does not say. */
  readonly storeUsage: () => Promise<{ readonly usedBytes: number; readonly limitBytes: number | null }>;
  readonly limiters: HostLimiters['state'];
  readonly load: () => Load;
}

/** How long a store may take to say how full it is. */
const STORE_MS = 500;
const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

export type Metrics = ReturnType<typeof openMetrics>;

export function openMetrics(sights: MetricSources) {
  const registry = new Registry();
  const registers = [registry];
  const counter = <L extends string>(name: string, help: string, labelNames: readonly L[]) =>
    new Counter<L>({ name: `foldatlas_${name}`, help, labelNames, registers });
  const histogram = <L extends string>(name: string, help: string, label: L) =>
    new Histogram<L>({ name: `foldatlas_${name}`, help, labelNames: [label], buckets: SECONDS, registers });
  /** A gauge that is read at each scrape. It keeps its value where there is none to read. */
  const watched = (name: string, help: string, read: () => number | Promise<number | undefined>) =>
    new Gauge({
      name: `foldatlas_${name}`,
      help,
      registers,
      async collect() {
        const value = await read();
        if (value !== undefined) this.set(value);
      },
    });
  const ofStore = (name: string, help: string, read: () => Promise<number>) =>
    watched(name, help, () => withTimeout(read(), STORE_MS, () => undefined).catch(() => undefined));

  new Gauge({
    name: 'foldatlas_build_info',
    help: 'Always 1; the labels say what runs.',
    labelNames: ['version', 'node'],
    registers,
  }).set({ version: VERSION, node: process.versions.node }, 1);

  const inFlight = { now: 0 };
  const { load, storeUsage } = sights;
  watched('pollers', 'Batches that are polled because clients watch them.', sights.pollers);
  watched('watchers', 'Streams of batches that are watched.', sights.watchers);
  watched('requests_in_flight', 'Requests, streams among them, that are being answered.', () => inFlight.now);
  watched('connections', 'Connections of clients that are open.', () => load().connections);
  watched('request_places', 'Requests that are worked on.', () => load().places);
  watched(
    'ledger_lost',
    '1 when the ledger has lost what it knew, and submissions with a key are refused.',
    () => (sights.isLedgerLost() ? 1 : 0),
  );
  const usedBytes = async () => (await storeUsage()).usedBytes;
  const limitBytes = async () => (await storeUsage()).limitBytes ?? 0;
  ofStore('store_used_bytes', 'Bytes that the store of the ledger uses.', usedBytes);
  const limit = 'Bytes that the store of the ledger may use; 0 where it has no limit.';
  ofStore('store_limit_bytes', limit, limitBytes);
  addLimiterMetrics(registers, sights.limiters);
  const errors = counter('errors_total', 'Errors in GraphQL answers by extensions.code.', ['code']);
  const storeErrors = counter('store_errors_total', 'Failures of the store.', ['store']);
  // What alerts ask for is there at 0: Prometheus sees no increase in a series that begins with 1.
  errors.inc({ code: 'INTERNAL_SERVER_ERROR' }, 0);
  for (const store of ['cache', 'ledger', 'documents', 'rates', 'connection']) storeErrors.inc({ store }, 0);

  return {
    drifts: counter(
      'upstream_drifts_total',
      'Errors in answers because the service changed, by operation and place in its answer.',
      ['operation', 'path'],
    ),
    operations: counter('operations_total', 'GraphQL operations by their end.', ['type', 'name', 'outcome']),
    operationSeconds: histogram(
      'operation_duration_seconds',
      'Queries and mutations, start to last byte.',
      'type',
    ),
    errors,
    requests: counter('http_requests_total', 'HTTP requests by route and status.', [
      'route',
      'method',
      'status',
    ]),
    requestSeconds: histogram('http_request_duration_seconds', 'HTTP requests, start to last byte.', 'route'),
    /** Requests, streams among them, that are being answered. */
    inFlight,
    upstreamCalls: counter('upstream_calls_total', 'Tries of upstream calls by operation and outcome.', [
      'operation',
      'outcome',
    ]),
    upstreamSeconds: histogram(
      'upstream_call_duration_seconds',
      'Tries of upstream calls, to the first byte of the answer.',
      'operation',
    ),
    cacheHits: counter('cache_hits_total', 'Cache hits by kind and tier.', ['kind', 'tier']),
    cacheMisses: counter('cache_misses_total', 'Cache misses by kind.', ['kind']),
    storeErrors,
    refused: counter(
      'requests_refused_total',
      'HTTP requests refused before they ran: too many in flight, a late event loop, or a rate limit.',
      ['reason'],
    ),
    cutOff: counter('clients_cut_off_total', 'Connections closed at once because there were too many.', [
      'reason',
    ]),
    /** Where other parts of the gateway keep what they count. */
    registers,
    /** Everything in Prometheus' text format. */
    async text(): Promise<string> {
      return `${await registry.metrics()}\n${await processMetrics().metrics()}`;
    },
    contentType: registry.contentType,
  };
}

const LEVELS = { closed: 0, 'half-open': 1, open: 2 } as const;

/** Adds the limiters' metrics to a registry, which calls `state` at each scrape. */
function addLimiterMetrics(registers: Registry[], state: HostLimiters['state']): void {
  const hosts = () => Object.entries({ api: [state().api], files: state().files });
  const sumOf = (counts: readonly number[]): number => counts.reduce((sum, count) => sum + count, 0);
  for (const [name, help, key] of [
    ['in_flight', 'Upstream reads in flight.', 'inFlight'],
    ['queued', 'Upstream reads that wait for their turn.', 'queued'],
    ['paused', 'Callers whose calls wait after a 429 of the upstream.', 'paused'],
  ] as const) {
    new Gauge({
      name: `foldatlas_upstream_${name}`,
      help,
      labelNames: ['host'],
      registers,
      collect() {
        for (const [host, limiters] of hosts())
          this.set({ host }, sumOf(limiters.map((limiter) => limiter[key])));
      },
    });
  }
  new Gauge({
    name: 'foldatlas_upstream_breaker',
    help: 'Circuit breakers of hosts: 0 closed, 1 half-open, 2 open.',
    labelNames: ['host'],
    registers,
    collect() {
      for (const [host, limiters] of hosts())
        this.set({ host }, Math.max(0, ...limiters.map((limiter) => LEVELS[limiter.host])));
    },
  });
  new Counter({
    name: 'foldatlas_upstream_held_back_total',
    help: 'Upstream calls that were not sent, by why.',
    labelNames: ['host', 'reason'],
    registers,
    collect() {
      this.reset();
      for (const [host, limiters] of hosts()) {
        for (const reason of ['breaker', 'paused', 'full', 'waited'] as const)
          this.inc({ host, reason }, sumOf(limiters.map(({ refused }) => refused[reason])));
      }
    },
  });
}
