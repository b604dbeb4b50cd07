// 500 proteins with their structures, 15 MB: memory for one and for four at once in new processes,
// then, warmed up as everywhere, the first byte, the last, and how long the event loop stood still.
// FoldAtlas answers whole and in parts.
import { isDeepStrictEqual } from 'node:util';
import { operationBytes } from '../load/connection.ts';
import type { Child } from '../processes/child.ts';
import { type ContestantName, startContestant, toTitle } from '../processes/contestants.ts';
import type { Column, ScenarioResult, Target } from '../report/result.ts';
import { askOnce, type Bench, compareAnswer } from './bench.ts';
import { keepAtoms, openExpected, STREAMED, STRUCTURES } from './expected.ts';
import { type Measured, measure, ofWho, type Plan } from './measure.ts';

const SIZE = 500;
const PEERS: readonly ContestantName[] = ['yoga-bulk', 'yoga-jit-bulk', 'mercurius-bulk'];
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
    const part = JSON.parse(block.slice(start), keepAtoms) as {
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
  const { structures } = openExpected(bench);
  const open = async (name: ContestantName, label: string): Promise<Child> =>
    startContestant(name, bench.start, label);
  const whole = await open('foldatlas', WHOLE);
  const first = fresh();
  await compareAnswer(whole, operationBytes(STRUCTURES, { ids: first }), structures(first), keepAtoms);
  const streamed = await open('foldatlas', PARTS);
  const second = fresh();
  const { body } = await askOnce(streamed.url, parts(second));
  if (!isDeepStrictEqual(joined(body), structures(second)))
    throw new Error(`FoldAtlas answers wrongly in parts: ${body.toString('utf8', 0, 600)}`);
  const who = [whole, streamed];
  for (const name of bench.rivals(PEERS).slice(1)) {
    const child = await open(name, toTitle(name));
    const ids = fresh();
    await compareAnswer(child, operationBytes(STRUCTURES, { ids }), structures(ids), keepAtoms);
    who.push(child);
  }
  return who;
}

/**
 * The measurements of every contestant: with one answer at a time and with four at once in new
 * processes, and warmed up.
 */
interface Sides {
  readonly one: readonly Measured[];
  readonly four: readonly Measured[];
  readonly warm: readonly Measured[];
}

async function measureSides(bench: Bench, plan: Pick<Plan, 'who' | 'next' | 'search'>): Promise<Sides> {
  const fresh = { ...plan, isNew: true, rounds: 2, seconds: 5 } as const;
  const one = await measure(bench, { ...fresh, connections: 1, requests: bench.quick ? 1 : 5 });
  const four = await measure(bench, { ...fresh, connections: 4, requests: bench.quick ? 4 : 8 });
  return { one, four, warm: await measure(bench, { ...plan, connections: 1 }) };
}

function toTargets({ one, four, warm }: Sides): Target[] {
  const name = `${SIZE} structures`;
  const best = Math.min(...PEERS.map((peer) => ofWho(warm, toTitle(peer)).p50));
  const peak = (list: readonly Measured[]): number => ofWho(list, WHOLE).peak / 1e6;
  return [
    {
      text: `${name}: total against the best peer's`,
      measured: ofWho(warm, WHOLE).p50 / best,
      unit: '×',
      bound: { most: 0.8 },
    },
    { text: `${name}: peak memory, one at a time`, measured: peak(one), unit: 'MB', bound: { most: 300 } },
    { text: `${name}: peak memory, four at once`, measured: peak(four), unit: 'MB', bound: { most: 300 } },
  ];
}

export async function structures(bench: Bench): Promise<ScenarioResult> {
  const fresh = (): string[] => bench.fresh(SIZE);
  const who = await started(bench, fresh);
  const next = (child: Child): Buffer =>
    child.name === PARTS ? parts(fresh()) : operationBytes(STRUCTURES, { ids: fresh() });
  const { one, four, warm } = await measureSides(bench, { who, next, search: true });
  await Promise.all(who.map((child) => child.stop()));
  const peak = (list: readonly Measured[], name: string): number => ofWho(list, name).peak / 1e6;
  return {
    name: 'structures',
    tables: [
      {
        title: `${SIZE} proteins with their structures, 15 MB`,
        note: 'Other proteins in every query, no delay of the service. Peak memory is that of new processes, in their first answers: one at a time, then four at once. All else is measured after that, warmed up, one at a time. The first byte is there when 256 bytes of the body are.',
        columns: COLUMNS,
        rows: warm.map(({ who: name, first, p50, cpu, stall, calls }) => ({
          who: name,
          values: { first, p50, cpu, one: peak(one, name), four: peak(four, name), stall, calls },
        })),
      },
    ],
    targets: toTargets({ one, four, warm }),
  };
}
