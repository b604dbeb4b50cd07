// How cost grows with the number of proteins: the same query over 1, 10, 100, 500 and 5,000 that were never seen.
import { operationBytes } from '../load/connection.ts';
import { titleOf } from '../processes/contestants.ts';
import type { ScenarioResult } from '../report/result.ts';
import { type Bench, compareAnswer } from './bench.ts';
import { LIST, openExpected } from './expected.ts';
import { measure, ofWho } from './measure.ts';

/** Numbers of proteins, in the order of the table; a hundred warm up for all. */
const SIZES = [1, 10, 100, 500, 5000];
const WARMING_SIZE = 100;
const PEERS = ['yoga-bulk', 'rest'] as const;
const WANTED = { cluster: true, features: true, structure: false, sequence: false };

export async function growth(bench: Bench): Promise<ScenarioResult> {
  const expected = openExpected(bench);
  const names = bench.rivals(PEERS);
  const who = await Promise.all(names.map((name) => bench.child(name)));
  const costs = new Map<string, Record<string, number>>(names.map((name) => [name, {}]));
  for (const size of [WARMING_SIZE, ...SIZES.filter((one) => one !== WARMING_SIZE)]) {
    const list = (): string[] => bench.fresh(size);
    for (const child of who) {
      if (child.name === 'rest') continue;
      const hashes = list();
      await compareAnswer(child, operationBytes(LIST, { hashes }), expected.list(hashes));
    }
    const measured = await measure(bench, {
      who,
      connections: 1,
      next: () => operationBytes(LIST, { hashes: list() }),
      search: true,
      rounds: 3,
      kind: 'list',
      lists: { size, wanted: WANTED },
    });
    for (const name of names)
      Object.assign(costs.get(name) ?? {}, { [`n${size}`]: ofWho(measured, name).cpu });
  }
  const ours = costs.get('foldatlas') ?? {};
  const each = (size: number): number => (ours[`n${size}`] ?? Number.NaN) / size;
  return {
    name: 'growth',
    tables: [
      {
        title: 'CPU time by the number of proteins',
        note: 'Milliseconds of CPU time for one query over so many proteins never seen, with cluster and five features; one at a time.',
        columns: SIZES.map((size) => ({ key: `n${size}`, title: size.toLocaleString('en-US'), digits: 2 })),
        rows: names.map((name) => ({ who: titleOf(name), values: costs.get(name) ?? {} })),
      },
    ],
    targets: [
      {
        text: 'Growth: CPU time a protein, 5,000 at once against 100',
        measured: each(5000) / each(100),
        unit: '×',
        bound: { most: 1.2 },
      },
    ],
  };
}
