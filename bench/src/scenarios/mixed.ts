// What a front end asks: the example queries in the proportions of a page with a search, a protein, lists and batches, and one
// protein from nearby and from far away.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { operationBytes } from '../load/connection.ts';
import { type ContestantName, ROOT } from '../processes/contestants.ts';
import type { ScenarioResult } from '../report/result.ts';
import { accessionFor } from '../world/facts.ts';
import { askOnce, type Bench, compareAnswer, setStub } from './bench.ts';
import { ONE, openExpected } from './expected.ts';
import { AUTH, submit } from './gateway.ts';
import { LOAD_COLUMNS, type Measured, measure, rowsOf } from './measure.ts';

const LATENCY = 20;
const example = (name: string): string => readFileSync(join(ROOT, `examples/${name}.graphql`), 'utf8');

/** Proteins, entries and words that many users ask for: every second request is about one of them. */
const POPULAR = 200;
const WORDS = ['helix', 'membrane', 'zinc', 'kinase', 'loop', 'charged', 'binding', 'coil'];
const TASKS = `query Tasks($id: ID!) { batch(batchId: $id) { status counts { done failed } tasks(first: 50) { nodes { taskId name status } } } }`;

interface Visit {
  /** Of a hundred requests. */
  readonly share: number;
  readonly query: string;
  readonly variables: (n: number) => object;
}

/** What is asked, a share each. @param batchId - of a batch with 200 tasks */
function visits(bench: Bench, batchId: string): Visit[] {
  const popular = bench.fresh(POPULAR);
  const hashFor = (n: number): string => (n % 2 === 0 ? popular[(n * 7) % POPULAR] : bench.fresh(1)[0]) ?? '';
  const hash = (n: number) => ({ hash: hashFor(n) });
  const idFor = (n: number): string => accessionFor(n % 2 === 0 ? (n * 7) % POPULAR : POPULAR + n);
  return [
    { share: 35, query: example('04-protein-card'), variables: hash },
    {
      share: 15,
      query: example('05-search-features'),
      variables: (n) => ({ words: WORDS[n % WORDS.length] }),
    },
    { share: 10, query: example('02-paste-many-hashes'), variables: () => ({ hashes: bench.fresh(25) }) },
    {
      share: 10,
      query: example('25-look-up-anything'),
      variables: (n) => ({ ids: Array.from({ length: 5 }, (_, i) => idFor(n * 5 + i)) }),
    },
    { share: 20, query: TASKS, variables: () => ({ id: batchId }) },
    { share: 10, query: example('15-my-batches'), variables: () => ({}) },
  ];
}

/** The order of a hundred requests: shares spread evenly, always the same. */
function spread(all: readonly Visit[]): Visit[] {
  const slots = all.flatMap((visit) =>
    Array.from({ length: visit.share }, (_, i) => ({ visit, at: (i + 0.5) / visit.share })),
  );
  return slots.toSorted((a, b) => a.at - b.at).map(({ visit }) => visit);
}

export async function mixed(bench: Bench): Promise<ScenarioResult> {
  const who = await Promise.all(bench.rivals([]).map((name) => bench.child(name)));
  await setStub(bench, { latency: 0, done: true });
  const orders = new Map<string, Visit[]>();
  for (const child of who) {
    const order = spread(visits(bench, await submit(child, 200)));
    for (const { query, variables } of new Set(order)) {
      const { body } = await askOnce(child.url, operationBytes(query, variables(1), AUTH));
      if (body.includes('"errors":')) throw new Error(`${child.name}: ${body.toString('utf8', 0, 500)}`);
    }
    orders.set(child.name, order);
  }
  let n = 0;
  const measured = await measure(bench, {
    who,
    connections: 8,
    next: (child) => {
      n += 1;
      const order = orders.get(child.name) ?? [];
      const visit = order[n % order.length];
      if (visit === undefined) throw new Error('nothing to ask');
      return operationBytes(visit.query, visit.variables(n), AUTH);
    },
    search: true,
    latency: LATENCY,
  });
  return {
    name: 'mixed',
    tables: [
      {
        title: `A front end, ${LATENCY} ms away`,
        note: 'Of a hundred requests 35 are a page about a protein, 20 a page of a batch, 15 a search of features, 10 a list of 25 hashes, 10 a look-up of 5 accessions, 10 the list of batches. Every second protein or accession is one of 200 popular ones. With a token, 8 connections.',
        columns: LOAD_COLUMNS.filter(({ key }) => key !== 'ratio' || who.length > 1),
        rows: rowsOf(measured),
      },
    ],
    targets: [],
  };
}

const PEERS: readonly ContestantName[] = ['yoga-bulk', 'mercurius-bulk'];

/** One new protein with its cluster and features over few and many connections, near and far. */
export async function distances(bench: Bench): Promise<ScenarioResult> {
  const expected = openExpected(bench);
  const who = [];
  for (const name of bench.rivals(PEERS)) {
    const child = await bench.child(name);
    const [hash = ''] = bench.fresh(1);
    await compareAnswer(child, operationBytes(ONE, { hash }), expected.one(hash));
    who.push(child);
  }
  const tables = [];
  let far: Measured[] = [];
  for (const [latency, connections] of [
    [0, 4],
    [0, 32],
    [20, 4],
    [20, 32],
    [200, 4],
    [200, 32],
  ] as const) {
    const measured = await measure(bench, {
      who,
      connections,
      next: () => operationBytes(ONE, { hash: bench.fresh(1)[0] }),
      search: true,
      latency,
      rounds: 3,
      seconds: latency > 100 && connections < 10 ? 2 : 1,
      kind: 'one',
    });
    if (latency === LATENCY && connections === 4) far = measured;
    tables.push({
      title: `One new protein with cluster and five features: ${latency} ms away, ${connections} connections`,
      note: `Each call of the service takes ${latency} ms.`,
      columns: LOAD_COLUMNS,
      rows: rowsOf(measured),
    });
  }
  const p50 = (names: readonly string[]): number =>
    Math.min(...far.filter(({ who: name }) => names.includes(name)).map((one) => one.p50));
  return {
    name: 'distances',
    tables,
    targets: [
      {
        text: `One new protein, ${LATENCY} ms away: p50 against the best peer's`,
        measured: p50(['foldatlas']) / p50(PEERS),
        unit: '×',
        bound: { most: 1 },
      },
    ],
  };
}
