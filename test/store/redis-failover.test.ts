// A Redis that fails over to a replica, which may lack the last moment: no key is given away twice,
// whichever gateway asks.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openDocuments } from '../../src/store/documents.ts';
import type { KeyEntry, Ledger } from '../../src/store/ledger/ledger.ts';
import { openLedger } from '../../src/store/ledger/open-ledger.ts';
import { NotReplicatedError } from '../../src/store/ledger/replication.ts';
import { LostLedgerError } from '../../src/store/unusable-store.ts';
import { until } from '../subscriptions/support.ts';
import { createBatch, SECRETS } from './ledger-contract.ts';
import { NO_REDIS, openRedisPair, type RedisPair } from './redis-place.ts';

describe.skipIf(NO_REDIS)('a Redis with a replica', () => {
  let pair: RedisPair;
  let ledgers: Ledger[] = [];
  const open = (): Ledger => {
    const ledger = openLedger(pair.url, SECRETS);
    ledgers.push(ledger);
    return ledger;
  };
  /** The outcome of a claim: whether the key was given away, or why not. */
  const claim = (ledger: Ledger, key: string): Promise<KeyEntry | null | 'refused'> =>
    ledger.claim('p', key, 'h').catch(() => 'refused' as const);
  /** Waits until a gateway has found the server that has taken over. */
  const reached = (ledger: Ledger) =>
    until('the ledger to answer', () =>
      ledger.check().then(
        () => true,
        (error: unknown) => error instanceof LostLedgerError,
      ),
    );

  beforeEach(async () => {
    pair = await openRedisPair();
  });
  afterEach(async () => {
    pair.replica.resume();
    await Promise.all(ledgers.map((ledger) => ledger.close()));
    ledgers = [];
    await pair.remove();
  });

  const losses: readonly (readonly [name: string, lose: (pair: RedisPair) => unknown])[] = [
    ['is cut off', (pair) => pair.cut()],
    ['hangs', (pair) => pair.replica.stall()],
  ];

  it.each(
    losses,
  )('gives no key away that a replica which %s would lose, so that none is given away twice', async (_, lose) => {
    const [writer, other] = [open(), open()];
    // A busy replica may take longer than a write waits.
    await until('the first key', async () => (await claim(writer, 'before')) === null);
    await other.check();
    await lose(pair);
    await expect(writer.claim('p', 'paid', 'h')).rejects.toThrow(NotReplicatedError);
    await expect(writer.record('p', 'before', createBatch('b1'), [])).rejects.toThrow(NotReplicatedError);
    // A gateway that starts now knows it too.
    const late = open();
    await late.check();
    expect(await claim(late, 'paid')).not.toBeNull();
    await pair.failOver();
    for (const ledger of ledgers) {
      await reached(ledger);
      expect(await claim(ledger, 'before')).toMatchObject({ requestHash: 'h' });
      expect(ledger.isLost()).toBe(false);
      // The server that has taken over has no replica itself.
      expect(await claim(ledger, 'paid')).not.toBeNull();
    }
  });

  it('keeps every key that was given away through a failover, also under many at once', async () => {
    const gateways = [open(), open(), open()];
    await Promise.all(gateways.map((ledger) => ledger.check()));
    const given: string[] = [];
    let isOver = false;
    const claiming = gateways.map(async (ledger, i) => {
      for (let n = 0; !isOver; n += 1) {
        const keys = Array.from({ length: 5 }, (_, k) => `${i}.${n}.${k}`);
        const answers = await Promise.all(keys.map((key) => claim(ledger, key)));
        given.push(...keys.filter((_, k) => answers[k] === null));
        // Without a server they fail at once.
        await sleep(1);
      }
    });
    await until('some keys', () => given.length > 100);
    await pair.failOver();
    isOver = true;
    await Promise.all(claiming);
    const late = open();
    await reached(late);
    for (const key of given) expect(await claim(late, key)).toMatchObject({ state: 'pending' });
    expect([...gateways, late].map((ledger) => ledger.isLost())).toEqual([false, false, false, false]);
  });

  it('keeps a durable document through a failover, and says which it may lose', async () => {
    const documents = openDocuments(pair.url);
    const options = { lifetimeMs: 600_000, isDurable: true };
    const put = (key: string) =>
      documents.put(key, 'a webhook', options).then(
        () => true,
        () => false,
      );
    // A busy replica may take longer than a write waits.
    await until('the replica to have it', () => put('kept'));
    pair.replica.stall();
    await expect(documents.put('lost', 'another', options)).rejects.toThrow(NotReplicatedError);
    await pair.failOver();
    const read = () => documents.get('kept').catch(() => undefined);
    await until('the document', async () => (await read()) !== undefined);
    expect(await read()).toMatchObject({ text: 'a webhook' });
    await documents.close();
    // The server that has taken over has no replica, and the ledger knows of one.
    const aware = openDocuments(pair.url, { needsReplica: () => true });
    await expect(aware.put('lost', 'another', options)).rejects.toThrow(NotReplicatedError);
    await aware.put('a lease', '', { lifetimeMs: 1000 });
    await aware.close();
  });

  it('gives no key away on the side that has lost its replica, when both are believed', async () => {
    const [there, here] = [open(), open()];
    await Promise.all([there.check(), here.check()]);
    await pair.split();
    const moved = open();
    const answers = [await claim(there, 'k'), await claim(moved, 'k'), await claim(here, 'k')];
    expect(answers.filter((answer) => answer === null).length).toBeLessThanOrEqual(1);
  });

  it('gives keys away again when it has a replica, or when an operator accepts that it has none', async () => {
    const ledger = open();
    await ledger.check();
    await pair.cut();
    expect(await claim(ledger, 'k')).toBe('refused');
    await pair.follow();
    await until('the key to be free again', async () => (await claim(ledger, 'k')) === null);
    await pair.cut();
    expect(await claim(ledger, 'l')).toBe('refused');
    expect(await open().accept()).toBe(true);
    await until('the key to be free again', async () => (await claim(ledger, 'l')) === null);
  });

  it('asks for its replica from when it has one', async () => {
    await pair.cut();
    const ledger = open();
    expect(await claim(ledger, 'alone')).toBeNull();
    await pair.follow();
    await until('the replica to have a claim', async () => (await claim(ledger, 'together')) === null);
    await pair.cut();
    expect(await claim(ledger, 'late')).toBe('refused');
    expect(await claim(open(), 'later')).toBe('refused');
  });
});
