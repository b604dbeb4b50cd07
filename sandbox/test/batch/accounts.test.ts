// Rate limit and credits, per token, with Retry-After; the tokens with a fixed fate; Submit that
// breaks off.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { fault } from '../../../test/subscriptions/support.ts';
import type { ManualClock } from '../../src/clock.ts';
import type { Sandbox } from '../../src/sandbox.ts';
import { batch, client, DAY, fold, input, isJson, MINUTE, readText, startHeld } from './harness.ts';

let sandbox: Sandbox;
let clock: ManualClock;

beforeAll(async () => {
  ({ sandbox, clock } = await startHeld({ limits: { submissionsPerMinute: 3, creditsPerDay: 1000 } }));
});
afterAll(() => sandbox.close());
beforeEach(async () => {
  await fetch(`${sandbox.url}/control/reset`, { method: 'POST' });
});

test('the fourth submission within a minute is 429, and passes after the seconds that were named', async () => {
  const call = client(sandbox.url);
  for (const wait of [0, 10_000, 10_000]) {
    clock.advance(wait);
    expect((await call('submit', batch([fold('MK')]))).status).toBe(200);
  }
  const refused = await call('submit', batch([fold('MK')]));
  expect(refused.status).toBe(429);
  expect(refused.body).toMatchObject({
    status: 'error',
    message: expect.stringContaining('Rate limit exceeded'),
  });
  expect(refused.headers.get('retry-after')).toBe('40');
  expect((await client(sandbox.url, 'somebody-else')('submit', batch([fold('MK')]))).status).toBe(200);
  clock.advance(40_000);
  expect((await call('submit', batch([fold('MK')]))).status).toBe(200);
  expect((await call('submit', batch([fold('MK')]))).status).toBe(429);
});

test('every copy and every repeat costs its residues; beyond the day it is 429 until midnight UTC', async () => {
  const call = client(sandbox.url);
  const two = { type: 'protein', id: ['A', 'B'], sequence: 'A'.repeat(100) };
  expect((await call('submit', batch([input({ sequences: [two] })], { repeat: 4 }))).status).toBe(200);
  const refused = await call('submit', batch([input({ sequences: [two] })], { repeat: 2 }));
  expect(refused.status).toBe(429);
  expect(refused.body.message).toContain(
    'exceeded your daily credit limit: this batch needs 400 credits and 200 are left',
  );
  const seconds = Number(refused.headers.get('retry-after'));
  expect((clock.now() + seconds * 1000) % DAY).toBe(0);
  expect((await call('submit', batch([input({ sequences: [two] })]))).status).toBe(200);
  clock.advance(seconds * 1000);
  expect((await call('submit', batch([input({ sequences: [two] })], { repeat: 2 }))).status).toBe(200);
});

test('tasks cancelled before they start are never charged, failed and running ones are', async () => {
  const call = client(sandbox.url);
  const { data } = await call('submit', batch([fold('A'.repeat(100))], { repeat: 10 }));
  expect((await call('submit', batch([fold('M')]))).status).toBe(429);
  clock.advance(1500);
  await call('cancel', { batch_id: data.batch_id });
  expect((await call('submit', batch([fold('A'.repeat(100))], { repeat: 7 }))).status).toBe(429);
  expect((await call('submit', batch([fold('A'.repeat(100))], { repeat: 6 }))).status).toBe(200);
});

test('a refused submission counts for nothing', async () => {
  const call = client(sandbox.url);
  for (let times = 0; times < 10; times++) await call('submit', batch([fold('1')]));
  expect((await call('submit', batch([fold('MK')]))).status).toBe(200);
});

test('tokens with a fixed fate meet it, and only at Submit', async () => {
  for (const [token, status, text] of [
    ['sandbox-forbidden', 403, 'not allowed for this key'],
    ['sandbox-unconfigured', 422, 'No supported model rate-limit configuration'],
    ['sandbox-rate-limited', 429, 'Rate limit exceeded'],
    ['sandbox-no-credits', 429, 'exceeded your daily credit limit'],
  ] as const) {
    const call = client(sandbox.url, token);
    const answer = await call('submit', batch([fold('MK')]));
    expect([answer.status, answer.body.message]).toEqual([status, expect.stringContaining(text)]);
    if (status === 429) expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await call('submit', batch([fold('1')]))).status).toBe(400);
    expect((await call('list', { batch_id: 'x' })).status).toBe(404);
  }
  expect((await client(sandbox.url, 'sandbox-revoked')('list', { batch_id: 'x' })).status).toBe(401);
});

test('Submit can break off with a 500 after some items were queued; those run, and the batch ends as failed', async () => {
  const call = client(sandbox.url);
  await fault(sandbox.url, { operation: 'submit', break_off_after: 2 });
  const broken = await call('submit', batch([fold('MK')], { repeat: 5 }));
  expect(broken.status).toBe(500);
  expect(broken.body).toMatchObject({
    status: 'error',
    message: expect.stringContaining('may already have been queued'),
  });
  const state: unknown = await (await fetch(`${sandbox.url}/control`)).json();
  const [left] = isJson(state) && Array.isArray(state.batches) ? state.batches.filter(isJson) : [];
  expect(left).toMatchObject({ broken_off: true, counts: { queued: 2 } });
  const id = readText(left ?? {}, 'batch_id');
  expect((await call('list', { batch_id: id })).data.status).toBe('in_progress');
  clock.advance(MINUTE);
  expect((await call('list', { batch_id: id })).data).toMatchObject({
    status: 'failed',
    counts: { done: 2 },
  });
  expect((await call('submit', batch([fold('MK')], { repeat: 5 }))).status).toBe(200);
});
