// Limits of bulk look-ups: of each caller and of all, in running and kept look-ups and in bytes, counted by all replicas together.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { ManualClock } from '../../sandbox/src/clock.ts';
import { startSandbox } from '../../sandbox/src/sandbox.ts';
import { type BulkLimits, createBulkQuota } from '../../src/lookups/quota.ts';
import { type LeasedDocumentStore, openDocuments } from '../../src/store/documents/leased-documents.ts';
import { openDatabase } from '../../src/store/sqlite-file.ts';
import { NO_REDIS, openRedisPlace, type RedisPlace } from '../store/redis-place.ts';
import { ask, KNOWN, openGateway, unknownHash, until } from '../subscriptions/support.ts';
import { at } from '../support.ts';

const NONE: BulkLimits = { runningPerCaller: 0, keptPerCaller: 0, bytesPerCaller: 0, running: 0, bytes: 0 };
const DAY_MS = 24 * 3_600_000;

function quotaContract(openPlace: () => LeasedDocumentStore): void {
  let now = Date.now();
  const ended = new Set<string>();
  const open = (limits: Partial<BulkLimits>, documents: LeasedDocumentStore) =>
    createBulkQuota(
      documents,
      { ...NONE, ...limits },
      () => now,
      async (id) => !ended.has(id),
    );
  const wanted = (lookupId: string, bytes = 10) => ({ lookupId, bytes, expiresAt: now + 7 * DAY_MS });

  it('lets exactly as many in as are allowed, however many ask at once at however many replicas', async () => {
    const replicas = [openPlace(), openPlace()];
    const quotas = replicas.map((documents) => open({ keptPerCaller: 3, bytes: 45 }, documents));
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, i) => quotas[i % 2]?.reserve('a', wanted(`many ${i}`))),
    );
    expect(answers.filter((answer) => answer === null)).toHaveLength(3);
    for (const answer of answers.filter((one) => one !== null))
      expect(answer).toMatchObject({ limit: 'KEPT_PER_CALLER', allowed: 3, freeAt: expect.any(Number) });
    // Of another caller there is room until all of it is used.
    expect(await quotas[0]?.reserve('b', wanted('of b'))).toBeNull();
    expect(await quotas[1]?.reserve('b', wanted('too much'))).toMatchObject({ limit: 'BYTES_TOTAL' });
    expect(await quotas[1]?.storedBytes()).toBe(40);
    await quotas[1]?.release('b', 'of b');
    expect(await quotas[0]?.storedBytes()).toBe(30);
    expect(await quotas[1]?.reserve('b', wanted('fits'))).toBeNull();
    await Promise.all(replicas.map((documents) => documents.close()));
  });

  it('counts what runs until it has ended, also where its end could not be noted, and bytes until they are forgotten', async () => {
    const documents = openPlace();
    const quota = open({ runningPerCaller: 2, bytesPerCaller: 100 }, documents);
    expect(await quota.reserve('c', wanted('one'))).toBeNull();
    expect(await quota.reserve('c', wanted('two'))).toBeNull();
    expect(await quota.reserve('c', wanted('three'))).toMatchObject({
      limit: 'RUNNING_PER_CALLER',
      allowed: 2,
    });
    await quota.ended('c', 'one');
    expect(await quota.reserve('c', wanted('three'))).toBeNull();
    ended.add('two');
    expect(await quota.reserve('c', wanted('four'))).toBeNull();
    await quota.ended('c', 'three');
    expect(await quota.reserve('c', wanted('large', 61))).toMatchObject({ limit: 'BYTES_PER_CALLER' });
    expect(await quota.reserve('c', wanted('fits', 60))).toBeNull();
    now += 8 * DAY_MS;
    expect(await quota.storedBytes()).toBe(0);
    expect(await quota.reserve('c', wanted('large', 61))).toBeNull();
    await documents.close();
  });
}

