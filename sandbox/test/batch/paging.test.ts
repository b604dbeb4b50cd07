// List's pages: limits, cursor, filter, the extra empty page, and what is told without responses.
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Sandbox } from '../../src/sandbox.ts';
import { batch, type client, fold, type Json, readItems, readText, startHeld } from './harness.ts';

let sandbox: Sandbox;
let call: ReturnType<typeof client>;
let id: string;
const TOTAL = 230;

beforeAll(async () => {
  const held = await startHeld({ dialect: 'rich' });
  ({ sandbox, call } = held);
  id = readText((await call('submit', batch([fold()], { repeat: TOTAL }))).data, 'batch_id');
  held.clock.advance(1500);
});
afterAll(() => sandbox.close());

/** Follows the cursor to its end. */
async function pages(request: Json): Promise<string[][]> {
  const read: string[][] = [];
  for (let cursor: unknown; cursor !== null; ) {
    const answer = await call('list', {
      batch_id: id,
      include_responses: true,
      ...request,
      ...(cursor ? { cursor } : {}),
    });
    expect(answer.status).toBe(200);
    expect(answer.data.counts).toEqual({ in_progress: 4, queued: TOTAL - 4 });
    read.push(readItems(answer).map((item) => readText(item, 'task_id')));
    ({ cursor } = answer.data);
  }
  return read;
}

const everyId = (): string[] =>
  Array.from({ length: TOTAL }, (_, n) => `${id}-${String(n).padStart(5, '0')}`);

test('100 items a page by default, in order, until the cursor is null', async () => {
  const read = await pages({});
  expect(read.map((page) => page.length)).toEqual([100, 100, 30]);
  expect(read.flat()).toEqual(everyId());
});

test('a full last page is followed by an empty one', async () => {
  expect((await pages({ limit: 115 })).map((page) => page.length)).toEqual([115, 115, 0]);
  expect((await pages({ limit: 230 })).map((page) => page.length)).toEqual([230, 0]);
  expect((await pages({ limit: 1000 })).map((page) => page.length)).toEqual([230]);
});

test('gives every item once and in order, whatever the limit', async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 5, max: 400 }), async (limit) => {
      expect((await pages({ limit })).flat()).toEqual(everyId());
    }),
    { numRuns: 25 },
  );
});

test('the status filter narrows the items and not the counts', async () => {
  expect((await pages({ status: 'in_progress' })).flat()).toEqual(everyId().slice(0, 4));
  expect((await pages({ status: 'in_progress', limit: 2 })).map((page) => page.length)).toEqual([2, 2, 0]);
  expect((await pages({ status: 'queued', limit: 1000 })).flat()).toEqual(everyId().slice(4));
  expect(await pages({ status: 'failed' })).toEqual([[]]);
});

test('gives no items and no cursor where no responses are asked for, whatever the page', async () => {
  for (const more of [{}, { include_responses: false }, { limit: 10 }, { status: 'queued' }]) {
    const { data } = await call('list', { batch_id: id, ...more });
    expect(data).toMatchObject({ batch_id: id, status: 'in_progress', items: [], cursor: null });
  }
});

test('a cursor is good for its own listing only', async () => {
  const { data } = await call('list', { batch_id: id, include_responses: true, limit: 3 });
  const other = readText((await call('submit', batch([fold(), fold()]))).data, 'batch_id');
  for (const request of [
    { batch_id: id, status: 'queued', cursor: data.cursor },
    { batch_id: other, cursor: data.cursor },
    { batch_id: id, cursor: `${readText(data, 'cursor')}x` },
    { batch_id: id, cursor: 'x' },
  ]) {
    const answer = await call('list', { include_responses: true, ...request });
    expect([answer.status, answer.body.message]).toEqual([400, expect.stringContaining('cursor')]);
  }
});
