// A mix of all kinds of queries by one process, kind after kind, and how much memory it has in use
// after each and after a minute of rest: the caches are full then.
import { setTimeout as sleep } from 'node:timers/promises';
import { operationBytes } from '../load/connection.ts';
import { load } from '../load/load.ts';
import type { Child } from '../processes/child.ts';
import { type ContestantName, startContestant, toTitle } from '../processes/contestants.ts';
import type { Row, ScenarioResult } from '../report/result.ts';
import { type Bench, setStub } from './bench.ts';
import { LIST_OF_TEN, SMALL, STRUCTURES, TINY } from './expected.ts';

const PEERS: readonly ContestantName[] = ['yoga-bulk'];
/**
 * The variables of the image, and the heap that Node gives itself in a container of 768 MiB, as
 * compose.yaml and the manifests of Kubernetes allow: half of it.
 */
const AS_IMAGE = {
  MALLOC_ARENA_MAX: '2',
  MALLOC_TRIM_THRESHOLD_: '131072',
  NODE_OPTIONS: '--max-semi-space-size=16 --max-old-space-size=384',
};
const REST_SECONDS = 60;

/** One kind of query in the mix. */
interface Phase {
  readonly key: 'lists' | 'proteins' | 'hits' | 'structures';
  readonly title: string;
  readonly requests: number;
  readonly connections: number;
  next(bench: Bench): Buffer;
}

const PHASES: readonly Phase[] = [
  {
    key: 'lists',
    title: 'after 200 lists of 100, MB',
    requests: 200,
    connections: 8,
    next: (bench) => operationBytes(LIST_OF_TEN, { hashes: bench.fresh(100) }),
  },
  {
    key: 'proteins',
    title: 'after 24,000 new proteins, MB',
    requests: 24_000,
    connections: 16,
    next: (bench) => operationBytes(SMALL, { hash: bench.fresh(1)[0] }),
  },
  {
    key: 'hits',
    title: 'after 20,000 hits, MB',
    requests: 20_000,
    connections: 16,
    next: () => operationBytes(TINY),
  },
  {
    key: 'structures',
    title: 'after 20 × 500 structures, MB',
    requests: 20,
    connections: 2,
    next: (bench) => operationBytes(STRUCTURES, { ids: bench.fresh(500) }),
  },
];

async function measureMix(bench: Bench, child: Child): Promise<Row['values']> {
  const values: Record<string, number> = { start: child.memory().now / 1e6 };
  child.resetPeak();
  for (const { key, title, requests, connections, next } of PHASES) {
    bench.progress(`${child.name}: ${title}`);
    await load({
      url: child.url,
      connections,
      seconds: Number.POSITIVE_INFINITY,
      requests: bench.quick ? connections : requests,
      next: () => next(bench),
      search: true,
    });
    values[key] = child.memory().now / 1e6;
  }
  await sleep(bench.quick ? 100 : REST_SECONDS * 1000);
  const { now, peak } = child.memory();
  const { heapUsed, external } = await child.read();
  return { ...values, peak: peak / 1e6, rest: now / 1e6, heap: heapUsed / 1e6, external: external / 1e6 };
}

/** The mix, by new processes. */
export async function mix(bench: Bench): Promise<ScenarioResult> {
  await setStub(bench, { latency: 0 });
  const rows: Row[] = [];
  async function measure(name: ContestantName, how = '', env = {}): Promise<void> {
    const child = await startContestant(name, bench.start, `mix ${rows.length}`, env);
    rows.push({ who: toTitle(name) + how, values: await measureMix(bench, child) });
    await child.stop();
  }
  await measure('foldatlas', ' as the image in a container of 768 MiB', AS_IMAGE);
  for (const name of bench.rivals(PEERS)) await measure(name);
  return {
    name: 'mix',
    tables: [
      {
        title: 'A mix of all kinds of queries',
        note: `Kind after kind, by one new process: lists of 100 new proteins with cluster and ten features, new proteins with three fields, hits, 500 structures. Resident memory after each; at rest ${REST_SECONDS} s later, with the used heap and what is outside of it.`,
        columns: [
          { key: 'start', title: 'started MB', digits: 0 },
          ...PHASES.map(({ key, title }) => ({ key, title, digits: 0 })),
          { key: 'peak', title: 'peak MB', digits: 0 },
          { key: 'rest', title: 'at rest MB', digits: 0 },
          { key: 'heap', title: 'used heap MB', digits: 0 },
          { key: 'external', title: 'external MB', digits: 0 },
        ],
        rows,
      },
    ],
    targets: [
      {
        text: 'The mix: memory in use after a minute of rest, as the image in a container of 768 MiB',
        measured: rows[0]?.values.rest ?? Number.NaN,
        unit: 'MB',
        bound: { most: 350 },
      },
    ],
  };
}
