// The life of a batch, told by the clock: each defined state and transition of the spec.
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ManualClock } from '../../src/clock.ts';
import type { Sandbox } from '../../src/sandbox.ts';
import { batch, client, DAY, fold, HOUR, isJson, readItems, readText, startHeld } from './harness.ts';

let sandbox: Sandbox;
let clock: ManualClock;
let call: ReturnType<typeof client>;

beforeAll(async () => {
  ({ sandbox, clock, call } = await startHeld({ dialect: 'rich' }));
});
afterAll(() => sandbox.close());

const control = (path: string, body: unknown) =>
  fetch(`${sandbox.url}/control/${path}`, { method: 'POST', body: JSON.stringify(body) });

async function submitted(payload: unknown, more = {}): Promise<string> {
  return readText((await call('submit', batch(payload, more))).data, 'batch_id');
}

test('tasks wait, a limited number runs, all finish; counts leave out empty states', async () => {
  const id = await submitted([fold(), fold('MKTAYIAKQR')], { repeat: 3 });
  expect((await call('list', { batch_id: id })).data).toMatchObject({
    status: 'in_progress',
    counts: { queued: 6 },
  });
  clock.advance(1500);
  expect((await call('list', { batch_id: id })).data.counts).toEqual({ in_progress: 4, queued: 2 });
  clock.advance(2700);
  expect((await call('list', { batch_id: id })).data.counts).toEqual({ done: 4, in_progress: 2 });
  clock.advance(2700);
  expect((await call('list', { batch_id: id })).data).toMatchObject({ status: 'done', counts: { done: 6 } });
});

test('repeat comes first in the order of tasks, then the position in the payload', async () => {
  const id = await submitted([fold('MKTAYIAKQR'), fold('GGGGGGGGGGGG')], { repeat: 2 });
  clock.advance(10_000);
  const lengths: number[] = [];
  for (let number = 0; number < 4; number++) {
    const { data } = await call('status', { task_id: `${id}-0000${number}` });
    const result: unknown = await (await fetch(readText(data, 'response'))).json();
    if (isJson(result) && Array.isArray(result.plddt)) lengths.push(result.plddt.length);
  }
  expect(lengths).toEqual([10, 12, 10, 12]);
});

test('a batch of one item names its task, and the name is not made of the batch id', async () => {
  const one = await call('submit', batch([fold()]));
  expect(one.data).toMatchObject({ total_items: 1, task_id: expect.any(String) });
  expect(one.data.task_id).not.toContain(readText(one.data, 'batch_id'));
  expect((await call('status', { task_id: one.data.task_id })).data.status).toBe('queued');
  const two = await call('submit', batch([fold()], { repeat: 2 }));
  expect(two.data).not.toHaveProperty('task_id');
});

test('a finished batch may hold failed tasks, and is done all the same', async () => {
  const ligand = { type: 'ligand', ccd: ['QQQQQ'] };
  const bad = { ...fold(), all_atom_input: { sequences: [ligand] } };
  const id = await submitted([fold(), bad]);
  clock.advance(20_000);
  const list = await call('list', { batch_id: id, include_responses: true });
  expect(list.data).toMatchObject({ status: 'done', counts: { done: 1, failed: 1 } });
  expect(readItems(list)).toEqual([
    { task_id: `${id}-00000`, status: 'done', response_available: true },
    {
      task_id: `${id}-00001`,
      status: 'failed',
      error: expect.objectContaining({ code: expect.any(String) }),
    },
  ]);
  const failed = await call('status', { task_id: `${id}-00001` });
  expect(failed.status).toBe(200);
  expect(failed.data).toMatchObject({ status: 'failed', error: { message: expect.any(String) } });
  expect(failed.data).not.toHaveProperty('response');
});