describe('the quota in SQLite', () => {
  const folder = mkdtempSync(join(tmpdir(), 'quota-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  let file = 0;
  const urls = new Map<string, string>();
  quotaContract(() => {
    const name = expect.getState().currentTestName ?? '';
    const url = urls.get(name) ?? `sqlite:${join(folder, `${file++}.db`)}`;
    urls.set(name, url);
    return openDocuments(url);
  });
});

describe.skipIf(NO_REDIS)('the quota in Redis', () => {
  let place: RedisPlace;
  beforeAll(async () => {
    place = await openRedisPlace();
  });
  afterAll(() => place.remove());
  quotaContract(() =>
    openDocuments(`${place.url}/${expect.getState().currentTestName?.includes('exactly') ? 1 : 2}`),
  );
});

describe('a gateway with limits', () => {
  const START = `mutation($input: BulkLookupInput!) { startBulkLookup(input: $input) { __typename
    ... on BulkLookup { lookupId state } ... on Problem { message hint }
    ... on BulkLookupLimit { limit allowed retryAfterSeconds } } }`;
  const LIGHT = { structure: false, residueFeatures: false };

  it('refuses one more look-up as a typed result, says its limits and how full the store is', async () => {
    const sandbox = await startSandbox({ size: 'small', clock: new ManualClock(Date.now()) });
    const gateway = openGateway(sandbox.url, {
      MAX_BULK_RUNNING_PER_CALLER: '1',
      MAX_BULK_KEPT_PER_CALLER: '3',
      MAX_BULK_RUNNING: '2',
      TRUST_PROXY: '1',
    });
    // Unproven tokens are counted by address, where there is one: each caller asks from its own.
    const start = async (hashes: readonly string[], token?: string, address = '192.0.2.1') => {
      const headers: Record<string, string> = {
        'x-forwarded-for': address,
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      };
      const { data, errors } = await ask(gateway, START, { input: { ...LIGHT, hashes } }, headers);
      expect(errors).toBeUndefined();
      return at(data, 'startBulkLookup');
    };
    const cancel = (id: unknown) =>
      ask(gateway, 'mutation($id: ID!) { cancelBulkLookup(lookupId: $id) { __typename } }', { id });
    const many = Array.from({ length: 600 }, (_, i) => unknownHash(i));

    // The clock of the sandbox is held: its jobs do not finish.
    const running = await start(many);
    expect(running).toMatchObject({ __typename: 'BulkLookup', state: 'PENDING' });
    expect(await start(many)).toMatchObject({
      __typename: 'BulkLookupLimit',
      limit: 'RUNNING_PER_CALLER',
      allowed: 1,
      retryAfterSeconds: null,
      message: 'At most 1 look-ups of yours may run at the same time.',
      hint: expect.stringContaining('cancel one'),
    });
    expect(await start(many, 'another-caller', '192.0.2.2')).toMatchObject({ __typename: 'BulkLookup' });
    expect(await start(many, 'a-third-one', '192.0.2.3')).toMatchObject({
      limit: 'RUNNING_TOTAL',
      allowed: 2,
    });
    await cancel(at(running, 'lookupId'));

    const endings: unknown[] = [];
    await until('the limit of kept look-ups', async () => {
      endings.push(await start(KNOWN.slice(0, 1)));
      return at(endings.at(-1), 'limit') === 'KEPT_PER_CALLER';
    });
    expect(endings.at(-1)).toMatchObject({ allowed: 3, retryAfterSeconds: expect.any(Number) });
    expect(endings.filter((one) => at(one, '__typename') === 'BulkLookup')).toHaveLength(2);

    const { data } = await ask(
      gateway,
      '{ limits { maxBulkLookupHashes maxBulkLookupsRunning maxBulkLookupsKept maxBulkLookupBytes } }',
    );
    expect(at(data, 'limits')).toEqual({
      maxBulkLookupHashes: 50_000,
      maxBulkLookupsRunning: 1,
      maxBulkLookupsKept: 3,
      maxBulkLookupBytes: 32_000_000,
    });
    const metrics = await (await gateway.fetch(new Request('http://gateway.test/metrics'))).text();
    expect(Number(/^foldatlas_bulk_stored_bytes (\d+)$/m.exec(metrics)?.[1])).toBeGreaterThan(40_000);
    expect(Number(/^foldatlas_store_used_bytes (\d+)$/m.exec(metrics)?.[1])).toBeGreaterThan(0);
    const ready: unknown = await (await gateway.fetch(new Request('http://gateway.test/ready'))).json();
    expect(at(ready, 'checks.0')).toMatchObject({ name: 'store', ok: true, usedBytes: expect.any(Number) });
    await gateway.close();
    await sandbox.close();
  });

  it('counts none that the store could not hold', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'quota-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const file = join(folder, 'store.db');
    const sandbox = await startSandbox({ size: 'small', clock: new ManualClock(Date.now()) });
    const gateway = openGateway(sandbox.url, {
      STORE_URL: `sqlite:${file}`,
      MAX_BULK_RUNNING_PER_CALLER: '1',
    });
    const start = async () =>
      at(
        (await ask(gateway, START, { input: { ...LIGHT, ids: KNOWN.slice(0, 1) } })).data,
        'startBulkLookup',
      );
    const store = openDatabase(file, { busyMs: 10_000, synchronous: 'NORMAL' });
    store.exec(`CREATE TRIGGER full BEFORE INSERT ON document WHEN NEW.key LIKE 'bulk/1/open/%'
      BEGIN SELECT RAISE(FAIL, 'database or disk is full'); END`);
    expect(await start()).toMatchObject({ message: expect.stringContaining('accepts no writes') });
    store.exec('DROP TRIGGER full');
    expect(await start()).toMatchObject({ __typename: 'BulkLookup' });
    store.close();
    await gateway.close();
    await sandbox.close();
  });
});
