// Measures how long FoldAtlas takes to start and to give its first answers, and how much memory it
// uses when idle.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { operationBytes } from '../load/connection.ts';
import type { Child } from '../processes/child.ts';
import { startContestant } from '../processes/contestants.ts';
import type { ScenarioResult } from '../report/result.ts';
import { median } from '../report/statistics.ts';
import { askOnce, type Bench, setStub } from './bench.ts';

const STARTS = 3;
const FIRST_ANSWERS = 100;
/** Some 16 s after its last garbage V8 collects again and gives back what the start took. */
const [STARTED_SECONDS, IDLE_SECONDS] = [3, 30];

/** Start-up and idle memory, without and with the sandbox. */
export async function startUp(bench: Bench): Promise<ScenarioResult> {
  const [times, idle] = bench.quick ? [1, 1] : [STARTS, IDLE_SECONDS];
  await setStub(bench, { latency: 0 });
  // As the image has it; the first start fills it. Node knows it from 22.1 on.
  const compiled = { NODE_COMPILE_CACHE: join(bench.start.folder, 'compile-cache') };
  const kinds = [
    { who: 'without the sandbox', upstream: bench.stub.url, toFolder: (n: number) => `no sandbox ${n}` },
    {
      who: 'without the sandbox, its code compiled',
      upstream: bench.stub.url,
      toFolder: (n: number) => `compiled ${n}`,
      env: compiled,
    },
    { who: 'with the sandbox, first start', upstream: undefined, toFolder: (n: number) => `sandbox ${n}` },
    { who: 'with the sandbox, its data there', upstream: undefined, toFolder: () => 'sandbox 0' },
  ];
  const readMemory = async (child: Child): Promise<{ started: number; memory: number }> => {
    await sleep(Math.min(STARTED_SECONDS, idle) * 1000);
    const started = child.memory().now / 1e6;
    await sleep(Math.max(0, idle - STARTED_SECONDS) * 1000);
    const memory = child.memory().now / 1e6;
    await child.stop();
    return { started, memory };
  };
  const measured: {
    who: string;
    start: number;
    answered: number;
    first: number;
    cpu: number;
    idle: ReturnType<typeof readMemory>;
  }[] = [];
  for (const { who, upstream, toFolder, env } of kinds) {
    const starts: number[] = [];
    const answers: number[] = [];
    const firsts: number[] = [];
    const cpus: number[] = [];
    const start = async (n: number): Promise<Child> => {
      bench.progress(`start ${who}`);
      const folder = join(bench.start.folder, toFolder(n));
      mkdirSync(folder, { recursive: true });
      return startContestant('foldatlas', { folder, upstream, core: undefined }, undefined, env);
    };
    for (let n = 0; n < times; n += 1) {
      const since = performance.now();
      const child = await start(n);
      const { status } = await askOnce(child.url, operationBytes('{ __typename }'));
      answers.push(performance.now() - since);
      if (status !== 200) throw new Error(`FoldAtlas answered ${status} after its start`);
      // Each asks for something else, so that none is read from the cache.
      for (let index = 1; index < FIRST_ANSWERS; index += 1)
        await askOnce(child.url, operationBytes(`{ feature(index: ${index}) { index label summary } }`));
      firsts.push(performance.now() - since);
      cpus.push((await child.read()).cpu);
      starts.push(child.startMs);
      await child.stop();
    }
    measured.push({
      who,
      start: median(starts),
      answered: median(answers),
      first: median(firsts),
      cpu: median(cpus),
      // Another one, which answers nothing, is idle while those of the next kind start.
      idle: readMemory(await start(times)),
    });
  }
  type Column = 'start' | 'answered' | 'first' | 'cpu' | 'started' | 'memory';
  const rows: { who: string; values: Record<Column, number> }[] = [];
  for (const { who, start, answered, first, cpu, idle: memory } of measured)
    rows.push({ who, values: { start, answered, first, cpu, ...(await memory) } });
  const of = (n: number, key: 'start' | 'memory'): number => rows[n]?.values[key] ?? Number.NaN;
  return {
    name: 'start-up',
    tables: [
      {
        title: 'Start of the built server',
        note: `From the call of the process until it says that it listens, and until its first answer and its first ${FIRST_ANSWERS}, with the CPU time until then; medians of ${times}. Memory in use of another one ${STARTED_SECONDS} s and ${idle} s after its start, before it answers anything. On any core.`,
        columns: [
          { key: 'start', title: 'listens, ms', digits: 0 },
          { key: 'answered', title: 'first answer, ms', digits: 0 },
          { key: 'first', title: `${FIRST_ANSWERS} answers, ms`, digits: 0 },
          { key: 'cpu', title: 'CPU ms', digits: 0 },
          { key: 'started', title: 'started MB', digits: 0 },
          { key: 'memory', title: 'idle MB', digits: 0 },
        ],
        rows,
      },
    ],
    targets: [
      { text: 'Start-up without the sandbox', measured: of(0, 'start'), unit: 'ms', bound: { most: 800 } },
      {
        text: 'Start-up with the sandbox, the first',
        measured: of(2, 'start'),
        unit: 'ms',
        bound: { most: 3000 },
      },
      { text: 'Idle memory', measured: of(0, 'memory'), unit: 'MB', bound: { most: 100 } },
    ],
  };
}
