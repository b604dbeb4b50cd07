// Measures contestants under load in rounds whose order rotates, and makes a table of it. It knows
// no query.
import { type LoadOptions, type LoadResult, load } from '../load/load.ts';
import type { Work } from '../peers/rest-client.ts';
import type { Wanted } from '../peers/sources.ts';
import type { Child } from '../processes/child.ts';
import { toTitle } from '../processes/contestants.ts';
import type { Column, Row } from '../report/result.ts';
import { median, percentile, rotated } from '../report/statistics.ts';
import { type Bench, setStub, stubCounts, sum } from './bench.ts';

/** The result of one contestant, medians over the rounds. */
export interface Measured {
  readonly who: string;
  /** Answers a second. */
  readonly rate: number;
  /** Milliseconds of the contestant's CPU time for an answer. */
  readonly cpu: number;
  /** Milliseconds. */
  readonly p50: number;
  readonly p99: number;
  readonly first: number;
  /** Bytes. */
  readonly peak: number;
  /** Calls of the service for an answer. */
  readonly calls: number;
  /** Milliseconds. */
  readonly stall: number;
}

export interface Plan {
  readonly who: readonly Child[];
  readonly connections: number;
  readonly next: (child: Child) => Buffer;
  /** Whether answers differ, so that errors have to be looked for. */
  readonly search: boolean;
  readonly status?: number;
  /** Seconds of a round in a whole run, and how many rounds. */
  readonly seconds?: number;
  readonly rounds?: number;
  /** Whether new processes are measured, as they are. */
  readonly isNew?: boolean;
  /** The question: a process that the same kind of query has warmed up is not warmed up again. */
  readonly kind?: string;
  /** Answers of a round at most. */
  readonly requests?: number;
  readonly latency?: number;
  /** The request of the REST client, where it is among those that are measured. */
  readonly lists?: { readonly size: number; readonly wanted: Wanted };
}

const ROUNDS = 5;
const SECONDS = 1;
const QUICK_SECONDS = 0.25;
/** Seconds that a contestant is loaded before the next one has its turn. */
const STEP_SECONDS = 0.7;
/** After so many answers a process is warm: compilers go by how often a function has run. */
const WARM_ANSWERS = 5_000;
/**
 * The CPU time after which a process counts as warm, however few answers it has given: lists take
 * longer.
 */
const WARM_CPU_MS = 12_000;

interface Sample extends LoadResult {
  readonly cpu: number;
  readonly peak: number;
  readonly calls: number;
  readonly stall: number;
}

/**
 * Proteins a second for which the REST client makes the hashes before it is measured: others are
 * given theirs.
 */
const HASHES_A_SECOND = 60_000;

async function makeLists(bench: Bench, child: Child, { lists }: Plan, seconds: number): Promise<void> {
  const count = Math.ceil(HASHES_A_SECOND * seconds);
  if (lists !== undefined) await child.ask({ hashesFrom: bench.reserve(0), count });
}

/** The REST client does its work itself and tells how long each list took. */
async function clientLoad(
  bench: Bench,
  child: Child,
  { lists, connections, requests }: Plan,
  seconds: number,
): Promise<LoadResult> {
  if (lists === undefined) throw new Error('The REST client was not told what to look up.');
  const work: Work = { ...lists, from: bench.reserve(0), connections, seconds, requests: requests ?? 1e6 };
  const since = performance.now();
  const times = (await child.ask(work)) as number[];
  bench.reserve(times.length * lists.size);
  return {
    answers: times.length,
    seconds: (performance.now() - since) / 1000,
    bytes: 0,
    p50: percentile(times, 0.5),
    p99: percentile(times, 0.99),
    firstP50: Number.NaN,
  };
}

async function sample(bench: Bench, child: Child, plan: Plan, seconds: number): Promise<Sample> {
  await setStub(bench, { latency: plan.latency ?? 0 });
  if (child.name === 'rest') await makeLists(bench, child, plan, seconds);
  child.resetPeak();
  const before = await child.read();
  const options: LoadOptions = {
    url: child.url,
    connections: plan.connections,
    seconds,
    next: () => plan.next(child),
    search: plan.search,
    ...(plan.status === undefined ? {} : { status: plan.status }),
    ...(plan.requests === undefined ? {} : { requests: plan.requests }),
  };
  const result = child.name === 'rest' ? await clientLoad(bench, child, plan, seconds) : await load(options);
  const after = await child.read();
  return {
    ...result,
    cpu: (after.cpu - before.cpu) / result.answers,
    peak: child.memory().peak,
    calls: sum(Object.values(await stubCounts(bench))) / result.answers,
    stall: after.stall,
  };
}

