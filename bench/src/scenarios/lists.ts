// A hundred new proteins with their clusters and strongest features, from a service next door and
// 20 ms away.
import { operationBytes } from '../load/connection.ts';
import type { Child } from '../processes/child.ts';
import type { ContestantName } from '../processes/contestants.ts';
import type { ScenarioResult } from '../report/result.ts';
import { type Bench, compareAnswer, setStub, stubCounts, sum } from './bench.ts';
import { LIST, LIST_OF_TEN, openExpected } from './expected.ts';
import { costAgainst, LOAD_COLUMNS, measure, toRows } from './measure.ts';

const SIZE = 100;
const LATENCY = 20;
/** The request of the REST client to the bulk look-up for the same. */
const WANTED = { cluster: true, features: true, structure: false, sequence: false };
const BULK: readonly ContestantName[] = ['yoga-bulk', 'yoga-jit-bulk', 'mercurius-bulk'];

async function compared(
  bench: Bench,
  names: readonly ContestantName[],
  list: () => readonly string[],
): Promise<Child[]> {
  const expected = openExpected(bench);
  const who = [];
  for (const name of bench.rivals(names)) {
    const child = await bench.child(name);
    const hashes = list();
    await compareAnswer(child, operationBytes(LIST, { hashes }), expected.list(hashes));
    who.push(child);
  }
  return who;
}

/** The calls of one list, counted by itself. */
async function callsOfOne(bench: Bench, hashes: readonly string[]): Promise<number> {
  await setStub(bench);
  const child = await bench.child('foldatlas');
  await compareAnswer(child, operationBytes(LIST, { hashes }), openExpected(bench).list(hashes));
  return sum(Object.values(await stubCounts(bench)));
}

/** Proteins that were never seen, with the service next door. */
export async function coldList(bench: Bench): Promise<ScenarioResult> {
  const list = () => bench.fresh(SIZE);
  const who = [...(await compared(bench, BULK, list)), await bench.child('rest')];
  const calls = await callsOfOne(bench, list());
  const measured = await measure(bench, {
    who,
    connections: 4,
    next: () => operationBytes(LIST, { hashes: list() }),
    search: true,
    kind: 'list',
    lists: { size: SIZE, wanted: WANTED },
  });
  const nested = await measure(bench, {
    who,
    connections: 8,
    next: () => operationBytes(LIST_OF_TEN, { hashes: list() }),
    search: true,
    kind: 'list of ten',
    lists: { size: SIZE, wanted: WANTED },
  });
  return {
    name: 'list cold',
    tables: [
      {
        title: `${SIZE} proteins never seen, with cluster and five features`,
        note: 'Other proteins in every query, 4 connections, no delay of the service. The REST client asks the bulk look-up and reads the archive, without any server around it.',
        columns: LOAD_COLUMNS,
        rows: toRows(measured),
      },
      {
        title: `${SIZE} proteins never seen, with cluster and ten features`,
        note: 'The same over 8 connections, each feature with its value, index and label.',
        columns: LOAD_COLUMNS,
        rows: toRows(nested),
      },
    ],
    targets: [
      {
        text: `${SIZE} new proteins: calls of the service`,
        measured: calls,
        unit: 'calls',
        bound: { most: 1 },
      },
    ],
  };
}

/** Proteins that were never seen, with the service 20 ms away. */
export async function farList(bench: Bench): Promise<ScenarioResult> {
  const list = () => bench.fresh(SIZE);
  const who = await compared(bench, BULK, list);
  const measured = await measure(bench, {
    who,
    connections: 1,
    next: () => operationBytes(LIST, { hashes: list() }),
    search: true,
    latency: LATENCY,
    kind: 'list',
    rounds: 3,
  });
  return {
    name: 'list far',
    tables: [
      {
        title: `The same, ${LATENCY} ms away`,
        note: `Each call of the service takes ${LATENCY} ms; one connection.`,
        columns: LOAD_COLUMNS,
        rows: toRows(measured),
      },
    ],
    targets: [
      {
        text: `${SIZE} new proteins, ${LATENCY} ms away: p50 against the best peer's`,
        measured: costAgainst(measured, 'p50', ...BULK),
        unit: '×',
        bound: { most: 1.1 },
      },
    ],
  };
}
