// The control routes: faults of every kind, used up as often as was asked; absent unless asked for.
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { type Sandbox, startSandbox } from '../../src/sandbox.ts';
import { batch, type client, DAY, fold, isJson, readText, startHeld } from './harness.ts';

let sandbox: Sandbox;
let call: ReturnType<typeof client>;

beforeAll(async () => {
  ({ sandbox, call } = await startHeld());
});
afterAll(() => sandbox.close());
afterEach(() => fetch(`${sandbox.url}/control/faults`, { method: 'DELETE' }));

const control = (path: string, body: unknown) =>
  fetch(`${sandbox.url}/control/${path}`, { method: 'POST', body: JSON.stringify(body) });
const fault = (rule: Record<string, unknown>) => control('faults', rule);
const list = () => call('list', { batch_id: 'unknown' });

test('a status with headers and body replaces the operation, as often as asked', async () => {
  const headers = { 'retry-after': '7' };
  await fault({ operation: 'list', status: 503, headers, body: { message: 'overloaded' }, times: 2 });
  for (let time = 0; time < 2; time++) {
    const answer = await list();
    expect([answer.status, answer.body, answer.headers.get('retry-after')]).toEqual([
      503,
      { message: 'overloaded' },
      '7',
    ]);
    expect(answer.headers.get('x-sandbox')).toBe('1');
  }
  expect((await list()).status).toBe(404);
});

test('a fault of Submit by status queues nothing', async () => {
  await control('reset', {});
  await fault({ operation: 'submit', status: 500, body: { message: 'no' } });
  expect((await call('submit', batch([fold()]))).status).toBe(500);
  const state: unknown = await (await fetch(`${sandbox.url}/control`)).json();
  expect(state).toMatchObject({ batches: [], faults: [] });
});

test('text bodies and empty bodies are sent as they are', async () => {
  await fault({ operation: '*', status: 502, body: '<html>Bad gateway</html>' });
  const text = await fetch(`${sandbox.url}/api/v1/batch/list`, { method: 'POST' });
  expect([text.status, text.headers.get('content-type'), await text.text()]).toEqual([
    502,
    'text/plain; charset=utf-8',
    '<html>Bad gateway</html>',
  ]);
  await fault({ operation: '*', status: 504 });
  const empty = await fetch(`${sandbox.url}/api/v1/batch/list`, { method: 'POST' });
  expect([empty.status, await empty.text()]).toEqual([504, '']);
});

test('a delay is waited for, then the operation runs', async () => {
  await fault({ operation: 'list', delay_ms: 120 });
  const start = performance.now();
  expect((await list()).status).toBe(404);
  expect(performance.now() - start).toBeGreaterThan(110);
});

test('a reset, a truncated body, garbage and a drip', async () => {
  await fault({ operation: 'list', spoil: 'reset' });
  await expect(list()).rejects.toThrow('fetch failed');
  await fault({ operation: 'list', spoil: 'truncate' });
  await expect(list()).rejects.toThrow(/terminated|closed/);
  await fault({ operation: 'list', spoil: 'garbage' });
  await expect(list()).rejects.toThrow(SyntaxError);
  await fault({ operation: 'list', spoil: 'drip', drip_bytes: 20, drip_ms: 10 });
  const start = performance.now();
  expect((await list()).body.message).toContain('not found');
  expect(performance.now() - start).toBeGreaterThan(50);
  expect((await list()).status).toBe(404);
});

test('a spoilt answer of one operation leaves the others alone; downloads have faults of their own', async () => {
  const { data } = await call('submit', batch([fold()]));
  await control('clock', { advance_ms: 60_000 });
  const url = readText((await call('status', { task_id: data.task_id })).data, 'response');
  await fault({ operation: 'download', status: 403 });
  expect((await list()).status).toBe(404);
  expect((await fetch(url)).status).toBe(403);
  expect((await fetch(url)).status).toBe(200);
});

test('the manual clock is advanced over HTTP, so that a client can see a result expire', async () => {
  const { data } = await call('submit', batch([fold()]));
  const advanced = await control('clock', { advance_ms: 31 * DAY });
  expect(await advanced.json()).toEqual({ now: new Date(sandbox.clock.now()).toISOString() });
  expect((await call('status', { task_id: data.task_id })).status).toBe(410);
});

test('a bad control body is refused with its path', async () => {
  for (const [path, body, text] of [
    ['faults', {}, 'operation: is required'],
    ['faults', { operation: 'list', spoil: 'melt' }, 'spoil: must be one of'],
    ['faults', { operation: 'list', break_off_after: 1 }, 'belongs to operation "submit"'],
    ['clock', { advance_ms: -1 }, 'advance_ms: must be at least 0'],
    ['queue', {}, 'hold: is required'],
  ] as const) {
    const response = await control(path, body);
    const answer: unknown = await response.json();
    expect([response.status, isJson(answer) && answer.message]).toEqual([400, expect.stringContaining(text)]);
  }
});

test('has no control routes unless they are asked for, and advances no running clock', async () => {
  const plain = await startSandbox({ size: 'small' });
  for (const path of ['', '/faults', '/reset'])
    expect((await fetch(`${plain.url}/control${path}`, { method: 'POST', body: '{}' })).status).toBe(404);
  await plain.close();
  const running = await startSandbox({ size: 'small', control: true });
  const response = await fetch(`${running.url}/control/clock`, { method: 'POST', body: '{"advance_ms":1}' });
  expect(response.status).toBe(409);
  await running.close();
});

test('an observer sees each request with its operation, headers and body before it is answered', async () => {
  const seen: unknown[] = [];
  const watched = await startHeld({
    onRequest: ({ operation, method, path, body }) => seen.push([operation, method, path, body]),
  });
  await watched.call('list', { batch_id: 'x' });
  await watched.call('submit', 'no json');
  await fetch(`${watched.url}/downloads/results/x.json?y=1`);
  await fetch(`${watched.url}/control`);
  await fetch(`${watched.url}/nothing`);
  await watched.sandbox.close();
  expect(seen).toEqual([
    ['list', 'POST', '/api/v1/batch/list', '{"batch_id":"x"}'],
    ['submit', 'POST', '/api/v1/batch/submit', 'no json'],
    ['download', 'GET', '/downloads/results/x.json?y=1', ''],
    ['control', 'GET', '/control', ''],
  ]);
});
