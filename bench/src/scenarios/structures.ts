// 500 proteins with their structures, 15 MB: memory for one and for four at once in new processes, then, warmed up as everywhere, the first
// byte, the last, and how long the event loop stood still. FoldAtlas answers whole, in parts and as rows of a look-up.
import { isDeepStrictEqual } from 'node:util';
import { operationBytes, requestBytes } from '../load/connection.ts';
import type { Child } from '../processes/child.ts';
import { type ContestantName, startContestant, titleOf } from '../processes/contestants.ts';
import type { Column, ScenarioResult, Target } from '../report/result.ts';
import { askOnce, type Bench, compareAnswer } from './bench.ts';
import { openExpected, STREAMED, STRUCTURES } from './expected.ts';
import { type Measured, measure, ofWho, type Plan } from './measure.ts';

const SIZE = 500;
const PEERS: readonly ContestantName[] = ['yoga-bulk', 'yoga-native', 'mercurius-bulk'];
const WHOLE = 'FoldAtlas, whole';
const PARTS = 'FoldAtlas, in parts (@stream)';
const COLUMNS: readonly Column[] = [
  { key: 'first', title: 'first byte ms', digits: 1 },
  { key: 'p50', title: 'total ms', digits: 0 },
  { key: 'cpu', title: 'CPU ms', digits: 0 },
  { key: 'one', title: 'peak MB, one', digits: 0 },
  { key: 'four', title: 'peak MB, four', digits: 0 },
  { key: 'stall', title: 'longest stall ms', digits: 0 },
  { key: 'calls', title: 'upstream calls', digits: 0 },
];

const parts = (ids: readonly string[]): Buffer =>
  operationBytes(STREAMED, { ids }, { accept: 'multipart/mixed; deferSpec=20220824' });

/** Puts an answer that came in parts together. */
function joined(body: Buffer): unknown {
  const list: unknown[] = [];
  for (const block of body.toString().split(/\r?\n--[^\r\n]*\r?\n?/)) {
    const start = block.indexOf('{');
    if (start === -1) continue;
    const part = JSON.parse(block.slice(start)) as {
      data?: { lookup: unknown[] };
      incremental?: { items?: unknown[] }[];
      errors?: unknown;
    };
    if (part.errors !== undefined)
      throw new Error(`a part has errors: ${JSON.stringify(part).slice(0, 500)}`);
    list.push(...(part.data?.lookup ?? []), ...(part.incremental ?? []).flatMap(({ items }) => items ?? []));
  }
  return { lookup: list };
}

/** New processes, so that memory is that of this work and of nothing before. */
async function started(bench: Bench, fresh: () => string[]): Promise<Child[]> {
  const { structures } = openExpected(bench.templates);
  const open = async (name: ContestantName, label: string): Promise<Child> =>
    startContestant(name, bench.start, label);
  const whole = await open('foldatlas', WHOLE);
  const first = fresh();
  await compareAnswer(whole, operationBytes(STRUCTURES, { ids: first }), structures(first, 'memberPdb'));
  const streamed = await open('foldatlas', PARTS);
  const second = fresh();
  const { body } = await askOnce(streamed.url, parts(second));
  if (!isDeepStrictEqual(joined(body), structures(second, 'memberPdb')))
    throw new Error(`FoldAtlas answers wrongly in parts: ${body.toString('utf8', 0, 600)}`);
  const who = [whole, streamed];
  for (const name of bench.rivals(PEERS).slice(1)) {
    const child = await open(name, titleOf(name));
    const ids = fresh();
    await compareAnswer(child, operationBytes(STRUCTURES, { ids }), structures(ids, 'memberPdb'));
    who.push(child);
  }
  return who;
}

const START = `mutation Start($hashes: [ProteinHash!]!) { startBulkLookup(input: { hashes: $hashes }) { __typename ... on BulkLookup { lookupId state } ... on Problem { message } } }`;
const STATE = 'query State($id: ID!) { bulkLookup(lookupId: $id) { state ndjsonUrl } }';

/** Starts a look-up, waits for its end. @returns the path of its rows */
async function lookedUp(url: string, hashes: readonly string[]): Promise<string> {
  const ask = async (request: Buffer) => JSON.parse((await askOnce(url, request)).body.toString());
  const begun = await ask(operationBytes(START, { hashes }));
  const id = begun.data?.startBulkLookup?.lookupId;
  if (id === undefined) throw new Error(`no look-up: ${JSON.stringify(begun)}`);
  for (;;) {
    const { state, ndjsonUrl } = (await ask(operationBytes(STATE, { id }))).data.bulkLookup;
    if (state === 'COMPLETE') return new URL(ndjsonUrl).pathname;
    if (state !== 'PENDING') throw new Error(`the look-up is ${state}`);
  }
}

