// The Prometheus metrics of a gateway, in a registry of its own. Label values come from small fixed
// sets: no ids, no names that a caller chooses, no secrets.
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { withTimeout } from '../async/deadline.ts';
import { VERSION } from '../package.ts';

/** How full a store is. */
export interface StoreSize {
  readonly usedBytes: number;
  readonly limitBytes: number | null;
}

/** Values that are read at each scrape. */
export interface MetricSources {
  /** Batches that this process polls for its watchers. */
  readonly pollers: () => number;
  readonly watchers: () => number;
  readonly isLedgerLost: () => boolean;
  /** Bytes of the ledger's store; rejects where the store does not say. */
  readonly storeUsage: () => Promise<StoreSize>;
  readonly limiters: () => { readonly api: LimiterState; readonly files: readonly LimiterState[] };
  /** HTTP connections and WebSockets that are open. */
  readonly connections: () => number;
  /** Requests, streams among them, that are being answered. */
  readonly inFlight: () => number;
  /** Estimated bytes of each cache in this process, by its name. */
  readonly cacheBytes: () => Readonly<Record<string, number>>;
}

/** State of the limiter of a host of the service. */
export interface LimiterState {
  readonly inFlight: number;
  readonly queued: number;
  /** Its circuit breaker. */
  readonly host: 'closed' | 'half-open' | 'open';
}

export interface Metrics {
  readonly errors: Counter<'code'>;
  readonly drifts: Counter<'operation' | 'path'>;
  readonly operations: Counter<'type' | 'name' | 'outcome'>;
  readonly operationSeconds: Histogram<'type'>;
  readonly requests: Counter<'route' | 'method' | 'status'>;
  readonly upstreamCalls: Counter<'operation' | 'outcome'>;
  readonly upstreamSeconds: Histogram<'operation'>;
  readonly cacheHits: Counter<'kind' | 'tier'>;
  readonly cacheMisses: Counter<'kind'>;
  readonly storeErrors: Counter<'store'>;
  readonly webhooks: Counter<'outcome'>;
  readonly refused: Counter<'reason'>;
  readonly cutOff: Counter<'reason'>;
  /** Everything in Prometheus' text format. */
  text(): Promise<string>;
  readonly contentType: string;
}

const BREAKER_VALUES = { closed: 0, 'half-open': 1, open: 2 } as const;
/** How long a store may take to say how full it is. */
const STORE_TIMEOUT_MS = 500;
const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/**
 * Metrics that read Node's active handles and requests. On Node 20 that can end the process while
 * one of them is closing (`Assertion failed: !obj.IsEmpty()`).
 */