test('a task can fail with a plain sentence for its error', async () => {
  const id = await submitted([fold('A'.repeat(2049)), fold()]);
  clock.advance(30_000);
  expect((await call('status', { task_id: `${id}-00000` })).data).toMatchObject({
    status: 'failed',
    error: 'CUDA out of memory',
  });
});

test('cancelling a batch takes the queued tasks; running ones go on to their end in the cancelled batch', async () => {
  const id = await submitted([fold()], { repeat: 6 });
  clock.advance(1500);
  const cancelled = await call('cancel', { batch_id: id });
  expect(cancelled.status).toBe(200);
  expect(cancelled.data).toMatchObject({ batch_id: id, cancelled: 2 });
  expect((await call('list', { batch_id: id })).data).toMatchObject({
    status: 'cancelled',
    counts: { in_progress: 4, cancelled: 2 },
  });
  clock.advance(10_000);
  expect((await call('list', { batch_id: id })).data).toMatchObject({
    status: 'cancelled',
    counts: { done: 4, cancelled: 2 },
  });
  const again = await call('cancel', { batch_id: id });
  expect([again.status, again.data.cancelled]).toEqual([200, 0]);
});

test('a batch without cancellable work is 409, running or finished', async () => {
  const id = await submitted([fold(), fold()]);
  clock.advance(1500);
  const running = await call('cancel', { batch_id: id });
  expect(running.status).toBe(409);
  expect(running.body).toMatchObject({
    status: 'error',
    message: expect.stringContaining('no cancellable work'),
  });
  clock.advance(10_000);
  expect((await call('cancel', { batch_id: id })).status).toBe(409);
  expect((await call('list', { batch_id: id })).data.status).toBe('done');
});

test('a single task is cancelled while it is queued and not later; the rest of its batch ends as done', async () => {
  const id = await submitted([fold()], { repeat: 5 });
  clock.advance(1500);
  const task = { task_id: `${id}-00004` };
  expect((await call('cancel', task)).data).toMatchObject({ task_id: task.task_id, cancelled: 1 });
  expect((await call('cancel', task)).data).toMatchObject({ cancelled: 0 });
  expect((await call('cancel', { task_id: `${id}-00000` })).status).toBe(409);
  clock.advance(10_000);
  expect((await call('list', { batch_id: id })).data).toMatchObject({
    status: 'done',
    counts: { done: 4, cancelled: 1 },
  });
  expect((await call('status', task)).data).toMatchObject({ status: 'cancelled' });
});

test('a batch whose every task was cancelled singly is cancelled', async () => {
  const id = await submitted([fold(), fold()]);
  for (const number of [0, 1]) await call('cancel', { task_id: `${id}-0000${number}` });
  expect((await call('list', { batch_id: id })).data.status).toBe('cancelled');
  expect((await call('cancel', { batch_id: id })).data.cancelled).toBe(0);
});

test('cancels to the millisecond what has not started after 24 hours; what has started goes on', async () => {
  const started = await submitted([fold()], { repeat: 2 });
  clock.advance(1500);
  await control('queue', { hold: true });
  const held = await submitted([fold()], { repeat: 3 });
  const { data } = await call('list', { batch_id: held });
  expect(Date.parse(readText(data, 'expires_at'))).toBe(clock.now() + DAY);
  clock.advance(DAY - 1);
  expect((await call('list', { batch_id: held })).data.counts).toEqual({ queued: 3 });
  clock.advance(1);
  expect((await call('list', { batch_id: held })).data).toMatchObject({
    status: 'cancelled',
    counts: { cancelled: 3 },
  });
  expect((await call('list', { batch_id: started })).data.status).toBe('done');
  await control('queue', { hold: false });
  clock.advance(HOUR);
  expect((await call('list', { batch_id: held })).data.counts).toEqual({ cancelled: 3 });
});

