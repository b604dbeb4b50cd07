// The contract watch of a running gateway: repeats the checks in the background and adds
// differences seen in answers to ordinary queries.
import { randomUUID } from 'node:crypto';
import type { Downloads } from '../upstream/http/download.ts';
import type { Upstream } from '../upstream/http/upstream-client.ts';
import { isAnswerName, PROMISED } from './answers.ts';
import { finding } from './checks/probe.ts';
import { type ExamineOptions, runChecks } from './checks/run-checks.ts';
import { compare } from './compare.ts';
import { type Check, type Finding, isProblem, type Report, shownUrl, statusOf } from './report.ts';

export interface ContractWatch {
  /** Every `Upstream` passes its answers to this function. */
  readonly onAnswer: NonNullable<Upstream['onAnswer']>;
  /** Whether the next answer of that name is to be checked. */
  readonly looksAt: (name: string) => boolean;
  /** The latest report, without upstream calls. */
  report(): Report;
  /** Runs the checks now, at most once in 30 seconds; concurrent callers share them. */
  refresh(): Promise<Report>;
  /** Starts the checks in the configured interval. */
  start(): void;
  /** Stops, and aborts checks in progress. */
  close(): Promise<void>;
}

export interface WatchOptions {
  /** The upstream for the checks, with the gateway's own key or none. */
  readonly openUpstream: (requestId: string, signal: AbortSignal) => Upstream;
  readonly baseUrl: string;
  readonly downloads: Downloads;
  readonly sandbox: boolean;
  /** As {@link ExamineOptions.prefixes}. */
  readonly prefixes: NonNullable<ExamineOptions['prefixes']>;
  /** Minutes between checks; 0 for checks on request only. */
  readonly minutes: number;
  /** Receives each important difference, every time it is seen. */
  readonly onDrift: (finding: Finding) => void;
  readonly onError: (error: unknown) => void;
  /** Milliseconds since the epoch; Date.now when absent. */
  readonly now?: () => number;
}

const FIRST_MS = 15_000;
const LEAST_MS = 30_000;
/** Interval between checked answers of each kind. */
const SAMPLE_MS = 60_000;
/** Differences not seen again in this time are removed. */
const FORGET_MS = 3_600_000;
/** Largest number of differences stored, and of list members checked in an answer. */
const MAX_FINDINGS = 100;
const MOST_MEMBERS = 20;

interface Noticed {
  readonly finding: Finding;
  readonly at: number;
}

/** Certain differences in an answer to an ordinary query, whose expected values are unknown. */
function noticedIn(name: string, value: unknown): Finding[] {
  if (!isAnswerName(name)) return [];
  if (value === undefined) {
    return [finding(name, { kind: 'content', path: 'body', expected: 'JSON', seen: 'something else' })];
  }
  return compare(PROMISED[name], value, { complete: false, most: MOST_MEMBERS })
    .map((drift) => finding(name, drift))
    .filter(isProblem);
}

/** Starts the contract watch. */
export function openContractWatch(options: WatchOptions): ContractWatch {
  const { now = Date.now, onDrift, onError } = options;
  const ending = new AbortController();
  const noticed = new Map<string, Noticed>();
  const looked = new Map<string, number>();
  let last: Report = {
    checkedAt: new Date(now()),
    upstream: shownUrl(options.baseUrl),
    sandbox: options.sandbox,
    status: 'SKIPPED',
    checks: [],
    limits: [],
    settings: {},
  };
  let lastAt = Number.NEGATIVE_INFINITY;
  let running: Promise<Report> | undefined;
  let timer: NodeJS.Timeout | undefined;

  const trafficChecks = (): Check[] => {
    const groups = new Map<string, Finding[]>();
    for (const [key, { finding: one, at }] of noticed) {
      if (now() - at > FORGET_MS) noticed.delete(key);
      else groups.set(one.answer, [...(groups.get(one.answer) ?? []), one]);
    }
    return [...groups].map(([answer, findings]) => ({
      name: `${answer}, seen in traffic`,
      operation: answer,
      status: 'CHANGED',
      findings,
    }));
  };

  const report = (): Report => {
    const traffic = trafficChecks();
    const checks = [...last.checks, ...traffic];
    return { ...last, checks, status: traffic.length === 0 ? last.status : statusOf(checks) };
  };

  const run = async (): Promise<Report> => {
    try {
      last = await runChecks(options.openUpstream(`contract-${randomUUID()}`, ending.signal), {
        downloads: options.downloads,
        light: true,
        sandbox: options.sandbox,
        prefixes: options.prefixes,
      });
      for (const one of last.checks.flatMap(({ findings }) => findings)) if (isProblem(one)) onDrift(one);
    } catch (error) {
      if (!ending.signal.aborted) onError(error);
    } finally {
      lastAt = now();
      running = undefined;
    }
    return report();
  };

  const refresh = (): Promise<Report> => {
    if (running !== undefined) return running;
    if (ending.signal.aborted || now() - lastAt < LEAST_MS) return Promise.resolve(report());
    running = run();
    return running;
  };

  const plan = (milliseconds: number): void => {
    timer = setTimeout(() => {
      void refresh().then(() => {
        if (!ending.signal.aborted) plan(options.minutes * 60_000 * (0.9 + 0.2 * Math.random()));
      });
    }, milliseconds).unref();
  };

  const looksAt = (name: string): boolean =>
    now() - (looked.get(name) ?? Number.NEGATIVE_INFINITY) >= SAMPLE_MS;

  return {
    looksAt,
    onAnswer(name, value, readable) {
      const at = now();
      if (readable && !looksAt(name)) return;
      looked.set(name, at);
      for (const one of noticedIn(name, value)) {
        onDrift(one);
        const key = `${one.answer} ${one.kind} ${one.path}`;
        if (noticed.size < MAX_FINDINGS || noticed.has(key)) noticed.set(key, { finding: one, at });
      }
    },
    report,
    refresh,
    start() {
      if (options.minutes > 0 && timer === undefined) plan(FIRST_MS);
    },
    async close() {
      ending.abort(new Error('the gateway is closing'));
      clearTimeout(timer);
      await running;
    },
  };
}
