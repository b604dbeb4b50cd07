// The requests of designers: a check of a hundred complexes, a submission, and a page of a batch's
// tasks. No two requests are the same.
import { operationBytes } from '../load/connection.ts';
import type { Child } from '../processes/child.ts';
import type { ScenarioResult } from '../report/result.ts';
import { spellSequence } from '../world/facts.ts';
import { askOnce, type Bench, compareAnswer, setStub } from './bench.ts';
import { AUTH, itemName, submit } from './gateway.ts';
import { LOAD_COLUMNS, type Measured, measure, ofWho, toRows } from './measure.ts';

const ITEMS = 100;
const PAGE = 100;
const CONNECTIONS = 4;
const DOMAIN =
  'MVLSPADKTNVKAAWGKVGAHAGEYGAEALERMFLSFPTTKTYFPHFDLSHGSAQVKGHGKKVADALTNAVAHVDDMPNALSALSDLHAHKLR';
const LIGAND = 'CC(=O)Oc1ccccc1C(=O)O';

const CHECK = `query Check($input: SubmitFoldInput!) { checkFold(input: $input) { ok taskCount totalLength
  issues { code } warnings { code } items { index name length chainCount } } }`;
const SUBMIT = `mutation Submit($input: SubmitFoldInput!) { submitFold(input: $input) { __typename
  ... on FoldSubmitted { batch { batchId } } ... on Problem { message } } }`;
const TASKS = `query Tasks($id: ID!, $first: Int!) { batch(batchId: $id) { tasks(first: $first) {
  nodes { taskId status } pageInfo { hasNextPage } } } }`;

/** Designs of a protein with a ligand; `n` makes them differ from all others. */
const items = (count: number, n: number) =>
  Array.from({ length: count }, (_, i) => ({
    name: `${itemName(i)} of ${n}`,
    chains: [
      { protein: { sequence: DOMAIN + spellSequence(n * ITEMS + i) } },
      { ligand: { smiles: LIGAND } },
    ],
  }));

/** The n-th check of a hundred complexes, the answer to it, and the n-th submission of one. */
export const checkRequest = (n: number): Buffer =>
  operationBytes(CHECK, { input: { items: items(ITEMS, n) } }, AUTH);
export const checkExpected = (n: number) => checked(ITEMS, n);
export const submitRequest = (n: number): Buffer => {
  const input = { label: `bench ${n}`, items: items(1, n), idempotencyKey: `bench ${process.pid} ${n}` };
  return operationBytes(SUBMIT, { input }, AUTH);
};

const checked = (count: number, n: number) => ({
  checkFold: {
    ok: true,
    taskCount: count,
    totalLength: items(count, n).reduce(
      (sum, { chains }) => sum + (chains[0]?.protein?.sequence.length ?? 0),
      0,
    ),
    issues: [],
    warnings: [],
    items: items(count, n).map(({ name, chains }, index) => ({
      index,
      name,
      length: chains[0]?.protein?.sequence.length,
      chainCount: 2,
    })),
  },
});

async function both(bench: Bench): Promise<Child[]> {
  return Promise.all(bench.rivals(['yoga-folds']).map((name) => bench.child(name)));
}

const table = (title: string, note: string, measured: readonly Measured[]) => ({
  title,
  note,
  columns: LOAD_COLUMNS,
  rows: toRows(measured),
});

export async function mutations(bench: Bench): Promise<ScenarioResult> {
  const who = await both(bench);
  let n = 0;
  await setStub(bench, { latency: 0, done: true });
  for (const child of who) await compareAnswer(child, checkRequest(1), checkExpected(1));
  const check = await measure(bench, {
    who,
    connections: CONNECTIONS,
    next: () => {
      n += 1;
      return checkRequest(n);
    },
    search: true,
    rounds: 3,
  });
  const next = () => {
    n += 1;
    return submitRequest(n);
  };
  for (const child of who) {
    const { body } = await askOnce(child.url, next());
    if (!body.includes('"FoldSubmitted"')) throw new Error(`${child.name}: ${body.toString('utf8', 0, 500)}`);
  }
  const submitted = await measure(bench, { who, connections: CONNECTIONS, next, search: true, rounds: 3 });
  const ids = new Map<Child, string>();
  for (const child of who) ids.set(child, await submit(child, 5 * PAGE));
  const expected = (id: string) => ({
    batch: {
      tasks: {
        nodes: Array.from({ length: PAGE }, (_, i) => ({
          taskId: `${id}-${String(i).padStart(5, '0')}`,
          status: 'DONE',
        })),
        pageInfo: { hasNextPage: true },
      },
    },
  });
  const tasks = (child: Child) => operationBytes(TASKS, { id: ids.get(child) ?? '', first: PAGE }, AUTH);
  for (const child of who) await compareAnswer(child, tasks(child), expected(ids.get(child) ?? ''));
  const page = await measure(bench, {
    who,
    connections: CONNECTIONS,
    next: tasks,
    search: true,
    rounds: 3,
  });
  return {
    name: 'mutations',
    tables: [
      table(
        `checkFold of ${ITEMS} complexes`,
        'A protein of 140 residues and a ligand each, other names and sequences in every request.',
        check,
      ),
      table(
        'submitFold of one complex',
        'A new idempotency key in every request, written to disk before it is sent.',
        submitted,
      ),
      table(`A page of ${PAGE} tasks`, 'Of a batch of 500; ids and states.', page),
    ],
    targets: [
      {
        text: 'submitFold: calls of the service for an answer',
        measured: ofWho(submitted, 'foldatlas').calls,
        unit: 'calls',
        bound: { most: 1 },
      },
      {
        text: 'A page of tasks: calls of the service for an answer',
        measured: ofWho(page, 'foldatlas').calls,
        unit: 'calls',
        bound: { most: 1 },
      },
    ],
  };
}
