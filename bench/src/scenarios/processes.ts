// FoldAtlas as a process: how long it takes to start, what it takes of memory when idle, and what a second worker gains.
import { setTimeout as sleep } from 'node:timers/promises';
import { operationBytes } from '../load/connection.ts';
import { load } from '../load/load.ts';
import { startChild } from '../processes/child.ts';
import {
  CONTESTANTS,
  FOLDATLAS_LISTENS,
  foldAtlasSettings,
  startContestant,
} from '../processes/contestants.ts';
import type { ScenarioResult } from '../report/result.ts';
import { median } from '../report/statistics.ts';
import { askOnce, type Bench, setStub } from './bench.ts';
import { LIST, TINY } from './expected.ts';

/** Starts FoldAtlas on any core. @param upstream - absent: over its embedded sandbox */
const startOurs = (bench: Bench, label: string, upstream: string | undefined, settings: string = label) =>
  startChild({
    name: label,
    file: CONTESTANTS.foldatlas.file,
    folder: bench.start.folder,
    cwd: bench.start.folder,
    env: foldAtlasSettings(`${bench.start.folder}/${settings}`, upstream),
    announces: FOLDATLAS_LISTENS,
  });

/** Start-up and idle memory, without and with the sandbox. */
export async function startUp(bench: Bench): Promise<ScenarioResult> {
  const [times, idle] = bench.quick ? [1, 1] : [5, 10];
  await setStub(bench, { latency: 0 });
  const rows: { who: string; values: { start: number; answered: number; memory: number } }[] = [];
  const kinds = [
    { who: 'without the sandbox', upstream: bench.stub.url, again: false },
    { who: 'with the sandbox, first start', upstream: undefined, again: false },
    { who: 'with the sandbox, its data there', upstream: undefined, again: true },
  ];
  for (const { who, upstream, again } of kinds) {
    const starts: number[] = [];
    const answers: number[] = [];
    let memory = Number.NaN;
    for (let n = 0; n < times; n += 1) {
      bench.progress(`start ${who}`);
      const settings = again ? 'with the sandbox, first start 0' : `${who} ${n}`;
      const since = performance.now();
      const child = await startOurs(bench, `${who} ${n}`, upstream, settings);
      const { status } = await askOnce(child.url, operationBytes('{ __typename }'));
      answers.push(performance.now() - since);
      if (status !== 200) throw new Error(`FoldAtlas answered ${status} after its start`);
      starts.push(child.startMs);
      if (n === times - 1) {
        await sleep(idle * 1000);
        memory = child.memory().now / 1e6;
      }
      await child.stop();
    }
    rows.push({ who, values: { start: median(starts), answered: median(answers), memory } });
  }
  const of = (n: number, key: 'start' | 'memory'): number => rows[n]?.values[key] ?? Number.NaN;
  return {
    name: 'start-up',
    tables: [
      {
        title: 'Start of the built server',
        note: `From the call of the process until it says that it listens, and until its first answer; medians of ${times}. Memory in use ${idle} s later. On any core.`,
        columns: [
          { key: 'start', title: 'listens, ms', digits: 0 },
          { key: 'answered', title: 'first answer, ms', digits: 0 },
          { key: 'memory', title: 'idle MB', digits: 0 },
        ],
        rows,
      },
    ],
    targets: [
      { text: 'Start-up without the sandbox', measured: of(0, 'start'), unit: 'ms', bound: { most: 800 } },
      {
        text: 'Start-up with the sandbox, the first',
        measured: of(1, 'start'),
        unit: 'ms',
        bound: { most: 3000 },
      },
      { text: 'Idle memory', measured: of(0, 'memory'), unit: 'MB', bound: { most: 130 } },
    ],
  };
}

/** One worker and two, on all cores, with what the load itself took. */
export async function workers(bench: Bench): Promise<ScenarioResult> {
  const seconds = bench.quick ? 0.7 : 5;
  const hot = operationBytes(TINY);
  const list = () => operationBytes(LIST, { hashes: bench.fresh(100) });
  const loads = [
    { what: 'hot tiny', next: () => hot, connections: 32 },
    { what: '100 proteins never seen', next: list, connections: 8 },
  ];
  await setStub(bench, { latency: 0 });
  const rows: { who: string; values: { rate: number; load: number; p99: number } }[] = [];
  for (const count of [1, 2]) {
    const child = await startContestant(
      'foldatlas',
      { ...bench.start, core: undefined },
      `workers ${count}`,
      {
        WORKERS: String(count),
      },
    );
    for (const { what, next, connections } of loads) {
      bench.progress(`${count} workers, ${what}`);
      const options = { url: child.url, connections, next, search: false };
      await load({ ...options, seconds: seconds / 2 });
      const before = { own: process.cpuUsage(), stub: (await bench.stub.read()).cpu };
      const result = await load({ ...options, seconds });
      const own = process.cpuUsage(before.own);
      const taken = (own.user + own.system) / 1000 + (await bench.stub.read()).cpu - before.stub;
      rows.push({
        who: `${what}, WORKERS=${count}`,
        values: {
          rate: result.answers / result.seconds,
          load: taken / 1000 / result.seconds,
          p99: result.p99,
        },
      });
    }
    await child.stop();
  }
  const rate = (row: number): number => rows[row]?.values.rate ?? Number.NaN;
  return {
    name: 'workers',
    tables: [
      {
        title: 'WORKERS=2 beside WORKERS=1',
        note: `The gateway may use every core; load generator and stand-in share one of them, and the third column is how much of it they took: the gateway had the rest. The gain was ${(rate(2) / rate(0)).toFixed(2)} × (hot) and ${(rate(3) / rate(1)).toFixed(2)} × (lists).`,
        columns: [
          { key: 'rate', title: 'answers/s', digits: 0 },
          { key: 'p99', title: 'p99 ms', digits: 1 },
          { key: 'load', title: 'cores that the load took', digits: 2 },
        ],
        rows,
      },
    ],
    targets: [],
  };
}