/** What was measured of everybody: with one answer at a time and with four at once in new processes, and warmed up. */
interface Sides {
  readonly one: readonly Measured[];
  readonly four: readonly Measured[];
  readonly warm: readonly Measured[];
}

async function measureSides(bench: Bench, plan: Pick<Plan, 'who' | 'next' | 'search'>): Promise<Sides> {
  const fresh = { ...plan, rounds: bench.quick ? 1 : 3, seconds: 5 };
  const one = await measure(bench, { ...fresh, connections: 1, requests: bench.quick ? 1 : 5 });
  const four = await measure(bench, { ...fresh, connections: 4, requests: bench.quick ? 4 : 12 });
  return { one, four, warm: await measure(bench, { ...plan, connections: 1 }) };
}

/** The rows of finished look-ups. They hold addresses of structures, not their texts. */
async function measureRows(bench: Bench, fresh: () => string[]): Promise<Sides> {
  const child = await startContestant('foldatlas', bench.start, 'FoldAtlas, rows of a look-up (NDJSON)');
  try {
    const path = await lookedUp(child.url, fresh());
    const { body } = await askOnce(child.url, requestBytes('GET', path));
    const rows = body.toString().trimEnd().split('\n');
    if (rows.length !== SIZE || !rows.every((row) => row.includes('"FOUND"')))
      throw new Error(`The rows are wrong: ${rows[0]}`);
    return await measureSides(bench, { who: [child], next: () => requestBytes('GET', path), search: true });
  } finally {
    await child.stop();
  }
}

function targetsOf({ one, four, warm }: Sides): Target[] {
  const peers = warm.filter(({ who }) => !who.startsWith('FoldAtlas'));
  const best = (read: (measured: Measured) => number): number => Math.min(...peers.map(read));
  const [whole, streamed] = [ofWho(warm, WHOLE), ofWho(warm, PARTS)];
  const name = `${SIZE} structures`;
  const peak = (who: string, list: readonly Measured[]): number => ofWho(list, who).peak / 1e6;
  return [
    {
      text: `${name}, first byte of the whole answer`,
      measured: whole.first,
      unit: 'ms',
      bound: { most: 30 },
    },
    { text: `${name}, first byte in parts`, measured: streamed.first, unit: 'ms', bound: { most: 30 } },
    {
      text: `${name}, first byte of the whole answer against the best peer's`,
      measured: whole.first / best(({ first }) => first),
      unit: '×',
      bound: { most: 0.05 },
    },
    {
      text: `${name}, total of the whole answer against the best peer's`,
      measured: whole.p50 / best(({ p50 }) => p50),
      unit: '×',
      bound: { most: 0.45 },
    },
    ...[WHOLE, PARTS].flatMap((who): Target[] => [
      {
        text: `${name}, peak memory, one (${who})`,
        measured: peak(who, one),
        unit: 'MB',
        bound: { most: 200 },
      },
      {
        text: `${name}, peak memory, four (${who})`,
        measured: peak(who, four),
        unit: 'MB',
        bound: { most: 200 },
      },
    ]),
    {
      text: `${name}, longest stall of the event loop`,
      measured: Math.max(whole.stall, streamed.stall),
      unit: 'ms',
      bound: { most: 50 },
    },
  ];
}

export async function structures(bench: Bench): Promise<ScenarioResult> {
  const fresh = (): string[] => bench.fresh(SIZE);
  const who = await started(bench, fresh);
  const next = (child: Child): Buffer =>
    child.name === PARTS ? parts(fresh()) : operationBytes(STRUCTURES, { ids: fresh() });
  const sides = await measureSides(bench, { who, next, search: true });
  await Promise.all(who.map((child) => child.stop()));
  const missing: string[] = [];
  const rows = await measureRows(bench, fresh).catch((error: unknown): Sides => {
    missing.push(`The rows of a look-up were not measured: ${String(error)}`);
    return { one: [], four: [], warm: [] };
  });
  const [one, four] = [
    [...sides.one, ...rows.one],
    [...sides.four, ...rows.four],
  ];
  return {
    name: 'structures',
    tables: [
      {
        title: `${SIZE} proteins with their structures, 15 MB`,
        note: `Other proteins in every query, the service next door. Peak memory is that of new processes, in their first twenty answers one at a time, then for four at once; all else is measured after that, warmed up. The first byte is there when 256 bytes of the body are. The longest stall is that with one. The rows of a look-up hold addresses in place of the texts; the look-up had ended before.`,
        columns: COLUMNS,
        rows: [...sides.warm, ...rows.warm].map(({ who: name, first, p50, cpu, stall, calls }) => {
          const peak = (list: readonly Measured[]): number => ofWho(list, name).peak / 1e6;
          return { who: name, values: { first, p50, cpu, one: peak(one), four: peak(four), stall, calls } };
        }),
      },
    ],
    targets: targetsOf(sides),
    missing,
  };
}
