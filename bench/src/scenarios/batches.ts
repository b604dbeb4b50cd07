// Batches: a large one walked from end to end, many watched by many, and a block of a large matrix of errors.
import { setTimeout as sleep } from 'node:timers/promises';
import { operationBytes } from '../load/connection.ts';
import { openWatchers } from '../load/watchers.ts';
import type { Child } from '../processes/child.ts';
import type { ScenarioResult } from '../report/result.ts';
import { median } from '../report/statistics.ts';
import { PAE_TOKENS, paeAt, scoresOf } from '../stub/batch-answers.ts';
import { askOnce, type Bench, compareBody, setStub, stubCounts, sum } from './bench.ts';
import { AUTH, data, itemName, metric, submit } from './gateway.ts';

const WALK = `query Walk($id: ID!, $after: String) { batch(batchId: $id) { tasks(first: 500, after: $after) {
  nodes { name scores { ptm iptm } } pageInfo { hasNextPage endCursor } } } }`;

interface Page {
  readonly nodes: { name: string; scores: { ptm: number; iptm: number } | null }[];
  readonly pageInfo: { hasNextPage: boolean; endCursor: string | null };
}

/** Walks a batch page by page and compares each task's name and scores. */
async function walk(child: Child, id: string, tasks: number): Promise<void> {
  let seen = 0;
  for (let after: string | null = null; ; ) {
    const { batch } = (await data(child, WALK, { id, after })) as { batch: { tasks: Page } };
    for (const { name, scores } of batch.tasks.nodes) {
      const expected = scoresOf(seen);
      if (name !== itemName(seen) || scores?.ptm !== expected.ptm || scores.iptm !== expected.iptm)
        throw new Error(`Task ${seen} is answered as ${name} ${JSON.stringify(scores)}.`);
      seen += 1;
    }
    if (!batch.tasks.pageInfo.hasNextPage) break;
    after = batch.tasks.pageInfo.endCursor;
  }
  if (seen !== tasks) throw new Error(`${seen} tasks were walked, not ${tasks}.`);
}

/** 2,000 tasks with names and scores, the second time from the store. */
export async function batchWalk(bench: Bench): Promise<ScenarioResult> {
  const tasks = bench.quick ? 400 : 2000;
  const child = await bench.child('foldatlas');
  await setStub(bench, { latency: 0, done: true });
  const id = await submit(child, tasks);
  const rows = [];
  let calls = Number.NaN;
  for (const who of ['first time', 'from the store']) {
    bench.progress(`${tasks} tasks, ${who}`);
    await setStub(bench);
    const before = await child.read();
    const since = performance.now();
    await walk(child, id, tasks);
    const total = performance.now() - since;
    const after = await child.read();
    calls = sum(Object.values(await stubCounts(bench)));
    rows.push({ who, values: { total, cpu: after.cpu - before.cpu, calls, stall: after.stall } });
  }
  return {
    name: 'batch walk',
    tables: [
      {
        title: `A batch of ${tasks.toLocaleString('en-US')} tasks walked with names and scores`,
        note: 'Pages of 500. The first time every result has to be read once: one Status and one download for each task.',
        columns: [
          { key: 'total', title: 'ms', digits: 0 },
          { key: 'cpu', title: 'CPU ms', digits: 0 },
          { key: 'calls', title: 'upstream calls', digits: 0 },
          { key: 'stall', title: 'longest stall ms', digits: 0 },
        ],
        rows,
      },
    ],
    targets: [
      {
        text: `${tasks.toLocaleString('en-US')} tasks with names and scores, from the store`,
        measured: calls,
        unit: 'calls',
        bound: { most: 29 },
      },
    ],
  };
}

const WATCH =
  'subscription Watch($id: ID!) { batchProgress(batchId: $id) { sequence final batch { counts { total } } } }';

