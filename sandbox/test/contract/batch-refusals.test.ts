// The Batch API's refusals, row by row of the spec's error table. They cost nothing,
// of the sandbox and of the service.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type BatchAnswer, hasToken, isOurs, openTarget, type Target } from './target.ts';

let target: Target;
beforeAll(async () => {
  target = await openTarget();
});
afterAll(() => target.close());

const item = (more: Record<string, unknown> = {}) => ({
  model: target.names.model,
  all_atom_input: { sequences: [{ type: 'protein', id: 'A', sequence: 'MQIFVKTLTGK' }] },
  ...more,
});
const submit = (body: Record<string, unknown>): Promise<BatchAnswer> =>
  target.batch('submit', { endpoint: 'fold_max_accuracy', payload: [item()], ...body });

/** BatchError: status, message, request_id. */
function expectBatchError({ status, body }: BatchAnswer, wanted: number): void {
  expect(status).toBe(wanted);
  expect(body).toMatchObject({
    status: 'error',
    message: expect.any(String),
    request_id: expect.any(String),
  });
  expect(body.message).not.toBe('');
}

test.each([
  'submit',
  'list',
  'status',
  'cancel',
])('%s without a valid bearer token is refused with a text', async (operation) => {
  const { status, body } = await target.batch(operation, {}, { authorization: '' });
  expect([401, 403]).toContain(status);
  expect([typeof body.error, typeof body.message]).toContain('string');
});

describe.skipIf(!hasToken)('400 of Submit', () => {
  test('invalid envelope', async () => {
    expectBatchError(await target.batch('submit', {}), 400);
    expectBatchError(await target.batch('submit', []), 400);
    expectBatchError(await target.batch('submit', '{"endpoint":'), 400);
  });
  test('invalid endpoint', async () => {
    expectBatchError(await submit({ endpoint: 'fold_fast' }), 400);
    expectBatchError(await submit({ endpoint: undefined }), 400);
  });
  test('invalid model', async () => {
    expectBatchError(await submit({ payload: [item({ model: 'another-model' })] }), 400);
    expectBatchError(await submit({ payload: [item({ model: undefined })] }), 400);
  });
  test('invalid item count: no item, 2001 items, repeat 0 and 2001, a product over 2000', async () => {
    expectBatchError(await submit({ payload: [] }), 400);
    expectBatchError(await submit({ payload: Array(2001).fill(item()) }), 400);
    expectBatchError(await submit({ repeat: 0 }), 400);
    expectBatchError(await submit({ repeat: 2001 }), 400);
    expectBatchError(await submit({ payload: [item(), item()], repeat: 1001 }), 400);
  });
  test('an item without its input, or with an input of no known type', async () => {
    expectBatchError(await submit({ payload: [item({ all_atom_input: undefined })] }), 400);
    expectBatchError(
      await submit({ payload: [item({ all_atom_input: { sequences: [{ type: 'lipid' }] } })] }),
      400,
    );
  });
  test('a caller-supplied alignment', async () => {
    const sequences = [{ type: 'protein', sequence: 'MQIFVK', msa: '>a\nMQIFVK' }];
    const answer = await submit({ payload: [item({ all_atom_input: { sequences } })] });
    expectBatchError(answer, 400);
    expect(answer.body.message).toContain('alignments are unsupported');
  });
});

describe.skipIf(!hasToken)('unknown and ambiguous ids', () => {
  test('404 of List: batch not found', async () => {
    expectBatchError(await target.batch('list', { batch_id: '00000000-0000-4000-8000-000000000000' }), 404);
  });
  test('404 of Status: unknown task', async () => {
    expectBatchError(
      await target.batch('status', { task_id: '00000000-0000-4000-8000-000000000000-00000' }),
      404,
    );
  });
  test('Cancel accepts exactly one of task_id and batch_id', async () => {
    expectBatchError(await target.batch('cancel', {}), 400);
    expectBatchError(await target.batch('cancel', { task_id: 'a', batch_id: 'b' }), 400);
  });
});

describe.skipIf(!isOurs)('refusals that only a sandbox can be told to give', () => {
  const withToken = (token: string) =>
    target.batch(
      'submit',
      { endpoint: 'fold_max_accuracy', payload: [item()] },
      { authorization: `Bearer ${token}` },
    );

  test('422 of Submit: no supported model rate-limit configuration', async () => {
    expectBatchError(await withToken('sandbox-unconfigured'), 422);
  });
  test('429 of Submit: rate limit and credits, with Retry-After', async () => {
    for (const token of ['sandbox-rate-limited', 'sandbox-no-credits']) {
      const answer = await withToken(token);
      expectBatchError(answer, 429);
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    }
  });
  test('500 of Submit: it failed, and some items are queued', async () => {
    await target.control('faults', { operation: 'submit', break_off_after: 1 });
    expectBatchError(await submit({ repeat: 3 }), 500);
  });
});
