// A store without memory left: nothing is sent that could be paid twice, what was paid is still
// written down, queries go on, and the gateway says how full it is. With a real Redis and a small
// maxmemory that evicts nothing.
import { createClient } from '@redis/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Sandbox, startSandbox } from '../../sandbox/src/sandbox.ts';
import { INSULIN_A, protein } from '../folding/bench.ts';
import { NO_REDIS, openRedisPlace, type RedisPlace } from '../store/redis-place.ts';
import { TOKEN } from '../subscriptions/streams.ts';
import { ask, KNOWN, openGateway, unknownHash, until } from '../subscriptions/support.ts';
import { at, type SeenCall } from '../support.ts';

const SUBMIT = `mutation($input: SubmitFoldInput!) { submitFold(input: $input) { __typename
  ... on FoldSubmitted { replayed warnings { code } batch { batchId } } ... on Problem { message } ... on Refused { reason retryable } } }`;
const calls: SeenCall[] = [];
/** Enough for the feature catalogue and what is on its way to the store while it is filled. */
const LIMIT_MB = 48;
/** Less than the store holds once it was filled. */
const FULL_MB = LIMIT_MB - 4;
const submits = (): number => calls.filter(({ operation }) => operation === 'submit').length;

describe.skipIf(NO_REDIS)('a Redis that is full', () => {
  let redis: RedisPlace;
  let sandbox: Sandbox;
  beforeAll(async () => {
    redis = await openRedisPlace('--maxmemory', `${LIMIT_MB}mb`, '--maxmemory-policy', 'noeviction');
    sandbox = await startSandbox({ size: 'small', onRequest: (call) => calls.push(call) });
  });
  afterAll(async () => {
    await sandbox.close();
    await redis.remove();
  });

  it('refuses what could be paid twice before it is sent, goes on with everything else, and loses nothing', async () => {
    const filler = createClient({ url: redis.url });
    filler.on('error', () => undefined);
    await filler.connect();
    // A second try starts with an empty store.
    await filler.configSet('maxmemory', `${LIMIT_MB}mb`);
    await filler.flushAll();
    const gateway = openGateway(sandbox.url, {
      STORE_URL: redis.url,
      GATEWAY_SECRET: 'a secret for a full store',
    });
    await gateway.ready();
    const submit = async (idempotencyKey?: string) => {
      const input = {
        items: [protein(INSULIN_A)],
        ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
      };
      const { data, errors } = await ask(gateway, SUBMIT, { input }, TOKEN);
      return { ending: at(data, 'submitFold'), code: errors?.[0]?.extensions.code };
    };
    const readyCheck = async () => {
      const response = await gateway.fetch(new Request('http://gateway.test/ready'));
      return { status: response.status, check: at(await response.json(), 'checks.0') };
    };
    const paid = (await submit('paid before it was full')).ending;
    expect(paid).toMatchObject({ __typename: 'FoldSubmitted' });
    expect((await readyCheck()).check).not.toHaveProperty('warning');

    // Down to the last byte, as small entries would come to it.
    const fill = async () => {
      for (const size of [100_000, 1_000, 10])
        for (;;) {
          const written = await filler.set(`filler ${fillers}`, 'x'.repeat(size)).catch(() => 'full');
          if (written === 'full') break;
          fillers += 1;
        }
    };
    let fillers = 0;
    await fill();
    // Redis frees the buffers of connections a while later: with less allowed it stays full.
    await filler.configSet('maxmemory', `${FULL_MB}mb`);

    const before = submits();
    const refused = await submit('a key that cannot be taken');
    expect(JSON.stringify(refused)).toMatch(/Refused|UNAVAILABLE/);
    expect(submits()).toBe(before);
    // Entries from before stay: their key is replayed.
    expect((await submit('paid before it was full')).ending).toMatchObject({
      replayed: true,
      batch: { batchId: at(paid, 'batch.batchId') },
    });
    const lookup = await ask(
      gateway,
      'mutation($h: [ProteinHash!]!) { startBulkLookup(input: { hashes: $h }) { ... on Refused { reason retryable } } }',
      { h: [unknownHash(1)] },
    );
    expect(lookup.data).toEqual({ startBulkLookup: { reason: 'UNREACHABLE', retryable: true } });
    const read = await ask(gateway, 'query($h: [ProteinHash!]!) { proteins(hashes: $h) { hash length } }', {
      h: KNOWN.slice(0, 5),
    });
    expect(read.errors).toBeUndefined();
    expect(at(read.data, 'proteins.4.hash')).toBe(KNOWN[4]);
    // An answer of /ready is given again for a while.
    let ready = await readyCheck();
    await until('the warning', async () => {
      ready = await readyCheck();
      return at(ready.check, 'warning') !== undefined;
    });
    expect(ready).toMatchObject({
      status: 200,
      check: { ok: true, limitBytes: FULL_MB * 1024 * 1024, warning: expect.stringMatching(/nearly full/) },
    });

    for (let i = 0; i < fillers; i += 1) await filler.del(`filler ${i}`);
    expect((await submit('a key that cannot be taken')).ending).toMatchObject({ replayed: false });
    filler.destroy();
    await gateway.close();
  });

  it('is told apart from one that forgets by itself, of which the gateway warns', async () => {
    const forgetful = await openRedisPlace('--maxmemory', '12mb', '--maxmemory-policy', 'allkeys-lru');
    const gateway = openGateway(sandbox.url, {
      STORE_URL: forgetful.url,
      GATEWAY_SECRET: 'a secret for a full store',
    });
    const response = await gateway.fetch(new Request('http://gateway.test/ready'));
    expect(at(await response.json(), 'checks.0.warning')).toMatch(/maxmemory-policy to noeviction/);
    await gateway.close();
    await forgetful.remove();
  });
});