/** 2,000 streams on 50 batches that stay under way. */
export async function watchers(bench: Bench): Promise<ScenarioResult> {
  const [batches, streams, seconds] = bench.quick ? [10, 200, 1] : [50, 2000, 10];
  const child = await bench.child('foldatlas');
  await setStub(bench, { latency: 0, done: false });
  const ids: string[] = [];
  for (let n = 0; n < batches; n += 1) ids.push(await submit(child, 3));
  bench.progress(`${streams} watchers`);
  const requests = Array.from({ length: streams }, (_, n) =>
    operationBytes(WATCH, { id: ids[n % batches] }, { ...AUTH, accept: 'text/event-stream' }),
  );
  const since = performance.now();
  const before = await child.read();
  const open = await openWatchers(child.url, requests);
  const opened = performance.now() - since;
  const openCpu = (await child.read()).cpu - before.cpu;
  await setStub(bench);
  const start = await child.read();
  await sleep(seconds * 1000);
  const end = await child.read();
  const counts = await stubCounts(bench);
  const [pollers, watched] = [
    await metric(child, 'foldatlas_pollers'),
    await metric(child, 'foldatlas_watchers'),
  ];
  const memory = child.memory().now / 1e6;
  open.close();
  await setStub(bench, { done: true });
  return {
    name: 'watchers',
    tables: [
      {
        title: `${streams.toLocaleString('en-US')} watchers of ${batches} batches`,
        note: `Server-Sent Events, all opened at once; then ${seconds} s of watching.`,
        columns: [
          { key: 'watched', title: 'watchers', digits: 0 },
          { key: 'pollers', title: 'pollers', digits: 0 },
          { key: 'opened', title: 'all opened, ms', digits: 0 },
          { key: 'openCpu', title: 'CPU ms to open', digits: 0 },
          { key: 'lists', title: 'List calls a second', digits: 1 },
          { key: 'cpu', title: 'CPU ms a second', digits: 1 },
          { key: 'memory', title: 'memory MB', digits: 0 },
        ],
        rows: [
          {
            who: 'FoldAtlas',
            values: {
              watched,
              pollers,
              opened,
              openCpu,
              lists: (counts.list ?? 0) / seconds,
              cpu: (end.cpu - start.cpu) / seconds,
              memory,
            },
          },
        ],
      },
    ],
    targets: [
      {
        text: `${streams.toLocaleString('en-US')} watchers of ${batches} batches`,
        measured: pollers,
        unit: 'pollers',
        bound: { most: batches },
      },
    ],
  };
}

const BLOCK = 100;
const PAE = `query Pae($id: ID!) { task(taskId: $id) { result { pae { size block(rowStart: 0, rowEnd: ${BLOCK}, columnStart: 0, columnEnd: ${BLOCK}) { values } } } } }`;

/** A block of 100 × 100 out of 1,000 × 1,000, of results that were never read before. */
export async function pae(bench: Bench): Promise<ScenarioResult> {
  const rounds = bench.quick ? 2 : 7;
  const child = await bench.child('foldatlas');
  const rest = await bench.child('rest');
  await setStub(bench, { latency: 0, done: true });
  const range = Array.from({ length: BLOCK }, (_, n) => n);
  const expected = {
    task: {
      result: {
        pae: { size: PAE_TOKENS, block: { values: range.map((i) => range.map((j) => paeAt(i, j))) } },
      },
    },
  };
  const ids: string[] = [];
  for (let n = 0; n < rounds + 1; n += 1) ids.push(await submit(child, 1, true));
  const parse = (await rest.ask({
    parse: `${bench.stub.url}/downloads/${ids[0]}-00000.json`,
    times: 9,
  })) as number;
  const samples: { total: number; cpu: number; stall: number }[] = [];
  for (const id of ids) {
    const before = await child.read();
    const since = performance.now();
    const { body } = await askOnce(child.url, operationBytes(PAE, { id: `${id}-00000` }, AUTH));
    const total = performance.now() - since;
    const after = await child.read();
    // Comparing is no part of the query; it would add a sixth of what that is measured against.
    compareBody(child, body, expected);
    samples.push({ total, cpu: after.cpu - before.cpu, stall: after.stall });
  }
  const warm = samples.slice(1);
  const total = median(warm.map((one) => one.total));
  const stall = median(warm.map((one) => one.stall));
  return {
    name: 'pae',
    tables: [
      {
        title: `A block of ${BLOCK} × ${BLOCK} out of a matrix of ${PAE_TOKENS} × ${PAE_TOKENS}`,
        note: 'A result that was never read: Status, download of the file, its parsing in a thread, the block. Beside it JSON.parse of the same text, nothing else.',
        columns: [
          { key: 'total', title: 'ms', digits: 1 },
          { key: 'cpu', title: 'CPU ms', digits: 1 },
          { key: 'stall', title: 'longest stall ms', digits: 1 },
        ],
        rows: [
          { who: 'FoldAtlas', values: { total, cpu: median(warm.map((one) => one.cpu)), stall } },
          { who: 'JSON.parse', values: { total: parse, cpu: parse, stall: parse } },
        ],
      },
    ],
    targets: [
      {
        text: 'PAE block, the whole query against JSON.parse of the file',
        measured: total / parse,
        unit: '×',
        bound: { most: 1.5 },
      },
      {
        text: 'PAE block, longest stall of the event loop against JSON.parse',
        measured: stall / parse,
        unit: '×',
        bound: { most: 0.5 },
      },
    ],
  };
}
