// Prometheus metrics of the upstream's contract. Labels come from the contract, never from an
// answer.
import { Counter, Gauge, type Registry } from 'prom-client';
import { PROMISED } from './answers.ts';
import type { Finding, Report } from './report.ts';
import { pathsOf, shapeOf } from './shape.ts';

const PATHS = new Set(Object.values(PROMISED).flatMap(({ schema }) => pathsOf(shapeOf(schema))));
const OTHERS = /^(HTTP status|content-type|body|UPSTREAM_\w+|\w+\.(json|fasta)|structures)$/;

/** The path as a label: one of the contract's, or `other`. */
const labelOf = (path: string): string => (PATHS.has(path) || OTHERS.test(path) ? path : 'other');

/** Registers the metrics. @returns the function that counts a difference */
export function openContractMetrics(registers: Registry[], report: () => Report): (finding: Finding) => void {
  new Gauge({
    name: 'foldatlas_upstream_contract',
    help: 'Operations whose contract was checked: 1 for the state that it is in.',
    labelNames: ['operation', 'state'],
    registers,
    collect() {
      this.reset();
      const worst = new Map<string, string>();
      const order = ['skipped', 'ok', 'unreachable', 'changed'];
      for (const { operation, status } of report().checks) {
        const state = status.toLowerCase();
        if (order.indexOf(state) > order.indexOf(worst.get(operation) ?? '')) worst.set(operation, state);
      }
      for (const [operation, state] of worst) this.set({ operation, state }, 1);
    },
  });
  const drifts = new Counter({
    name: 'foldatlas_upstream_drifts_total',
    help: 'Differences from the contract that were noticed, by operation and place.',
    labelNames: ['operation', 'path'],
    registers,
  });
  return ({ answer, path }) => drifts.inc({ operation: answer, path: labelOf(path) });
}
