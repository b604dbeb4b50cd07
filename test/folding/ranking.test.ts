// 2,000 finished tasks, submitted, walked and ranked: by the numbers of upstream calls, and a
// second time from the store.

import { afterAll, beforeAll, expect, it } from 'vitest';
import { fileNames } from '../../src/resolvers/folds/results/file-names.ts';
import { scoreTable } from '../../src/resolvers/folds/scores/score-table.ts';
import { at, listAt } from '../support.ts';
import { type Bench, openBench, tiny } from './bench.ts';

let bench: Bench;
beforeAll(async () => {
  bench = await openBench({ REQUEST_TIMEOUT_MS: '600000' }, { limits: { runningTasks: 2000 } });
});
afterAll(() => bench.close());

const RANK = `query($id: ID!, $after: String) { batch(batchId: $id) { tasks(first: 1000, after: $after) { nodes { name result { ptm plddt { mean } } } pageInfo { hasNextPage endCursor } } } }`;

async function rank(id: string): Promise<{ name: string; ptm: number }[]> {
  const all: { name: string; ptm: number }[] = [];
  let after: unknown = null;
  for (;;) {
    const { data, errors } = await bench.ask(RANK, { id, after });
    expect(errors).toBeUndefined();
    for (const node of listAt(data, 'batch.tasks.nodes')) {
      all.push({ name: String(at(node, 'name')), ptm: Number(at(node, 'result.ptm')) });
    }
    if (at(data, 'batch.tasks.pageInfo.hasNextPage') === false) return all.sort((a, b) => b.ptm - a.ptm);
    after = at(data, 'batch.tasks.pageInfo.endCursor');
  }
}

const WALK = `query($id: ID!, $after: String) { batch(batchId: $id) { tasks(after: $after) { nodes { name scores { ptm iptm meanPlddt } } pageInfo { hasNextPage endCursor } } } }`;

/** Walks by pages of the usual size. @returns names in order, of tasks that have scores */
async function walk(id: string): Promise<unknown[]> {
  const names: unknown[] = [];
  for (let after: unknown = null; ; ) {
    const { data, errors } = await bench.ask(WALK, { id, after });
    expect(errors).toBeUndefined();
    for (const node of listAt(data, 'batch.tasks.nodes'))
      if (Number(at(node, 'scores.ptm')) > 0) names.push(at(node, 'name'));
    if (at(data, 'batch.tasks.pageInfo.hasNextPage') === false) return names;
    after = at(data, 'batch.tasks.pageInfo.endCursor');
  }
}

it('ranks 1,100 tasks, the second time with two calls', { timeout: 600_000 }, async () => {
  const id = await bench.submit({ items: tiny(1100), label: 'big' });
  await bench.pass(120_000);
  bench.forget();
  const first = await rank(id);
  expect(first).toHaveLength(1100);
  expect(new Set(first.map(({ name }) => name)).size).toBe(1100);
  expect(first.every(({ ptm }) => ptm > 0 && ptm <= 1)).toBe(true);
  expect(bench.counts()).toEqual({ list: 2, status: 1100, download: 1100 });
  bench.forget();
  expect(await rank(id)).toEqual(first);
  expect(bench.counts()).toEqual({ list: 2 });
  bench.forget();
  const names = Array.from({ length: 1100 }, (_, i) => `tiny-${i}`);
  expect(await walk(id)).toEqual(names);
  expect(bench.counts()).toEqual({ list: 11 });
});

it('a table puts tasks without scores behind those whose result has none of its own', () => {
  const task = { name: null, inputIndex: null, repeatIndex: null, file: null, problem: null };
  const scores = { iptm: null, ptm: null, meanPlddt: 0.7, chainPairs: [] };
  const table = scoreTable([
    { ...task, taskId: 'b-00000', status: 'FAILED', scores: null },
    { ...task, taskId: 'b-00001', status: 'DONE', scores },
  ]);
  const rows = table.trimEnd().split('\n').slice(1);
  expect(rows.map((row) => row.split('\t')).map(([rank, , , status]) => [rank, status])).toEqual([
    ['', 'DONE'],
    ['', 'FAILED'],
  ]);
});

// The Python client has the same rule, and the same cases in clients/python/tests/test_inputs.py.
it.each([
  ['蛋白一', '蛋白一'],
  ['белок №1', 'белок_1'],
  ['cafe\u0301', 'caf\u00e9'],
  ['प्रोटीन', 'प्रोटीन'],
  ['..\\α/β', '_α_β'],
  ['😀\ud83d', '_'],
  ['con.pdb', 'con_.pdb'],
  ['あ'.repeat(90), 'あ'.repeat(80)],
  [`${'a'.repeat(79)}𠮷`, 'a'.repeat(79)],
  ['COM¹', 'COM¹_'],
  ['foldatlas', 'foldatlas-2'],
])('%s is a file name that every system takes', (name, file) => {
  expect(fileNames([{ taskId: 'b-00000', name, inputIndex: 0, repeatIndex: 0 }])).toEqual([file]);
});

it.each([
  ['straße', 'STRASSE', 'STRASSE-2'],
  ['s', 'ſ', 'ſ-2'],
  ['Σ', 'ς', 'ς-2'],
])('%s and %s are two files also where case does not count', (first, second, file) => {
  const tasks = [first, second].map((name, inputIndex) => ({
    taskId: `b-0000${inputIndex}`,
    name,
    inputIndex,
    repeatIndex: 0,
  }));
  expect(fileNames(tasks)).toEqual([first, file]);
});

it('files of equal names are those of the same tasks in whatever order they come', () => {
  const tasks = [0, 1, 2].map((inputIndex) => ({
    taskId: `b-0000${inputIndex}`,
    name: 'design',
    inputIndex,
    repeatIndex: 0,
  }));
  expect(fileNames(tasks)).toEqual(['design', 'design-2', 'design-3']);
  expect(fileNames(tasks.toReversed())).toEqual(['design-3', 'design-2', 'design']);
});
