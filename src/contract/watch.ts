// The contract watch of a running gateway: repeats the checks in the background and adds
// differences seen in answers to ordinary queries. Its metrics.
import { randomUUID } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { Counter, Gauge, type Registry } from 'prom-client';
import { UpstreamError } from '../upstream/errors.ts';
import type { Upstream } from '../upstream/http/upstream-client.ts';
import { isAnswerName, PROMISED } from './answers.ts';
import { finding } from './checks/probe.ts';
import { type RunOptions, runChecks } from './checks/run-checks.ts';
import { compare } from './compare.ts';
import { type Check, type Finding, isProblem, type Report, shownUrl, statusOf } from './report.ts';
import { pathsOf, shapeOf } from './shape.ts';

export type ContractWatch = ReturnType<typeof openContractWatch>;

export interface WatchOptions extends Pick<RunOptions, 'downloads' | 'sandbox' | 'prefixes'> {
  /** The upstream for the checks, with the gateway's own key or none. */
  readonly openUpstream: (requestId: string, signal: AbortSignal) => Upstream;
  readonly baseUrl: string;
  /** Minutes between checks; 0 for checks on request only. */
  readonly minutes: number;
  /** Receives each important difference, every time it is seen. */
  readonly onDrift: (finding: Finding) => void;
  readonly onError: (error: unknown) => void;
}

const FIRST_MS = 15_000;
const LEAST_MS = 30_000;
/** Interval between checked answers of each kind, of which there are few. */
const SAMPLED = { max: 100, ttl: 60_000 } as const;
/** Differences in answers that are stored, each for so long after it was last seen. */
const NOTICED = { max: 100, ttl: 3_600_000 } as const;
const MOST_MEMBERS = 20;

/** Certain differences in an answer to an ordinary query, whose expected values are unknown. */
function noticedIn(name: string, read: () => unknown): Finding[] {
  if (!isAnswerName(name)) return [];
  let value: unknown;
  try {
    value = read();
  } catch (error) {
    if (!(error instanceof UpstreamError)) throw error;
  }
  if (value === undefined)
    return [finding(name, { kind: 'content', path: 'body', expected: 'JSON', seen: 'something else' })];
  return compare(PROMISED[name], value, { complete: false, most: MOST_MEMBERS })
    .map((drift) => finding(name, drift))
    .filter(isProblem);
}

export function openContractWatch({
  openUpstream,
  baseUrl,
  minutes,
  onDrift,
  onError,
  ...run
}: WatchOptions) {
  const ending = new AbortController();
  const noticed = new LRUCache<string, Finding>(NOTICED);
  const sampled = new LRUCache<string, true>(SAMPLED);
  let last: Report = {
    checkedAt: new Date(),
    upstream: shownUrl(baseUrl),
    sandbox: run.sandbox === true,
    status: 'SKIPPED',
    checks: [],
    limits: [],
    settings: {},
  };
  /** By the monotonic clock. */
  let lastAt = Number.NEGATIVE_INFINITY;
  let running: Promise<Report> | undefined;
  let timer: NodeJS.Timeout | undefined;

  const report = (): Report => {
    const groups = new Map<string, Finding[]>();
    for (const one of [...noticed.values()].reverse())
      groups.set(one.answer, [...(groups.get(one.answer) ?? []), one]);
    const traffic = Array.from(
      groups,
      ([operation, findings]): Check => ({
        name: `${operation}, seen in traffic`,
        operation,
        status: 'CHANGED',
        findings,
      }),
    );
    const checks = [...last.checks, ...traffic];
    return { ...last, checks, status: traffic.length === 0 ? last.status : statusOf(checks) };
  };

  const check = async (): Promise<Report> => {
    try {
      const up = openUpstream(`contract-${randomUUID()}`, ending.signal);
      last = await runChecks(up, { ...run, light: true });
      for (const one of last.checks.flatMap(({ findings }) => findings)) if (isProblem(one)) onDrift(one);
    } catch (error) {
      if (!ending.signal.aborted) onError(error);
    } finally {
      lastAt = performance.now();
      running = undefined;
    }
    return report();
  };

  const refresh = (): Promise<Report> => {
    if (running !== undefined) return running;
    if (ending.signal.aborted || performance.now() - lastAt < LEAST_MS) return Promise.resolve(report());
    running = check();
    return running;
  };

  const plan = (milliseconds: number): void => {
    timer = setTimeout(() => {
      void refresh().then(() => {
        if (!ending.signal.aborted) plan(minutes * 60_000 * (0.9 + 0.2 * Math.random()));
      });
    }, milliseconds).unref();
  };

  return {
    /** Every `Upstream` tells this function of its answers. */
    onResponse(name: string, read: () => unknown, isReadable: boolean) {
      if (isReadable && sampled.has(name)) return;
      sampled.set(name, true);
      for (const one of noticedIn(name, read)) {
        onDrift(one);
        noticed.set(`${one.answer} ${one.kind} ${one.path}`, one);
      }
    },
    report,
    /** Runs the checks now, at most once in 30 seconds; concurrent callers share them. */
    refresh,
    start() {
      if (minutes > 0 && timer === undefined) plan(FIRST_MS);
    },
    async close() {
      ending.abort(new Error('the gateway is closing'));
      clearTimeout(timer);
      await running;
    },
  };
}

/** Built on first use, to keep it out of the start. */
let paths: ReadonlySet<string> | undefined;
const OTHERS = /^(HTTP status|content-type|body|UPSTREAM_\w+|\w+\.(json|fasta)|structures)$/;

/** The path as a label: one of the contract's, or `other`. */
function labelOf(path: string): string {
  paths ??= new Set(Object.values(PROMISED).flatMap(({ schema }) => pathsOf(shapeOf(schema))));
  return paths.has(path) || OTHERS.test(path) ? path : 'other';
}

/** Registers the metrics. @returns the function that counts a difference */
export function openContractMetrics(registers: Registry[], report: () => Report): (finding: Finding) => void {
  new Gauge({
    name: 'foldatlas_upstream_contract',
    help: 'Operations whose contract was checked: 1 for the state that it is in.',
    labelNames: ['operation', 'state'],
    // Each process of WORKERS checks by itself.
    aggregator: 'max',
    registers,
    collect() {
      this.reset();
      const { checks } = report();
      for (const operation of new Set(checks.map((check) => check.operation))) {
        const state = statusOf(checks.filter((check) => check.operation === operation)).toLowerCase();
        this.set({ operation, state }, 1);
      }
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
