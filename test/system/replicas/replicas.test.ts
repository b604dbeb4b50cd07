// Two gateways over one Redis and one upstream: what one of them does, the other knows; what both
// are asked for, is done once; and what becomes of it when the store goes away.
import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { ManualClock } from '../../../sandbox/src/clock.ts';
import { type Sandbox, startSandbox } from '../../../sandbox/src/sandbox.ts';
import type { Gateway } from '../../../src/gateway.ts';
import { INSULIN_A, protein } from '../../folding/bench.ts';
import { NO_REDIS, openRedisPlace, type RedisPlace } from '../../store/redis-place.ts';
import { answersOf, submit, subscribe, TOKEN } from '../../subscriptions/streams.ts';
import {
  ask,
  endedLookup,
  get,
  KNOWN,
  openGateway,
  readLookup,
  run,
  startLookup,
  unknownHash,
  until,
  usualPause,
} from '../../subscriptions/support.ts';
import { at, type SeenCall } from '../../support.ts';

const SUBMIT = `mutation($input: SubmitFoldInput!) { submitFold(input: $input) { __typename
  ... on FoldSubmitted { replayed warnings { code } batch { batchId } } ... on Problem { message hint } ... on Refused { reason retryable } } }`;
const WATCH =
  'subscription($id: ID!) { batchProgress(batchId: $id) { sequence final batch { counts { queued inProgress done } } } }';
const PACE = { first: 300, slowest: 600 };
const SECRET = 'one secret that all replicas share';

const clock = new ManualClock(Date.now());
const calls: (SeenCall & { readonly at: number })[] = [];
const count = (operation: string): number => calls.filter((call) => call.operation === operation).length;

let sandbox: Sandbox;
let place: RedisPlace;
let replicas: [Gateway, Gateway];

const open = (): Gateway =>
  openGateway(sandbox.url, { STORE_URL: `${place.url}/1`, GATEWAY_SECRET: SECRET }, PACE);

