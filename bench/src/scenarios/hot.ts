// Hot public queries: the same small question again and again.
import { describeFeature } from '../../../sandbox/src/atlas/feature-text.ts';
import { operationBytes } from '../load/connection.ts';
import type { ContestantName } from '../processes/contestants.ts';
import type { ScenarioResult } from '../report/result.ts';
import { askOnce, type Bench, compareAnswer } from './bench.ts';
import { ONE, openExpected, TINY } from './expected.ts';
import { LOAD_COLUMNS, measure, ofWho, toRows } from './measure.ts';

const CONNECTIONS = 16;
const CACHED: readonly ContestantName[] = ['mercurius-cache', 'yoga-cache'];

/** Starts contestants and compares their answers. */
async function compared(bench: Bench, names: readonly ContestantName[], request: Buffer, expected: unknown) {
  const who = [];
  for (const name of bench.rivals(names)) {
    const child = await bench.child(name);
    await compareAnswer(child, request, expected);
    who.push(child);
  }
  return who;
}

/** `features(first: 10)`. */
export async function hotTiny(bench: Bench): Promise<ScenarioResult> {
  const request = operationBytes(TINY);
  const nodes = Array.from({ length: 10 }, (_, index) => ({ index, label: describeFeature(index).label }));
  const expected = { features: { nodes } };
  const who = await compared(bench, CACHED, request, expected);
  const bare = await bench.child('bare');
  const { body } = await askOnce((await bench.child('foldatlas')).url, request);
  await bare.ask({ bytes: body.toString('base64'), type: 'application/json' });
  await compareAnswer(bare, request, expected);
  const measured = await measure(bench, {
    who: [bare, ...who],
    connections: CONNECTIONS,
    next: () => request,
    search: false,
  });
  return {
    name: 'hot tiny',
    tables: [
      {
        title: 'Hot, tiny: `features(first: 10)`',
        note: `The same POST over ${CONNECTIONS} connections; peers with their caches on.`,
        columns: LOAD_COLUMNS,
        rows: toRows(measured),
      },
    ],
    targets: [],
  };
}

/** One protein with its cluster and features, asked for again and again. */
export async function hotOne(bench: Bench): Promise<ScenarioResult> {
  const [hash = ''] = bench.fresh(1);
  const request = operationBytes(ONE, { hash });
  const expected = openExpected(bench).one(hash);
  const who = await compared(bench, CACHED, request, expected);
  const measured = await measure(bench, {
    who,
    connections: CONNECTIONS,
    next: () => request,
    search: false,
  });
  return {
    name: 'hot one',
    tables: [
      {
        title: 'Hot, one protein with its cluster and five features',
        note: `The same POST over ${CONNECTIONS} connections; peers with their caches on.`,
        columns: LOAD_COLUMNS,
        rows: toRows(measured),
      },
    ],
    targets: [
      {
        text: 'A hit, one protein: calls of the service for an answer',
        measured: ofWho(measured, 'foldatlas').calls,
        unit: 'calls',
        bound: { most: 0 },
      },
    ],
  };
}
