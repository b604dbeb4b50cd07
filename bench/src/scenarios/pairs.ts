// CPU time of FoldAtlas against another, as a ratio with its 99 percent interval. Each pair is two
// new processes that are loaded in turns, ABBA, so that a machine that slows down slows both.
import { load } from '../load/load.ts';
import type { Child } from '../processes/child.ts';
import { type ContestantName, checkoutName, startContestant, toTitle } from '../processes/contestants.ts';
import type { Row, ScenarioResult, Target } from '../report/result.ts';
import { median, ratioInterval } from '../report/statistics.ts';
import { type Bench, setStub, sum } from './bench.ts';
import { KINDS, type Kind } from './kinds.ts';

/** The turns of a pair: FoldAtlas is 0. */
const TURNS = [0, 1, 1, 0, 0, 1, 1, 0];
const QUICK_TURNS = [0, 1];

/** Milliseconds of CPU time for an answer, of each of two. */
type Cost = readonly [ours: number, other: number];

async function loadFor(child: Child, { connections }: Kind, next: () => Buffer, requests: number) {
  const before = (await child.read()).cpu;
  await load({
    url: child.url,
    connections,
    seconds: Number.POSITIVE_INFINITY,
    requests,
    next,
    search: true,
  });
  return (await child.read()).cpu - before;
}

/** Starts two processes, compares their answers, warms both up and loads them in turns. */
async function measurePair(bench: Bench, kind: Kind, other: ContestantName, n: number): Promise<Cost> {
  const { next, check } = kind.open(bench);
  const label = (name: ContestantName): string => `${name} ${kind.name} ${n}`;
  const start = (name: ContestantName) => startContestant(name, bench.start, label(name));
  const both = await Promise.all([start('foldatlas'), start(other)]);
  try {
    for (const child of both) await check(child);
    const requests = bench.quick ? 1 : kind.answers;
    if (!bench.quick) for (const child of both) await loadFor(child, kind, next, kind.warm);
    const used: [number[], number[]] = [[], []];
    for (const turn of bench.quick ? QUICK_TURNS : TURNS)
      used[turn === 0 ? 0 : 1].push(await loadFor(both[turn === 0 ? 0 : 1], kind, next, requests));
    const costs = used.map((times) => sum(times) / times.length / requests);
    return [costs[0] ?? Number.NaN, costs[1] ?? Number.NaN];
  } finally {
    await Promise.all(both.map((child) => child.stop()));
  }
}

/** Pairs of every kind of query: against its peers, or against the checkouts that were named. */
export async function pairs(bench: Bench): Promise<ScenarioResult> {
  const rows: Row[] = [];
  const targets: Target[] = [];
  await setStub(bench, { latency: 0, done: true });
  const count = bench.quick ? 2 : bench.pairs;
  for (const kind of KINDS.filter(({ name }) => name.includes(bench.rows))) {
    const others =
      bench.checkouts.length > 0
        ? bench.checkouts.map((folder) => ({ name: checkoutName(folder), most: undefined }))
        : kind.peers;
    for (const { name, most } of others) {
      const costs: Cost[] = [];
      while (costs.length < count) {
        bench.progress(`${kind.name}: pair ${costs.length + 1} of ${count}`);
        costs.push(await measurePair(bench, kind, name, costs.length));
      }
      const { middle, low, high } = ratioInterval(costs.map(([ours, other]) => ours / other));
      const [cpu, peer] = [median(costs.map(([ours]) => ours)), median(costs.map(([, other]) => other))];
      rows.push({ who: `${kind.name}, ${toTitle(name)}`, values: { cpu, peer, middle, low, high, count } });
      if (most !== undefined)
        targets.push({
          text: `${kind.title}: CPU time against ${toTitle(name)}`,
          measured: middle,
          interval: [low, high],
          unit: '×',
          bound: { most },
        });
    }
  }
  return {
    name: 'pairs',
    tables: [
      {
        title: 'CPU time in pairs of new processes',
        note: 'FoldAtlas and the other are started anew for each pair, warmed up with the same number of answers, and loaded in turns, ABBA. The ratio is FoldAtlas divided by the other: below 1 FoldAtlas is cheaper. The interval is that of Student for the mean of the logarithms; what lies inside is within the noise.',
        columns: [
          { key: 'cpu', title: 'FoldAtlas, CPU ms', digits: 3 },
          { key: 'peer', title: 'the other, CPU ms', digits: 3 },
          { key: 'middle', title: 'ratio', digits: 3 },
          { key: 'low', title: '99 % from', digits: 3 },
          { key: 'high', title: 'to', digits: 3 },
          { key: 'count', title: 'pairs', digits: 0 },
        ],
        rows,
      },
    ],
    targets,
  };
}