/**
 * Loads contestants in turn until each is warm: in a new one an answer costs up to five times as
 * much.
 */
export async function warmUp(bench: Bench, plan: Plan): Promise<void> {
  if (bench.quick) return;
  const { kind = '', who } = plan;
  const all = who.map((child) => ({ child, isWarm: child.warmFor.has(kind), answers: 0, used: 0 }));
  for (let cold = all; cold.length > 0; cold = cold.filter(({ isWarm }) => !isWarm))
    for (const one of cold) {
      bench.progress(`warming up: ${toTitle(one.child.name)}`);
      // The service answers without delay: a process that waits for it is warm much later.
      const step = one.isWarm ? plan : { ...plan, latency: 0 };
      const { cpu, answers } = await sample(bench, one.child, step, STEP_SECONDS);
      one.answers += answers;
      one.used += cpu * answers;
      one.isWarm ||= one.answers >= WARM_ANSWERS || one.used >= WARM_CPU_MS;
    }
  if (kind !== '') for (const { warmFor } of who) warmFor.add(kind);
}

/** Warms everybody up, then measures round by round. */
export async function measure(bench: Bench, plan: Plan): Promise<Measured[]> {
  const seconds = bench.quick ? QUICK_SECONDS : (plan.seconds ?? SECONDS);
  const rounds = bench.quick ? 1 : (plan.rounds ?? ROUNDS);
  const samples = new Map<Child, Sample[]>(plan.who.map((child) => [child, []]));
  if (plan.isNew !== true) await warmUp(bench, plan);
  for (let round = 0; round < rounds; round += 1) {
    for (const child of rotated(plan.who, round)) {
      bench.progress(`round ${round + 1} of ${rounds}: ${toTitle(child.name)}`);
      samples.get(child)?.push(await sample(bench, child, plan, seconds));
    }
  }
  return plan.who.map((child) => {
    const own = samples.get(child) ?? [];
    const middle = (read: (one: Sample) => number): number => median(own.map(read));
    return {
      who: child.name,
      rate: middle((one) => one.answers / one.seconds),
      cpu: middle((one) => one.cpu),
      p50: middle((one) => one.p50),
      p99: middle((one) => one.p99),
      first: middle((one) => one.firstP50),
      peak: Math.max(...own.map((one) => one.peak)),
      calls: middle((one) => one.calls),
      stall: Math.max(...own.map((one) => one.stall)),
    };
  });
}

const MB = 1e6;

export const LOAD_COLUMNS: readonly Column[] = [
  { key: 'rate', title: 'answers/s', digits: 0 },
  { key: 'cpu', title: 'CPU ms/answer', digits: 3 },
  { key: 'p50', title: 'p50 ms', digits: 2 },
  { key: 'p99', title: 'p99 ms', digits: 2 },
  { key: 'peak', title: 'peak MB', digits: 0 },
  { key: 'calls', title: 'upstream calls', digits: 2 },
  { key: 'ratio', title: 'CPU × FoldAtlas', digits: 2 },
];

/** The same of everybody, with the CPU time of an answer as a multiple of FoldAtlas'. */
export function toRows(measured: readonly Measured[]): Row[] {
  const ours = measured.find(({ who }) => who === 'foldatlas')?.cpu ?? Number.NaN;
  return measured.map(({ who, rate, cpu, p50, p99, first, peak, calls, stall }) => ({
    who: toTitle(who),
    values: {
      rate,
      cpu,
      p50,
      p99,
      first,
      peak: Number.isNaN(peak) ? null : peak / MB,
      calls,
      stall,
      ratio: who === 'foldatlas' ? null : cpu / ours,
    },
  }));
}

/** The result of one measured contestant. @throws Error for one that was not measured */
export function ofWho(measured: readonly Measured[], who: string): Measured {
  const found = measured.find((one) => one.who === who);
  if (found === undefined) throw new Error(`${who} was not measured`);
  return found;
}

/** FoldAtlas' figure divided by the smallest of these peers'; NaN where one was not measured. */
export const costAgainst = (
  measured: readonly Measured[],
  figure: 'cpu' | 'p50',
  ...names: readonly string[]
): number =>
  ofWho(measured, 'foldatlas')[figure] /
  Math.min(...names.map((who) => measured.find((one) => one.who === who)?.[figure] ?? Number.NaN));
