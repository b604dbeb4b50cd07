// The store of the gateway is away while results are there to be read. What is only in the store is
// an error of its own field; what the service says and what it stored can be read and downloaded.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { NO_REDIS, openRedisPlace, type RedisPlace } from '../store/redis-place.ts';
import { until } from '../subscriptions/support.ts';
import { at } from '../support.ts';
import { type Bench, openBench, protein, tiny } from './bench.ts';

const AWAY = { code: 'UPSTREAM_UNAVAILABLE', retryable: true, retryAfterSeconds: 5 };

describe.skipIf(NO_REDIS)('while the store is away', () => {
  let place: RedisPlace;
  let bench: Bench;
  const lines: string[] = [];
  /** Ids of a task of two, and of one that is alone in its batch. */
  let tasks: readonly string[];
  let batchId: string;
  beforeAll(async () => {
    place = await openRedisPlace();
    bench = await openBench(
      { STORE_URL: place.url, GATEWAY_SECRET: 'a secret that replicas share' },
      {},
      (line) => lines.push(line),
    );
    await bench.gateway.ready();
    batchId = await bench.submit({ items: tiny(2) });
    const single = await bench.submit({ items: [protein('MKSAYIAKQ', 'alone')] });
    await bench.pass(600_000);
    const { data } = await bench.ask(`{ batch(batchId: "${single}") { tasks { nodes { taskId } } } }`);
    tasks = [`${batchId}-00000`, String(at(data, 'batch.tasks.nodes.0.taskId'))];
    await place.kill();
  });
  afterAll(async () => {
    await bench.close();
    await place.remove();
  });

  it('tasks, their scores and their results can be read', async () => {
    for (const id of tasks) {
      const { data, errors } = await bench.ask(
        'query($id: ID!) { task(taskId: $id) { name index status scores { ptm } result { ptm plddt { mean } } } }',
        { id },
      );
      expect(at(data, 'task')).toMatchObject({
        ...{ name: null, index: null, status: 'DONE' },
        ...{ scores: { ptm: expect.any(Number) }, result: { plddt: { mean: expect.any(Number) } } },
      });
      expect(errors?.map(({ path, extensions }) => ({ path, extensions }))).toEqual([
        { path: ['task', 'index'], extensions: AWAY },
        { path: ['task', 'name'], extensions: AWAY },
      ]);
    }
  });

  it('files of a result can be downloaded; of a batch, whose names are needed, later', async () => {
    for (const id of tasks)
      for (const file of ['result.json', 'structure.cif']) {
        const answer = await bench.download(`tasks/${id}/${file}`);
        expect(answer.status).toBe(200);
        expect((await answer.text()).length).toBeGreaterThan(1000);
      }
    for (const file of ['scores.tsv', 'results.zip']) {
      const answer = await bench.download(`batches/${batchId}/${file}`);
      expect(answer.status).toBe(503);
      expect(answer.headers.get('retry-after')).toBe('5');
      expect(await answer.text()).toContain('Try again in a moment.');
    }
  });

  it('checkFold says all that it can find out, and what it cannot', async () => {
    const { data, errors } = await bench.ask(
      'query($input: SubmitFoldInput!) { checkFold(input: $input) { ok taskCount warnings { code } } }',
      { input: { items: tiny(3) } },
    );
    expect(errors).toBeUndefined();
    expect(data).toEqual({
      checkFold: { ok: true, taskCount: 3, warnings: [{ code: 'EARLIER_NOT_KNOWN' }] },
    });
  });
});

describe.skipIf(NO_REDIS)('a submission that is refused while the store is away', () => {
  let place: RedisPlace;
  let bench: Bench;
  let other: Bench;
  beforeAll(async () => {
    place = await openRedisPlace();
    const env = { STORE_URL: place.url, GATEWAY_SECRET: 'a secret that replicas share' };
    bench = await openBench(env);
    other = await openBench({ ...env, UPSTREAM_URL: bench.sandboxUrl });
    await Promise.all([bench.gateway.ready(), other.gateway.ready()]);
  });
  afterAll(async () => {
    await Promise.all([bench.close(), other.close()]);
    await place.remove();
  });

  it.each([
    ['the same gateway', () => bench],
    ['another gateway', () => other],
  ])('leaves its key free for %s once the store is back', async (name, gateway) => {
    const input = { items: tiny(1), idempotencyKey: `refused once, then asked of ${name}` };
    await bench.fault({ operation: 'submit', status: 402, delay_ms: 1_500, times: 1, body: {} });
    const { submit: before = 0 } = bench.counts();
    const refused = expect(bench.submit(input)).rejects.toThrow('Refused');
    await until('Submit to be on its way', () => (bench.counts().submit ?? 0) > before);
    await place.kill();
    await refused;
    await place.start();
    await until('the key to be free', () =>
      gateway()
        .submit(input)
        .then(
          () => true,
          () => false,
        ),
    );
  });
});