const CRASHING_METRICS = [
  ...['nodejs_active_handles', 'nodejs_active_handles_total'],
  ...['nodejs_active_requests', 'nodejs_active_requests_total'],
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

export function createMetrics(sources: MetricSources): Metrics {
  const registry = new Registry();
  const registers = [registry];
  const counter = <L extends string>(name: string, help: string, ...labelNames: L[]) =>
    new Counter<L>({ name: `foldatlas_${name}`, help, labelNames, registers });
  const histogram = <L extends string>(name: string, help: string, label: L) =>
    new Histogram<L>({ name: `foldatlas_${name}`, help, labelNames: [label], buckets: SECONDS, registers });
  addGauges(registers, sources);
  addLimiterGauges(registers, sources.limiters);
  new Gauge({
    name: 'foldatlas_cache_bytes',
    help: 'Estimated bytes of the caches in this process, by kind.',
    labelNames: ['kind'],
    registers,
    collect() {
      for (const [kind, bytes] of Object.entries(sources.cacheBytes())) this.set({ kind }, bytes);
    },
  });
  const errors = counter('errors_total', 'Errors in GraphQL answers by extensions.code.', 'code');
  const storeErrors = counter('store_errors_total', 'Failures of the store.', 'store');
  // Prometheus sees no increase in a series that begins with 1, so what alerts ask for begins with
  // 0.
  errors.inc({ code: 'INTERNAL_SERVER_ERROR' }, 0);
  for (const store of ['cache', 'ledger', 'documents', 'rates', 'connection']) storeErrors.inc({ store }, 0);

  return {
    errors,
    storeErrors,
    drifts: counter(
      'upstream_drifts_total',
      'Errors in answers because the service changed, by operation and place in its answer.',
      'operation',
      'path',
    ),
    operations: counter('operations_total', 'GraphQL operations by their end.', 'type', 'name', 'outcome'),
    operationSeconds: histogram(
      'operation_duration_seconds',
      'Queries and mutations, start to last byte.',
      'type',
    ),
    requests: counter(
      'http_requests_total',
      'HTTP requests by route and status.',
      'route',
      'method',
      'status',
    ),
    upstreamCalls: counter(
      'upstream_calls_total',
      'Tries of upstream calls by operation and outcome.',
      'operation',
      'outcome',
    ),
    upstreamSeconds: histogram(
      'upstream_call_duration_seconds',
      'Tries of upstream calls, to the first byte of the answer.',
      'operation',
    ),
    cacheHits: counter('cache_hits_total', 'Cache hits by kind and tier.', 'kind', 'tier'),
    cacheMisses: counter('cache_misses_total', 'Cache misses by kind.', 'kind'),
    webhooks: counter(
      'webhooks_total',
      'Tries of webhooks: delivered, failed and to be tried again, or given up.',
      'outcome',
    ),
    refused: counter(
      'requests_refused_total',
      'HTTP requests refused before they ran: too many in flight, a late event loop, or a rate limit.',
      'reason',
    ),
    cutOff: counter(
      'clients_cut_off_total',
      'Connections closed because their clients took nothing of a response, or because there were too many.',
      'reason',
    ),
    text: async () => `${await registry.metrics()}\n${await processMetrics().metrics()}`,
    contentType: registry.contentType,
  };
}

function addGauges(registers: Registry[], sources: MetricSources): void {
  const { pollers, watchers, connections, inFlight, isLedgerLost, storeUsage } = sources;
  new Gauge({
    name: 'foldatlas_build_info',
    help: 'Always 1; the labels say what runs.',
    labelNames: ['version', 'node'],
    registers,
  }).set({ version: VERSION, node: process.versions.node }, 1);

  /** A gauge that is read at each scrape. It keeps its value where there is none to read. */
  function addGauge(name: string, help: string, read: () => number | Promise<number | undefined>): void {
    new Gauge({
      name: `foldatlas_${name}`,
      help,
      registers,
      async collect() {
        const value = await read();
        if (value !== undefined) this.set(value);
      },
    });
  }
  const readStore = (read: (usage: StoreSize) => number) => () =>
    withTimeout(storeUsage().then(read), STORE_TIMEOUT_MS, () => undefined).catch(() => undefined);

  addGauge('pollers', 'Batches that are polled because clients watch them.', pollers);
  addGauge('watchers', 'Streams of batches that are watched.', watchers);
  addGauge('requests_in_flight', 'Requests, streams among them, that are being answered.', inFlight);
  addGauge('connections', 'Connections of clients that are open.', connections);
  const lostHelp = '1 when the ledger has lost what it knew, and submissions with a key are refused.';
  addGauge('ledger_lost', lostHelp, () => Number(isLedgerLost()));
  const used = readStore(({ usedBytes }) => usedBytes);
  addGauge('store_used_bytes', 'Bytes that the store of the ledger uses.', used);
  const limit = readStore(({ limitBytes }) => limitBytes ?? 0);
  addGauge(
    'store_limit_bytes',
    'Bytes that the store of the ledger may use; 0 where it has no limit.',
    limit,
  );
}

/** Adds the gauges of the limiters of the service's hosts, which are read at each scrape. */
function addLimiterGauges(registers: Registry[], limiters: MetricSources['limiters']): void {
  function addGauge(name: string, help: string, read: (hosts: readonly LimiterState[]) => number): void {
    new Gauge({
      name: `foldatlas_upstream_${name}`,
      help,
      labelNames: ['host'],
      registers,
      collect() {
        const { api, files } = limiters();
        this.set({ host: 'api' }, read([api]));
        this.set({ host: 'files' }, read(files));
      },
    });
  }
  const sum = (counts: readonly number[]): number => counts.reduce((total, count) => total + count, 0);
  addGauge('in_flight', 'Upstream reads in flight.', (hosts) => sum(hosts.map(({ inFlight }) => inFlight)));
  addGauge('queued', 'Upstream reads in the queue.', (hosts) => sum(hosts.map(({ queued }) => queued)));
  addGauge('breaker', 'Circuit breakers of hosts: 0 closed, 1 half-open, 2 open.', (hosts) =>
    Math.max(0, ...hosts.map(({ host }) => BREAKER_VALUES[host])),
  );
}
