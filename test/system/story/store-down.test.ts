// The store that replicas share goes away for a while. What an operator sees: /ready says 503 and
// why, queries, files and streams go on, submissions with a key are refused before anything is
// sent, and all of it comes back by itself with the store.
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type Sandbox, startSandbox } from '../../../sandbox/src/sandbox.ts';
import type { Gateway } from '../../../src/gateway.ts';
import { NO_REDIS, openRedisPlace, type RedisPlace } from '../../store/redis-place.ts';
import { answersOf, subscribe, TOKEN } from '../../subscriptions/streams.ts';
import { ask, get, openGateway, until } from '../../subscriptions/support.ts';
import { at } from '../../support.ts';
import { openLiar, openPlace } from '../../upstream/liar.ts';
import { batchIds, queuedBatches, submitOnce } from '../server-process.ts';

const HASH = '12e9c9e4e2835c302e8ba615115edda3';

let sandbox: Sandbox;
let place: RedisPlace;
let gateway: Gateway;

const asker = {
  ask: (query: string, variables: Record<string, unknown> = {}) => ask(gateway, query, variables, TOKEN),
};
const ready = async (): Promise<{ status: number; body: unknown }> => {
  const answer = await get(gateway, 'http://gateway.test/ready');
  return { status: answer.status, body: await answer.json() };
};

describe.skipIf(NO_REDIS)('the store goes away and comes back', () => {
  beforeAll(async () => {
    place = await openRedisPlace();
    sandbox = await startSandbox({ size: 'small', control: true });
    gateway = openGateway(
      sandbox.url,
      { STORE_URL: place.url, GATEWAY_SECRET: 'a secret that replicas share' },
      { first: 100, slowest: 200 },
    );
    await gateway.ready();
  });
  afterAll(async () => {
    await gateway.close();
    await sandbox.close();
    await place.remove();
  });

  it('makes only a caller wait that could pay twice', async () => {
    const first = await submitOnce(asker, 'before');
    await fetch(`${sandbox.url}/control/queue`, { method: 'POST', body: JSON.stringify({ hold: true }) });
    const held = await submitOnce(asker, 'watched');
    const stream = answersOf(
      await subscribe(
        (request) => gateway.fetch(request),
        'subscription($id: ID!) { batchProgress(batchId: $id) { final } }',
        { id: held.batchId },
      ),
    );
    await stream.next();
    expect(await ready()).toMatchObject({ status: 200, body: { state: 'ready' } });

    onTestFinished(() => place.start());
    await place.kill();
    await until('it to be missed', async () => (await ready()).status === 503);
    expect((await ready()).body).toMatchObject({
      state: 'unready',
      checks: [{ name: 'store', ok: false, reason: 'does not answer; the log says why' }, {}],
    });
    const { data, errors } = await ask(gateway, `{ protein(hash: "${HASH}") { length cluster { size } } }`);
    expect(errors).toBeUndefined();
    expect(at(data, 'protein.length')).toBe(110);
    for (const path of [`thumbnails/${HASH}/plddt.png`, `structures/${HASH}.cif`, 'health'])
      expect((await get(gateway, `http://gateway.test/${path}`)).status).toBe(200);
    const before = await queuedBatches(sandbox.url);
    expect(await submitOnce(asker, 'meanwhile')).toMatchObject({ kind: 'Refused', reason: 'UNREACHABLE' });
    expect(await queuedBatches(sandbox.url)).toEqual(before);
    // A field that only the store knows has an error that is worth another try, and is no fault of
    // the gateway.
    const asked = await asker.ask(
      `{ myBatches { totalCount } protein(hash: "${HASH}") { length } batch(batchId: "${held.batchId}") { label counts { total } } }`,
    );
    expect(asked.data).toEqual({
      myBatches: null,
      protein: { length: 110 },
      batch: { label: null, counts: { total: 1 } },
    });
    for (const path of [['myBatches'], ['batch', 'label']])
      expect(asked.errors).toContainEqual(
        expect.objectContaining({
          path,
          extensions: { code: 'UPSTREAM_UNAVAILABLE', retryable: true, retryAfterSeconds: 5 },
        }),
      );
    // A watched batch is polled without the store, and its end is told.
    await fetch(`${sandbox.url}/control/queue`, { method: 'POST', body: JSON.stringify({ hold: false }) });
    let final: unknown;
    for await (const answer of stream) final = at(answer.data, 'batchProgress.final');
    expect(final).toBe(true);

    await place.start();
    await until('it to be found again', async () => (await ready()).status === 200);
    let ending = await submitOnce(asker, 'meanwhile');
    await until('submissions to be taken', async () => {
      if (ending.kind !== 'FoldSubmitted') ending = await submitOnce(asker, 'meanwhile');
      return ending.kind === 'FoldSubmitted';
    });
    expect(ending.replayed).toBe(false);
    const known = await batchIds(asker);
    for (const { batchId } of [first, held, ending]) expect(known).toContain(batchId);
  });
});

describe('a store that cannot be reached', () => {
  it('does not hide that a task was cancelled', async () => {
    const liar = await openLiar();
    const env = { STORE_URL: 'redis://127.0.0.1:1', GATEWAY_SECRET: 'a secret that replicas share' };
    const lone = openPlace(liar.url, env);
    expect(
      await lone.query(
        'mutation { cancelTask(taskId: "b1-00000") { __typename ... on Cancelled { cancelledCount } } }',
      ),
    ).toEqual({ data: { cancelTask: { __typename: 'Cancelled', cancelledCount: 1 } } });
    expect(liar.seen.filter(({ operation }) => operation === 'cancel')).toHaveLength(1);
    await lone.gateway.close();
    await liar.close();
  });
});
