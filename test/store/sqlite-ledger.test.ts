// The SQLite ledger: the contract of every ledger, and what only a file can go through (a killed process, a newer version).
import { spawnSync } from 'node:child_process';
import { mkdtempSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { openDocuments } from '../../src/store/documents/leased-documents.ts';
import { type LedgerItem, RETENTION_MS } from '../../src/store/ledger/ledger.ts';
import { openLedger } from '../../src/store/ledger/open-ledger.ts';
import { createGroupCommit, openDatabase } from '../../src/store/sqlite-file.ts';
import { batchOf, ledgerContract, SECRETS } from './ledger-contract.ts';

const newFolder = () => mkdtempSync(join(tmpdir(), 'ledger-'));

ledgerContract('sqlite', async () => {
  const folder = newFolder();
  const file = `${folder}/deep/er/gateway.db`;
  return {
    open: async (now, secrets = SECRETS) => openLedger(`sqlite:${file}`, secrets, { now }),
    async lose() {
      for (const suffix of ['', '-wal', '-shm']) rmSync(`${file}${suffix}`, { force: true });
    },
    async save() {
      const copy = new DatabaseSync(file);
      copy.exec(`VACUUM INTO '${folder}/copy.db'`);
      copy.close();
      return async () => {
        for (const suffix of ['-wal', '-shm']) rmSync(`${file}${suffix}`, { force: true });
        renameSync(`${folder}/copy.db`, file);
      };
    },
    async seal(sealed) {
      const database = new DatabaseSync(file);
      database.prepare('INSERT INTO sealed_key VALUES (1, ?)').run(sealed);
      database.close();
    },
    remove: async () => rmSync(folder, { recursive: true }),
  };
});

describe('a ledger file', () => {
  let folder: string;
  beforeEach(() => {
    folder = newFolder();
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('is whole after its process was killed in the middle of writing', async () => {
    const url = `sqlite:${folder}/gateway.db`;
    // Records batch after batch, says so, and is killed by its own hand between two statements of a transaction.
    const script = `
      import { openLedger } from ${JSON.stringify(new URL('../../src/store/ledger/open-ledger.ts', import.meta.url).href)};
      const ledger = openLedger(${JSON.stringify(url)}, ${JSON.stringify(SECRETS)});
      await ledger.claim('p', 'k', 'h');
      const item = { name: 'n', chains: [] };
      for (let i = 0; i < 5; i++) {
        await ledger.record('p', null, { batchId: 'b' + i, label: null, model: 'm', submittedAt: Date.now(), itemCount: 1, repeat: 1, inputHash: 'h', onlyTaskId: null }, [item]);
      }
      const dying = { get name() { process.kill(process.pid, 'SIGKILL'); return 'x'; }, chains: [] };
      await ledger.record('p', 'k', { batchId: 'half', label: null, model: 'm', submittedAt: Date.now(), itemCount: 2, repeat: 1, inputHash: 'h', onlyTaskId: null }, [item, dying]);
    `;
    const run = spawnSync(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script]);
    expect(run.signal, run.stderr.toString()).toBe('SIGKILL');
    const ledger = openLedger(url, SECRETS);
    expect((await ledger.batches('p', { first: 10, after: null })).total).toBe(5);
    expect(await ledger.batch('p', 'half')).toBeNull();
    expect((await ledger.entry('p', 'k'))?.state).toBe('pending');
    await ledger.close();
  });

  it('that is no ledger is named in the error', () => {
    const file = join(folder, 'gateway.db');
    writeFileSync(file, 'no database '.repeat(1000));
    expect(() => openLedger(`sqlite:${file}`, SECRETS)).toThrow(
      `The database ${file} cannot be opened: file is not a database`,
    );
    const other = join(folder, 'other.db');
    const database = new DatabaseSync(other);
    database.exec('CREATE TABLE batch (id)');
    database.close();
    expect(() => openLedger(`sqlite:${other}`, SECRETS)).toThrow(
      `The database ${other} cannot be opened: table batch already exists`,
    );
  });

  it('holds every key that a caller was told it has, also when the process is killed at that moment', async () => {
    const url = `sqlite:${folder}/gateway.db`;
    // Claims in groups that share a commit; dies as soon as the first of the fifth group is told.
    const script = `
      import { writeSync } from 'node:fs';
      import { openLedger } from ${JSON.stringify(new URL('../../src/store/ledger/open-ledger.ts', import.meta.url).href)};
      const ledger = openLedger(${JSON.stringify(url)}, ${JSON.stringify(SECRETS)});
      for (let group = 0; group < 5; group++) {
        await Promise.all(Array.from({ length: 20 }, async (_, i) => {
          const standing = await ledger.claim('p', group + '.' + i, 'h');
          writeSync(1, group + '.' + i + ' ' + String(standing) + '\\n');
          if (group === 4) process.kill(process.pid, 'SIGKILL');
        }));
      }
    `;
    const run = spawnSync(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script]);
    expect(run.signal, run.stderr.toString()).toBe('SIGKILL');
    const told = run.stdout.toString().trim().split('\n');
    expect(told.length).toBeGreaterThan(80);
    const ledger = openLedger(url, SECRETS);
    for (const line of told) {
      const [key = '', standing] = line.split(' ');
      expect(standing).toBe('null');
      expect(await ledger.claim('p', key, 'h')).toMatchObject({ state: 'pending' });
    }
    await ledger.close();
  });

  it('waits for the disk once for all writes of a turn', async () => {
    const file = join(folder, 'gateway.db');
    const ledger = openLedger(`sqlite:${file}`, SECRETS);
    await ledger.claim('p', 'first', 'h');
    const before = statSync(`${file}-wal`).size;
    const keys = Array.from({ length: 50 }, (_, i) => `k${i}`);
    const claimed = await Promise.all([...keys, 'k0'].map((key) => ledger.claim('p', key, 'h')));
    expect(claimed.filter((standing) => standing !== null)).toHaveLength(1);
    // Each commit appends the pages that it changed, one or more: fifty would be over 200 KB.
    expect(statSync(`${file}-wal`).size - before).toBeLessThan(50_000);
    await ledger.close();
  });

  it('fails only the write that cannot be made, of those that share a commit', async () => {
    const url = `sqlite:${folder}/gateway.db`;
    const ledger = openLedger(url, SECRETS);
    await ledger.claim('p', 'bad', 'h');
    const record = (key: string, item: LedgerItem) =>
      ledger.record('p', key, batchOf(`batch of ${key}`, { submittedAt: Date.now() }), [item]);
    const good = { name: 'n', chains: [] };
    const bad = {
      get name(): string {
        throw new Error('this one only');
      },
      chains: [],
    };
    const ended = await Promise.allSettled([
      ledger.claim('p', 'a', 'h'),
      record('k', good),
      record('bad', bad),
      ledger.claim('p', 'a', 'h'),
      record('l', good),
    ]);
    expect(ended).toMatchObject([
      { status: 'fulfilled', value: null },
      { status: 'fulfilled' },
      { status: 'rejected', reason: { message: 'this one only' } },
      { status: 'fulfilled', value: { state: 'pending' } },
      { status: 'fulfilled' },
    ]);
    const other = openLedger(url, SECRETS);
    const states = await Promise.all(['a', 'k', 'bad', 'l'].map((key) => other.entry('p', key)));
    expect(states.map((entry) => entry?.state)).toEqual(['pending', 'submitted', 'pending', 'submitted']);
    expect((await other.batches('p', { first: 10, after: null })).total).toBe(2);
    await other.close();
    await ledger.close();
  });

  it('tells no write that it is done whose commit fails', async () => {
    const database = openDatabase(join(folder, 'commit.db'), { busyMs: 300, synchronous: 'FULL' });
    // Checked at commit only.
    database.exec(`PRAGMA foreign_keys = ON; CREATE TABLE parent (n INTEGER PRIMARY KEY);
      CREATE TABLE child (n INTEGER REFERENCES parent DEFERRABLE INITIALLY DEFERRED)`);
    const insert = database.prepare('INSERT INTO child VALUES (?)');
    const { write } = createGroupCommit(database);
    const ended = await Promise.allSettled([null, 7, null].map((n) => write(() => insert.run(n))));
    expect(ended.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(database.prepare('SELECT n FROM child').all()).toEqual([{ n: null }, { n: null }]);
    database.close();
  });

  it('commits what waits before it is closed', async () => {
    const url = `sqlite:${folder}/gateway.db`;
    const ledger = openLedger(url, SECRETS);
    await ledger.check();
    const claimed = ledger.claim('p', 'k', 'h');
    await ledger.close();
    expect(await claimed).toBeNull();
    const other = openLedger(url, SECRETS);
    expect(await other.entry('p', 'k')).toMatchObject({ state: 'pending' });
    await other.close();
  });

  it('waits for another process once, however many writes wait', async () => {
    const file = join(folder, 'busy.db');
    const database = openDatabase(file, { busyMs: 300, synchronous: 'FULL' });
    database.exec('CREATE TABLE seen (n INTEGER)');
    const insert = database.prepare('INSERT INTO seen VALUES (?)');
    const { write } = createGroupCommit(database, 300);
    const all = () => Promise.allSettled(Array.from({ length: 20 }, (_, n) => write(() => insert.run(n))));
    const other = new DatabaseSync(file);
    other.exec('BEGIN IMMEDIATE');
    const tries = vi.spyOn(database, 'exec');
    expect((await all()).map(({ status }) => status)).toEqual(Array(20).fill('rejected'));
    // Each try waits 50 ms, and so long it is to the next one; a wait for each write would be 20 times as many.
    expect(tries.mock.calls.length).toBeLessThan(10);
    other.exec('ROLLBACK');
    expect((await all()).map(({ status }) => status)).toEqual(Array(20).fill('fulfilled'));
    expect(other.prepare('SELECT count(*) AS n FROM seen').get()).toEqual({ n: 20 });
    other.close();
    database.close();
  });

  it('does not stop the gateway while another process holds it', async () => {
    const file = join(folder, 'held.db');
    const ledger = openLedger(`sqlite:${file}`, SECRETS);
    const documents = openDocuments(`sqlite:${file}`);
    const other = new DatabaseSync(file);
    other.exec('BEGIN IMMEDIATE');
    // Only a process that goes on lets go of it.
    setTimeout(() => other.exec('ROLLBACK'), 500);
    const writes = Promise.all([
      ledger.claim('p', 'k', 'h'),
      documents.claim('lease', 'owner', 1000),
      documents.put('document', 'text', { expected: 0, expiresAt: Date.now() + 60_000 }),
    ]);
    expect(await ledger.entry('p', 'k')).toBeNull();
    expect(await writes).toEqual([null, true, 1]);
    expect(await ledger.claim('p', 'k', 'h')).toMatchObject({ state: 'pending' });
    other.close();
    await documents.close();
    await ledger.close();
  });

  it('loses what is past its time a little at a time, all of it in the end', async () => {
    const file = join(folder, 'gateway.db');
    let now = Date.now();
    const open = () => openLedger(`sqlite:${file}`, SECRETS, { now: () => now });
    const before = open();
    const items = Array.from({ length: 1000 }, (_, i) => ({ name: `item ${i}`, chains: [] }));
    await before.record('p', 'k', batchOf('old', { submittedAt: now }), items);
    const lost = Array.from({ length: 300 }, (_, i) => ({ inputHash: `${i}`, upstreamRequestId: null }));
    await Promise.all(lost.map((what) => before.recordUnknown('p', null, what)));
    await before.close();
    const day = 24 * 3_600_000;
    for (let left = RETENTION_MS - 1000; left > 0; left -= day) {
      now += Math.min(left, day);
      await open().close();
    }
    const ledger = open();
    await ledger.record('p', 'young', batchOf('young', { submittedAt: now }), items);
    now += 3_600_000;
    const other = new DatabaseSync(file);
    const rows = (table: string) => Number(other.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.n);
    expect(await ledger.claim('p', 'other', 'h')).toBeNull();
    // What is left of 2,000 items and 300 outcomes; the batch stays until its last item is deleted.
    expect(rows('item')).toBeGreaterThan(1500);
    expect(rows('unknown_outcome')).toBeGreaterThan(0);
    expect(await ledger.batch('p', 'old')).not.toBeNull();
    await expect.poll(() => [rows('item'), rows('unknown_outcome'), rows('batch')]).toEqual([1000, 0, 1]);
    expect(await ledger.entry('p', 'k')).toBeNull();
    expect((await ledger.items('p', 'young', [999])).size).toBe(1);
    other.close();
    await ledger.close();
  });

  it('of a newer gateway is refused, not rewritten', () => {
    const file = join(folder, 'gateway.db');
    const database = new DatabaseSync(file);
    database.exec('PRAGMA user_version = 99');
    database.close();
    expect(() => openLedger(`sqlite:${file}`, SECRETS)).toThrow(
      /newer gateway .*Start the newer one, or restore a backup/,
    );
  });
});

describe('STORE_URL', () => {
  it('memory: keeps nothing', async () => {
    const ledger = openLedger('memory:', SECRETS);
    expect(await ledger.claim('p', 'k', 'h')).toBeNull();
    await ledger.close();
    expect(await openLedger('memory:', SECRETS).entry('p', 'k')).toBeNull();
  });

  it('is refused in any other form', () => {
    expect(() => openLedger('postgres://x', SECRETS)).toThrow(/LEDGER_URL/);
  });
});
