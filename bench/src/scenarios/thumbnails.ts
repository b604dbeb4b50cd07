// A picture asked for again and again: as a file, through GraphQL, and with the tag of what the client has.
import { operationBytes, requestBytes } from '../load/connection.ts';
import type { Child } from '../processes/child.ts';
import type { ScenarioResult } from '../report/result.ts';
import { templateOf } from '../world/facts.ts';
import { askOnce, type Bench, compareAnswer } from './bench.ts';
import { openExpected, PICTURE } from './expected.ts';
import { LOAD_COLUMNS, type Measured, measure, rowsOf } from './measure.ts';

const CONNECTIONS = 16;

/** The tag that a file came with. */
async function tagOf(url: string): Promise<string> {
  const answer = await fetch(url);
  await answer.arrayBuffer();
  return answer.headers.get('etag') ?? '';
}

export async function thumbnails(bench: Bench): Promise<ScenarioResult> {
  const [hash = ''] = bench.fresh(1);
  const path = `/thumbnails/${hash}/plddt.png`;
  const png = Buffer.from(bench.templates[templateOf(bench.numberOf(hash) ?? 0)]?.png ?? []);
  const who = await Promise.all(bench.rivals(['mercurius-cache']).map((name) => bench.child(name)));
  const picture = operationBytes(PICTURE, { hash });
  const file = requestBytes('GET', path);
  for (const child of who) {
    await compareAnswer(child, picture, openExpected(bench).picture(hash));
    const { body } = await askOnce(child.url, file);
    if (!body.equals(png)) throw new Error(`${child.name} serves another picture`);
  }
  const plan = { connections: CONNECTIONS, search: false, rounds: 3, who };
  const files = await measure(bench, { ...plan, kind: 'file', next: () => file });
  const fields = await measure(bench, { ...plan, next: () => picture });
  const etags = new Map<Child, Buffer>();
  for (const child of who)
    etags.set(child, requestBytes('GET', path, { 'if-none-match': await tagOf(child.url + path) }));
  const unchanged = await measure(bench, {
    ...plan,
    kind: 'file',
    next: (child) => etags.get(child) ?? file,
    status: 304,
  });
  const named = (measured: readonly Measured[], how: string) =>
    rowsOf(measured).map((row) => ({ ...row, who: `${row.who}, ${how}` }));
  const own = files.find(({ who }) => who === 'foldatlas');
  const best = Math.min(...fields.filter(({ who }) => who !== 'foldatlas').map(({ cpu }) => cpu));
  return {
    name: 'thumbnails',
    tables: [
      {
        title: 'A picture of a structure, hot',
        note: `One picture, ${CONNECTIONS} connections. As a file: FoldAtlas by its address, beside Mercurius by a Fastify route over bytes in memory. Through GraphQL: as base64, with all caches on. Ratios are within each way of asking.`,
        columns: LOAD_COLUMNS,
        rows: [...named(files, 'file'), ...named(fields, 'base64'), ...named(unchanged, '304')],
      },
    ],
    targets: [
      {
        text: "A picture, hot, answers per core: FoldAtlas' file against the best peer through GraphQL",
        measured: best / (own?.cpu ?? Number.NaN),
        unit: '×',
        bound: { least: 2 },
      },
      {
        text: 'A picture that the client has (304): calls of the service for an answer',
        measured: unchanged.find(({ who }) => who === 'foldatlas')?.calls ?? Number.NaN,
        unit: 'calls',
        bound: { most: 0 },
      },
    ],
  };
}
