// Metrics of the limiters of upstream hosts: calls in flight, calls queued, open circuit breakers,
// calls held back.
import { Counter, Gauge, type Registry } from 'prom-client';
import type { Gates } from '../upstream/http/host-limiters.ts';

const LEVELS = { closed: 0, 'half-open': 1, open: 2 } as const;

/** Adds the limiters' metrics to a registry, which calls `state` at each scrape. */
export function addGateMetrics(registers: Registry[], state: Gates['state']): void {
  const each = (tell: (host: 'api' | 'files', gate: ReturnType<Gates['state']>['api']) => void) => {
    const { api, files } = state();
    tell('api', api);
    tell('files', files);
  };
  const gauge = (name: string, help: string, of: 'inFlight' | 'queued' | 'paused') =>
    new Gauge({
      name: `foldatlas_upstream_${name}`,
      help,
      labelNames: ['host'],
      registers,
      collect() {
        each((host, gate) => this.set({ host }, gate[of]));
      },
    });
  gauge('in_flight', 'Upstream calls under way.', 'inFlight');
  gauge('queued', 'Upstream calls that wait for their turn.', 'queued');
  gauge('paused', 'Callers whose calls wait because the upstream told them to slow down.', 'paused');
  new Gauge({
    name: 'foldatlas_upstream_breaker',
    help: 'Circuit breakers: 0 closed, 1 half-open, 2 open. The operation `*` is the host itself.',
    labelNames: ['host', 'operation'],
    aggregator: 'max',
    registers,
    collect() {
      each((host, gate) => {
        this.set({ host, operation: '*' }, LEVELS[gate.host]);
        for (const [operation, breaker] of Object.entries(gate.operations))
          this.set({ host, operation }, LEVELS[breaker]);
      });
    },
  });
  new Counter({
    name: 'foldatlas_upstream_held_back_total',
    help: 'Upstream calls that were not sent, by why.',
    labelNames: ['host', 'reason'],
    registers,
    collect() {
      this.reset();
      each((host, { refused }) => {
        for (const [reason, count] of Object.entries(refused)) this.inc({ host, reason }, count);
      });
    },
  });
}