describe.skipIf(NO_REDIS)('replicas that share a Redis', () => {
  beforeAll(async () => {
    place = await openRedisPlace();
    sandbox = await startSandbox({
      size: 'small',
      clock,
      onRequest: (call) => calls.push({ ...call, at: Date.now() }),
    });
  });
  afterAll(async () => {
    await sandbox.close();
    await place.remove();
  });
  beforeEach(async () => {
    calls.length = 0;
    replicas = [open(), open()];
    await Promise.all(replicas.map((gateway) => gateway.ready()));
  });
  afterEach(() => Promise.all(replicas.map((gateway) => gateway.close())));

  const submitTo = async (gateway: Gateway, input: Record<string, unknown>): Promise<unknown> => {
    const { data, errors } = await ask(gateway, SUBMIT, { input }, TOKEN);
    expect(errors).toBeUndefined();
    return at(data, 'submitFold');
  };

  it('send racing submissions of one idempotency key once, and both know the batch', async () => {
    const input = {
      label: 'raced',
      items: [protein(INSULIN_A, 'the a chain')],
      idempotencyKey: randomUUID(),
    };
    const racing = Array.from({ length: 10 }, (_, i) =>
      submitTo(i % 2 === 0 ? replicas[0] : replicas[1], input),
    );
    const endings = await Promise.all(racing);
    expect(count('submit')).toBe(1);
    expect(endings.map((ending) => at(ending, '__typename'))).toEqual(endings.map(() => 'FoldSubmitted'));
    expect(endings.filter((ending) => at(ending, 'replayed') === false)).toHaveLength(1);
    expect(new Set(endings.map((ending) => at(ending, 'batch.batchId'))).size).toBe(1);
    const mine = await Promise.all(
      replicas.map(
        async (gateway) =>
          (
            await ask(
              gateway,
              '{ myBatches { nodes { batchId label tasks { nodes { name } } } } }',
              {},
              TOKEN,
            )
          ).data,
      ),
    );
    expect(mine[0]).toMatchObject({
      myBatches: { nodes: [{ label: 'raced', tasks: { nodes: [{ name: 'the a chain' }] } }] },
    });
    expect(mine[1]).toEqual(mine[0]);
    const kept = place.bytes();
    expect(kept).toContain('the a chain');
    expect(kept).not.toContain(INSULIN_A);
    expect(kept).not.toContain(TOKEN.authorization.replace('Bearer ', ''));
  });

  it('poll a batch once between them, agree on the sequence, and hear of a cancel through the other', async () => {
    const id = await submit(replicas[0], 4);
    const streams = await Promise.all(
      [...replicas, ...replicas].map(async (gateway) =>
        answersOf(await subscribe((request) => gateway.fetch(request), WATCH, { id })),
      ),
    );
    const next = () =>
      Promise.all(streams.map(async (answers) => at((await answers.next()).value?.data, 'batchProgress')));
    expect((await next()).map((event) => at(event, 'sequence'))).toEqual([1, 1, 1, 1]);
    calls.length = 0;
    await until('some polls', () => count('list') > 8);
    // Jitter leaves four fifths of an interval at least; polls of two pollers would come closer to
    // each other.
    const times = calls.filter(({ operation }) => operation === 'list').map(({ at }) => at);
    expect(usualPause(times)).toBeGreaterThan(PACE.first * 0.8);
    const cancel = 'mutation($id: ID!) { cancelBatch(batchId: $id) { __typename } }';
    expect((await ask(replicas[1], cancel, { id }, TOKEN)).data).toMatchObject({
      cancelBatch: { __typename: 'Cancelled' },
    });
    for (const event of await next()) expect(event).toMatchObject({ sequence: 2, final: true });
  });

  it('read, download and cancel look-ups that the other started', async () => {
    const [here, there] = replicas;
    const hashes = [...KNOWN, ...Array.from({ length: 150 - KNOWN.length }, (_, i) => unknownHash(i))];
    const start = () => startLookup(here, { hashes, structure: false, residueFeatures: false });
    const [first, second] = [at(await start(), 'lookupId'), at(await start(), 'lookupId')];
    await here.close();
    replicas = [open(), there];
    const cancel = 'mutation($id: ID!) { cancelBulkLookup(lookupId: $id) { ... on BulkLookup { state } } }';
    expect((await ask(there, cancel, { id: second })).data).toEqual({
      cancelBulkLookup: { state: 'CANCELLED' },
    });
    expect(at(await readLookup(replicas[0], second), 'state')).toBe('CANCELLED');
    const running = run(clock, 50);
    onTestFinished(running.stop);
    const ended = await endedLookup(there, first);
    expect(ended).toMatchObject({ state: 'COMPLETE', completedCount: hashes.length });
    expect((await get(replicas[0], at(ended, 'parts.0.url'))).status).toBe(200);
    expect(count('bulk')).toBe(2);
  });

  it('replay a key through another replica after the store was killed and came back', async () => {
    const input = { items: [protein(INSULIN_A)], idempotencyKey: randomUUID() };
    const first = await submitTo(replicas[0], input);
    onTestFinished(() => place.start());
    await place.kill();
    await place.start();
    await until('the store to be back', () =>
      replicas[1].ready().then(
        () => true,
        () => false,
      ),
    );
    expect(await submitTo(replicas[1], input)).toMatchObject({
      __typename: 'FoldSubmitted',
      replayed: true,
      batch: { batchId: at(first, 'batch.batchId') },
    });
    expect(count('submit')).toBe(1);
  });

  it('send nothing under a key that cannot be written down, whether the store is gone or stalls, and soon after can', async () => {
    const [gateway] = replicas;
    const refusal = { __typename: 'Refused', reason: 'UNREACHABLE', retryable: true };
    const input = () => ({ items: [protein(INSULIN_A)], idempotencyKey: randomUUID() });
    const stalled = input();
    onTestFinished(async () => {
      place.resume();
      await place.start();
    });
    place.stall();
    // While it stalls: it is not waited for.
    expect(await submitTo(gateway, stalled)).toMatchObject(refusal);
    place.resume();
    const gone = input();
    await place.kill();
    expect(await submitTo(gateway, gone)).toMatchObject(refusal);
    expect(count('submit')).toBe(0);
    // Without a key there is nothing that a store could prevent.
    expect(await submitTo(gateway, { items: [protein(INSULIN_A)] })).toMatchObject({
      __typename: 'FoldSubmitted',
      warnings: [{ code: 'NOT_REMEMBERED' }],
    });
    await place.start();
    calls.length = 0;
    for (const sending of [stalled, gone]) {
      await until(
        'the same to be accepted',
        async () => at(await submitTo(gateway, sending), '__typename') === 'FoldSubmitted',
      );
      // Each replica finds its own way back to the store.
      let other: unknown;
      await until('the other to be back', async () => {
        other = await submitTo(replicas[1], sending);
        return at(other, '__typename') !== 'Refused';
      });
      expect(other).toMatchObject({ replayed: true });
    }
    expect(count('submit')).toBe(2);
  });
});

describe.skipIf(NO_REDIS)('a gateway whose store cannot be reached', () => {
  it('says so before there is traffic', async () => {
    const away = await openRedisPlace();
    await away.remove();
    const gateway = openGateway('http://127.0.0.1:9', { STORE_URL: away.url, GATEWAY_SECRET: SECRET });
    await expect(gateway.ready()).rejects.toThrow(`The store ${away.url} failed: connect ECONNREFUSED`);
    await gateway.close();
  });
});
