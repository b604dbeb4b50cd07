// A service that has changed: the error names operation, JSON path, what was expected and what was
// seen, and a metric counts it.
import { expect, it } from 'vitest';
import { openLyingPlace, says } from './liar.ts';

const { liar, place } = await openLyingPlace();

const TASK = '{ task(taskId: "b1-00000") { status } }';
const BATCH = '{ batch(batchId: "b1") { tasks { nodes { taskId } } } }';

const drifts = async (): Promise<string[]> =>
  (await place.gateway.metrics.text())
    .split('\n')
    .filter((line) => line.startsWith('foldatlas_upstream_drifts_total{'));

it('is named in the error and counted by operation and path', async () => {
  liar.script('status', says(200, { data: { status: 5 } }));
  const { errors } = await place.query(TASK);
  expect(errors).toMatchObject([
    {
      message: expect.stringMatching(
        /answer to status has changed at \$\.status: .*expected string, received number/,
      ),
      extensions: {
        code: 'UPSTREAM_DRIFT',
        upstream: { operation: 'status', path: '$.status' },
      },
    },
  ]);
  await place.query(TASK);
  expect(await drifts()).toEqual(['foldatlas_upstream_drifts_total{operation="status",path="$.status"} 2']);
});

it('is counted at one path for all members of a list', async () => {
  const page = (item: object) =>
    says(200, { data: { status: 'done', counts: { done: 1 }, items: [{ ...item }] } });
  for (const item of [{ task_id: 5 }, { task_id: 5, status: 'done' }]) {
    liar.script('list', page(item));
    await place.query(BATCH);
  }
  expect((await drifts()).filter((line) => line.includes('"list"'))).toEqual([
    'foldatlas_upstream_drifts_total{operation="list",path="$.items[].task_id"} 2',
  ]);
});

it('makes few series, whatever keys the service sends', async () => {
  for (let key = 0; key < 250; key += 1) {
    liar.script('list', says(200, { data: { status: 'done', counts: { [`state-${key}`]: -1 } } }));
    await place.query('{ batch(batchId: "b1") { status } }');
  }
  const all = await drifts();
  expect(all.length).toBeLessThan(210);
  expect(all.join('\n')).toContain('path="other"} 5');
});
