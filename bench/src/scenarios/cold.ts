// A small query for one new protein: no contestant has it in a cache.
import { operationBytes } from '../load/connection.ts';
import type { ContestantName } from '../processes/contestants.ts';
import type { ScenarioResult } from '../report/result.ts';
import { type Bench, compareAnswer } from './bench.ts';
import { openExpected, SMALL } from './expected.ts';
import { LOAD_COLUMNS, measure, toRows } from './measure.ts';

const PEERS: readonly ContestantName[] = ['mercurius', 'apollo', 'yoga'];
const CONNECTIONS = 16;

/** One protein that was never seen: one call of the service. */
export async function coldSmall(bench: Bench): Promise<ScenarioResult> {
  const expected = openExpected(bench);
  const who = [];
  for (const name of bench.rivals(PEERS)) {
    const child = await bench.child(name);
    const [hash = ''] = bench.fresh(1);
    await compareAnswer(child, operationBytes(SMALL, { hash }), expected.small(hash));
    who.push(child);
  }
  const next = () => operationBytes(SMALL, { hash: bench.fresh(1)[0] });
  const measured = await measure(bench, { who, connections: CONNECTIONS, next, search: true });
  return {
    name: 'cold small',
    tables: [
      {
        title: 'Cold, small: hash, length and sequence of a protein never seen',
        note: `Another protein in every query, ${CONNECTIONS} connections, no delay of the service.`,
        columns: LOAD_COLUMNS,
        rows: toRows(measured),
      },
    ],
    targets: [],
  };
}
