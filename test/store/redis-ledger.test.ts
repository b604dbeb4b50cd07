// The ledger in Redis: the contract of every ledger, and what only a server can go through (killed,
// stalled, away, locked).
import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from '@redis/client';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import type { Ledger } from '../../src/store/ledger/ledger.ts';
import { openLedger } from '../../src/store/ledger/open-ledger.ts';
import { LostLedgerError } from '../../src/store/unusable-store.ts';
import { until } from '../subscriptions/support.ts';
import { createBatch, ledgerContract, peek, SECRETS } from './ledger-contract.ts';
import { freePort, NO_REDIS, openRedisPlace, type RedisPlace } from './redis-place.ts';

/** RESP's type of a string of bytes. */
const BLOB_STRING = 36;
const DAY_MS = 24 * 3_600_000;

/** Why something fails. */
const readFailure = (asked: Promise<unknown>): Promise<string> =>
  asked.then(
    () => 'did not fail',
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );

describe.skipIf(NO_REDIS)('Redis', () => {
  let place: RedisPlace;
  let database = 0;
  beforeAll(async () => {
    place = await openRedisPlace('--databases', '100');
  });
  afterAll(() => place.remove());

  // A database of its own for each test: the number in the URL is honoured, or they would meet.
  ledgerContract('redis', async () => {
    database += 1;
    const url = `${place.url}/${database}`;
    return {
      open: async (now, secrets = SECRETS) => openLedger(url, secrets, { now }),
      async lose() {
        const client = await createClient({ url }).connect();
        await client.flushDb();
        client.destroy();
      },
      async save() {
        const client = await createClient({
          url,
          commandOptions: { typeMapping: { [BLOB_STRING]: Buffer } },
        }).connect();
        const keys = await client.keys('*');
        const dumps = await Promise.all(keys.map(async (key) => [key, await client.dump(key)] as const));
        return async () => {
          await client.flushDb();
          for (const [key, dump] of dumps) await client.restore(key, 0, dump);
          client.destroy();
        };
      },
      remove: async () => undefined,
    };
  });

  describe('a server', () => {
    it('has lost nothing that was answered when it is killed and started again', async () => {
      const ledger = openLedger(place.url, SECRETS);
      const acknowledged: string[] = [];
      const spent: string[] = [];
      let dead = false;
      const writing = (async () => {
        for (let i = 0; !dead; i++) {
          const [key, id] = [`key ${i}`, `b${i}`];
          await ledger.claim('crash', key, 'h');
          spent.push(key);
          await ledger.record('crash', key, createBatch(id, { submittedAt: Date.now() }), [
            { name: id, chains: [] },
          ]);
          acknowledged.push(id);
        }
      })().catch(() => undefined);
      await until('some batches', () => acknowledged.length > 200);
      onTestFinished(() => place.start());
      await place.kill();
      dead = true;
      await writing;
      const lost = await readFailure(peek(ledger, 'crash', 'key 0'));
      expect(lost).toContain(`The store ${place.url} failed`);
      await place.start();
      await until('the connection to be made again', () =>
        ledger.check().then(
          () => true,
          () => false,
        ),
      );
      const { total } = await ledger.batches('crash', { first: 1, after: null });
      // The one that was being written may be there or not, but then with its key and items or
      // without both.
      expect([acknowledged.length, acknowledged.length + 1]).toContain(total);
      for (const [i, id] of acknowledged.entries()) {
        expect(await peek(ledger, 'crash', `key ${i}`)).toMatchObject({ state: 'submitted', batchId: id });
        expect((await ledger.items('crash', id, [0])).get(0)?.name).toBe(id);
      }
      for (const key of spent) expect(await peek(ledger, 'crash', key)).not.toBeNull();
      if (total > acknowledged.length) {
        const last = `b${acknowledged.length}`;
        expect((await ledger.items('crash', last, [0])).size).toBe(1);
        expect(await peek(ledger, 'crash', `key ${acknowledged.length}`)).toMatchObject({ batchId: last });
      }
      await ledger.close();
    });

    it('that was emptied and accepted is not lost for gateways that were not asked meanwhile', async () => {
      const open = () => openLedger(`${place.url}/90`, SECRETS);
      const client = await createClient({ url: `${place.url}/90` }).connect();
      const [ledger, asleep] = [open(), open()];
      await ledger.claim('p', 'k', 'h');
      // `asleep` checks the first loss, and neither the second one nor an accepted ledger.
      for (const isFirst of [true, false]) {
        await client.flushDb();
        await expect(ledger.check()).rejects.toThrow(LostLedgerError);
        if (isFirst) await expect(asleep.check()).rejects.toThrow(LostLedgerError);
        const operator = open();
        expect(await operator.accept()).toBe(true);
        await operator.close();
        await ledger.check();
      }
      expect(await asleep.claim('p', 'other', 'h')).toBeNull();
      await ledger.check();
      client.destroy();
      await Promise.all([ledger.close(), asleep.close()]);
    });

    it('is not waited for while it stalls, and a key whose claim was not answered is free again', async () => {
      const ledger = openLedger(place.url, SECRETS);
      const key = randomUUID();
      // The server has the script: the claim needs no second command.
      await ledger.claim('stall', randomUUID(), 'h');
      onTestFinished(() => place.resume());
      place.stall();
      const failures = await Promise.all([
        readFailure(ledger.claim('stall', key, 'h')),
        readFailure(ledger.batches('stall', { first: 1, after: null })),
      ]);
      for (const message of failures) expect(message).toMatch(/no answer within 2000 ms/);
      place.resume();
      // The stalled server reads the claim now; it was given up.
      await until('the claim to be undone', async () => {
        await sleep(50);
        return ledger.claim('stall', key, 'h').then(
          (standing) => standing === null,
          () => false,
        );
      });
      await ledger.close();
    });

    it('frees no later claim by a release whose answer was lost', async () => {
      const [ledger, other] = [openLedger(place.url, SECRETS), openLedger(place.url, SECRETS)];
      const key = randomUUID();
      for (const one of [ledger, other]) {
        await one.claim('late', `${key} before`, 'h');
        await one.release('late', `${key} before`);
      }
      await ledger.claim('late', key, 'h');
      onTestFinished(() => place.resume());
      place.stall();
      // The server reads the release when it goes on; the gateway sends it again.
      await ledger.release('late', key);
      place.resume();
      await until('the key to be free', async () => {
        const standing = await other.claim('late', key, 'i').catch(() => undefined);
        return standing === null;
      });
      for (let i = 0; i < 10; i += 1) {
        expect(await ledger.claim('late', key, 'h')).toMatchObject({ requestHash: 'i' });
        await sleep(50);
      }
      await Promise.all([ledger.close(), other.close()]);
    });

    it('is told at once where it is not there, without the password', async () => {
      const away = await openRedisPlace();
      const url = away.url.replace('//', '//user:secret-word@');
      await away.remove();
      const errors: unknown[] = [];
      const ledger = openLedger(url, SECRETS, { onError: (error) => errors.push(error) });
      // Not that there was no answer within its time.
      const message = await readFailure(ledger.check());
      expect(message).toMatch(/^The store redis:\/\/127\.0\.0\.1:\d+ failed: connect ECONNREFUSED/);
      await readFailure(ledger.check());
      expect(errors).toHaveLength(1);
      expect(String(errors[0])).not.toContain('secret-word');
      await ledger.close();
    });

    it('is refused at once where it is a cluster: scripts over the keys of a caller would fail', async () => {
      const cluster = await openRedisPlace(
        ...['--cluster-enabled', 'yes', '--cluster-port', String(await freePort())],
      );
      const assign = ['-p', new URL(cluster.url).port, 'cluster', 'addslotsrange', '0', '16383'];
      expect(spawnSync('redis-cli', assign).status).toBe(0);
      const ledger = openLedger(cluster.url, SECRETS);
      await until('the cluster to be up', async () =>
        (await readFailure(ledger.check())).includes('CROSSSLOT'),
      );
      expect(await readFailure(ledger.check())).toMatch(/^The ledger needs a single Redis or Valkey/);
      await ledger.close();
      await cluster.remove();
    });

    it('lets in who has its password', async () => {
      const locked = await openRedisPlace('--requirepass', 'open sesame');
      const without = openLedger(locked.url, SECRETS);
      expect(await readFailure(without.check())).toMatch(/NOAUTH|Authentication/);
      const wrong = openLedger(locked.url.replace('//', '//:shut@'), SECRETS);
      expect(await readFailure(wrong.check())).toMatch(/WRONGPASS/);
      const right = openLedger(locked.url.replace('//', '//:open%20sesame@'), SECRETS);
      await right.check();
      await Promise.all([without, wrong, right].map((ledger) => ledger.close()));
      await locked.remove();
    });
  });

  describe('a clock of Redis', () => {
    const START = Date.UTC(2026, 10, 29);
    const times = { redis: START, gateway: START, monotonic: 5_000 };
    let ledgers: Ledger[] = [];
    const open = (): Ledger => {
      const clock = { now: () => times.gateway, monotonic: () => times.monotonic };
      const ledger = openLedger(`${place.url}/98`, SECRETS, { now: () => times.redis, clock });
      ledgers.push(ledger);
      return ledger;
    };
    const pass = (days: number): void => {
      for (const name of ['redis', 'gateway', 'monotonic'] as const) times[name] += days * DAY_MS;
    };
    beforeEach(async () => {
      const client = await createClient({ url: `${place.url}/98` }).connect();
      await client.flushDb();
      client.destroy();
      Object.assign(times, { redis: START, gateway: START, monotonic: 5_000 });
    });
    afterEach(async () => {
      await Promise.all(ledgers.map((ledger) => ledger.close()));
      ledgers = [];
    });

    it('that is set forward by weeks frees no key, and the ledger is lost for all gateways until that is accepted', async () => {
      const ledger = open();
      await ledger.claim('p', 'paid', 'h');
      await ledger.record('p', 'paid', createBatch('b1'), []);
      times.redis += 40 * DAY_MS;
      await expect(ledger.claim('p', 'paid', 'h')).rejects.toThrow(LostLedgerError);
      await expect(ledger.check()).rejects.toThrow(/clock of Redis .* accept-ledger/);
      expect(ledger.isLost()).toBe(true);
      times.redis = times.gateway;
      const later = open();
      await expect(later.claim('p', 'free', 'h')).rejects.toThrow(LostLedgerError);
      expect(await later.accept()).toBe(true);
      for (const one of ledgers) {
        expect(await one.claim('p', `of ${ledgers.indexOf(one)}`, 'h')).toBeNull();
        await one.check();
      }
    });

    it('that was set forward while the clock of the gateway was, too, is noticed by a gateway that runs', async () => {
      const ledger = open();
      await ledger.claim('p', 'paid', 'h');
      times.redis += 40 * DAY_MS;
      times.gateway += 40 * DAY_MS;
      await expect(ledger.claim('p', 'paid', 'h')).rejects.toThrow(LostLedgerError);
    });

    it.each([
      ['', async () => undefined],
      [
        ', also where a batch on its way was recorded after that',
        async (ledger: Ledger) => {
          times.redis += 40 * DAY_MS;
          await ledger.record('p', 'paid', createBatch('b1'), []);
          times.redis -= 40 * DAY_MS;
        },
      ],
    ])('that was set forward while no gateway ran is noticed by the next one%s', async (_, end) => {
      const ledger = open();
      await ledger.claim('p', 'paid', 'h');
      await end(ledger);
      await ledger.close();
      pass(2);
      times.redis += 40 * DAY_MS;
      await expect(open().check()).rejects.toThrow(LostLedgerError);
      await expect(open().claim('p', 'paid', 'h')).rejects.toThrow(LostLedgerError);
    });

    it('that is set forward by days frees no key of 31 days', async () => {
      const ledger = open();
      await ledger.claim('p', 'paid', 'h');
      pass(30);
      await ledger.check();
      times.redis += 6 * DAY_MS;
      expect(await ledger.claim('p', 'paid', 'h')).toMatchObject({ state: 'pending' });
      // Two steps are one.
      times.redis += 2 * DAY_MS;
      await expect(ledger.claim('p', 'free', 'h')).rejects.toThrow(LostLedgerError);
    });

    it('is not suspected by a gateway whose own clock is wrong, nor after weeks without a submission', async () => {
      const ledger = open();
      await ledger.claim('p', 'paid', 'h');
      for (const days of [-40, 80, -40.2, 0.4, -0.2]) {
        times.gateway += days * DAY_MS;
        for (const one of [ledger, open()]) await one.check();
      }
      pass(50);
      await open().check();
      pass(50);
      await ledger.check();
      // The running gateway has seen the time go on, so another one knows that its own is wrong.
      times.gateway -= 90 * DAY_MS;
      for (const [i, one] of [ledger, open()].entries()) {
        await one.check();
        expect(await one.claim('p', `free ${i}`, 'h')).toBeNull();
      }
    });

    it('that was behind for a time is no loss once it is right', async () => {
      const ledger = open();
      await ledger.claim('p', 'paid', 'h');
      times.redis -= 40 * DAY_MS;
      await expect(ledger.claim('p', 'free', 'h')).rejects.toThrow(/ahead of its clock/);
      times.redis += 40 * DAY_MS;
      expect(await ledger.claim('p', 'free', 'h')).toBeNull();
    });
  });

  it('is told how long to keep what the ledger forgets, and to keep the rest', async () => {
    const url = `${place.url}/99`;
    const ledger: Ledger = openLedger(url, SECRETS);
    await ledger.claim('p', 'k', 'h');
    await ledger.record('p', 'k', createBatch('b', { onlyTaskId: 't', submittedAt: Date.now() }), []);
    await ledger.recordUnknown('p', null, { inputHash: 'lost', upstreamRequestId: null });
    await ledger.saveScores('p', new Map([['t', { ptm: 1, iptm: null, meanPlddt: 0, chainPairs: [] }]]));
    await ledger.close();
    const client = createClient({ url });
    client.on('error', () => undefined);
    await client.connect();
    const keys = await client.keys('*');
    expect(keys.length).toBeGreaterThan(5);
    for (const key of keys) {
      expect(key).toMatch(/^foldatlas:/);
      const days = (await client.pTTL(key)) / 86_400_000;
      if (/:(task-scores|mark|newest)$/.test(key)) expect(days).toBeLessThan(0);
      else expect(days).toBeCloseTo(38, 2);
    }
    client.destroy();
  });
});