test('results are readable for 31 days; then Status is 410 and List has bare statuses', async () => {
  const id = await submitted([fold(), fold('A'.repeat(2049))]);
  const submittedAt = clock.now();
  clock.advance(31 * DAY - 1);
  const last = await call('status', { task_id: `${id}-00000` });
  expect(last.data.status).toBe('done');
  expect(last.data.artifacts_expire_in).toBe(1);
  clock.advance(1);
  const gone = await call('status', { task_id: `${id}-00000` });
  expect(gone.status).toBe(410);
  expect(gone.body).toMatchObject({
    status: 'error',
    message: expect.any(String),
    request_id: expect.any(String),
    results_expire_at: new Date(submittedAt + 31 * DAY).toISOString(),
  });
  expect(readItems(await call('list', { batch_id: id, include_responses: true }))).toEqual([
    { task_id: `${id}-00000`, status: 'done' },
    { task_id: `${id}-00001`, status: 'failed' },
  ]);
  expect((await fetch(readText(last.data, 'response'))).status).toBe(410);
});

test('batches belong to the token that submitted them', async () => {
  const id = await submitted([fold(), fold()]);
  const stranger = client(sandbox.url, 'another-token');
  expect((await stranger('list', { batch_id: id })).status).toBe(404);
  expect((await stranger('status', { task_id: `${id}-00000` })).status).toBe(404);
  expect((await stranger('cancel', { batch_id: id })).status).toBe(404);
  expect((await stranger('cancel', { task_id: `${id}-00000` })).status).toBe(404);
  expect((await call('list', { batch_id: id })).data.counts).toEqual({ queued: 2 });
});

test('a batch id is no task id, and the message says where to turn', async () => {
  const one = await call('submit', batch([fold()]));
  const answer = await call('status', { task_id: one.data.batch_id });
  expect(answer.status).toBe(404);
  expect(answer.body.message).toContain('List');
  const unknown = await call('list', { batch_id: 'nothing' });
  expect(unknown.status).toBe(404);
  expect(unknown.body.message).toContain('not found');
});

test('batches share the queue: a small one does not wait for the end of a large one', async () => {
  const large = await submitted([fold()], { repeat: 400 });
  clock.advance(1500);
  const small = await submitted([fold()], { repeat: 2 });
  clock.advance(12_000);
  expect((await call('list', { batch_id: small })).data.status).toBe('done');
  expect((await call('list', { batch_id: large })).data.status).toBe('in_progress');
  await call('cancel', { batch_id: large });
  clock.advance(10_000);
});

test('a task that runs over the 24-hour limit stays in progress and ends as done', async () => {
  const slow = await startHeld({ speed: 5e-5, dialect: 'rich' });
  const id = readText((await slow.call('submit', batch([fold()], { repeat: 12 }))).data, 'batch_id');
  slow.clock.advance(DAY - 1);
  expect((await slow.call('list', { batch_id: id })).data).toMatchObject({
    status: 'in_progress',
    counts: { done: 4, in_progress: 4, queued: 4 },
  });
  slow.clock.advance(1);
  expect((await slow.call('list', { batch_id: id })).data).toMatchObject({
    status: 'cancelled',
    counts: { done: 4, in_progress: 4, cancelled: 4 },
  });
  slow.clock.advance(DAY);
  expect((await slow.call('list', { batch_id: id })).data).toMatchObject({
    status: 'cancelled',
    counts: { done: 8, cancelled: 4 },
  });
  await slow.sandbox.close();
});

test('a look that waits for tasks which are due ends when the sandbox closes', async () => {
  const closing = await startHeld();
  const { data } = await closing.call('submit', batch([fold('MKTAYIAKQR'.repeat(100))], { repeat: 4 }));
  closing.clock.advance(HOUR);
  const look = closing.call('list', { batch_id: data.batch_id }).then(
    () => 'ended',
    () => 'ended',
  );
  // It is answered while the look waits.
  await closing.call('list', { batch_id: 'nothing' });
  await closing.sandbox.close();
  expect(await look).toBe('ended');
});
