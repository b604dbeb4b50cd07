// The same queries over a service that sends only what its documentation promises (plain) and over one that sends more (rich).
import { operationBytes } from '../load/connection.ts';
import { startContestant } from '../processes/contestants.ts';
import type { ScenarioResult } from '../report/result.ts';
import { type Bench, compareAnswer, setStub } from './bench.ts';
import { LIST, ONE, openExpected } from './expected.ts';
import { type Measured, measure, ofWho } from './measure.ts';

const SIZE = 100;

export async function dialects(bench: Bench): Promise<ScenarioResult> {
  const expected = openExpected(bench);
  const queries = {
    'one protein with cluster and five features': () => {
      const [hash = ''] = bench.fresh(1);
      return { request: operationBytes(ONE, { hash }), answer: expected.one(hash) };
    },
    [`${SIZE} proteins with cluster and five features`]: () => {
      const hashes = bench.fresh(SIZE);
      return { request: operationBytes(LIST, { hashes }), answer: expected.list(hashes) };
    },
  };
  const rows = [];
  const plain = new Map<string, Measured>();
  for (const dialect of ['plain', 'rich'] as const) {
    await setStub(bench, { latency: 0, dialect });
    const child = await startContestant('foldatlas', bench.start, dialect);
    for (const [what, make] of Object.entries(queries)) {
      const { request, answer } = make();
      await compareAnswer(child, request, answer);
      const measured = await measure(bench, {
        who: [child],
        connections: 4,
        next: () => make().request,
        search: true,
        rounds: 3,
      });
      const one = ofWho(measured, dialect);
      if (dialect === 'plain') plain.set(what, one);
      rows.push({ who: `${what}, ${dialect}`, values: { cpu: one.cpu, p50: one.p50, calls: one.calls } });
    }
    await child.stop();
  }
  await setStub(bench, { dialect: 'rich' });
  return {
    name: 'dialects',
    tables: [
      {
        title: 'A service that sends what it promises, and one that sends more',
        note: 'Plain archives do not say which protein is in which cluster and hold no ranking of features; the gateway then asks for single records, at most one for each protein.',
        columns: [
          { key: 'cpu', title: 'CPU ms/answer', digits: 2 },
          { key: 'p50', title: 'p50 ms', digits: 2 },
          { key: 'calls', title: 'upstream calls', digits: 2 },
        ],
        rows,
      },
    ],
    targets: [
      {
        text: `${SIZE} proteins with cluster and features from a plain service: calls`,
        measured: plain.get(`${SIZE} proteins with cluster and five features`)?.calls ?? Number.NaN,
        unit: 'calls',
        bound: { most: SIZE + 1 },
      },
    ],
  };
}
