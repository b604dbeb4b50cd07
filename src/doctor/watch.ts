// What a running gateway knows of its upstream's contract: the last examination, repeated behind the answers at a steady pace,
// and drift noticed in the answers of normal traffic. Nobody waits for it but who asks for a fresh one.
import { randomUUID } from 'node:crypto';
import { compare } from '../upstream/contract/compare.ts';
import { isAnswerName, PROMISED } from '../upstream/contract/operations.ts';
import type { Downloads } from '../upstream/http/download.ts';
import type { Upstream } from '../upstream/http/upstream-client.ts';
import { finding } from './probe.ts';
import { type Check, type Finding, isProblem, type Report, shownUrl, statusOf } from './report.ts';
import { type ExamineOptions, runChecks } from './run-checks.ts';

export interface ContractWatch {
  /** To be told of answers by every `Upstream`. */
  readonly onAnswer: NonNullable<Upstream['onAnswer']>;
  /** Whether it is time to look at an answer of that name. */
  readonly looksAt: (name: string) => boolean;
  /** What is known now, without asking anybody. */
  report(): Report;
  /** Examines the upstream now, once for all who ask; not more often than every half minute. */
  refresh(): Promise<Report>;
  /** Begins to examine at the pace of the configuration. */
  start(): void;
  /** Stops; an examination under way is given up. */
  close(): Promise<void>;
}

export interface WatchOptions {
  /** The upstream as an examination sees it, with the gateway's own key or none. */
  readonly openUpstream: (requestId: string, signal: AbortSignal) => Upstream;
  readonly baseUrl: string;
  readonly downloads: Downloads;
  readonly sandbox: boolean;
  /** As {@link ExamineOptions.prefixes}. */
  readonly prefixes: NonNullable<ExamineOptions['prefixes']>;
  /** Between two examinations; 0: only when asked. */
  readonly minutes: number;
  /** Told of each difference that matters, every time it is noticed. */
  readonly onDrift: (finding: Finding) => void;
  readonly onError: (error: unknown) => void;
  /** Milliseconds; the time of day when absent. */
  readonly now?: () => number;
}

const FIRST_MS = 15_000;
const LEAST_MS = 30_000;
/** An answer of each kind is looked at this often, however many there are. */
const SAMPLE_MS = 60_000;
/** What was not noticed again for so long is over. */
const FORGET_MS = 3_600_000;
/** Differences that are kept, and members of a list that are looked at in traffic. */
const MOST_KEPT = 100;
const MOST_MEMBERS = 20;

interface Noticed {
  readonly finding: Finding;
  readonly at: number;
}

/** What differs in an answer of normal traffic, of which nobody knows what it should hold: only what is certain. */
function noticedIn(name: string, value: unknown): Finding[] {
  if (!isAnswerName(name)) return [];
  if (value === undefined) {
    return [finding(name, { kind: 'content', path: 'body', expected: 'JSON', seen: 'something else' })];
  }
  return compare(PROMISED[name], value, { complete: false, most: MOST_MEMBERS })
    .map((drift) => finding(name, drift))
    .filter(isProblem);
}

/** Opens the watch. */
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
        if (noticed.size < MOST_KEPT || noticed.has(key)) noticed.set(key, { finding: one, at });
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
