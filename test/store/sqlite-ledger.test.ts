// The SQLite ledger: the contract of every ledger, and what only a file can go through (a killed
// process, a newer version).
import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readConfig } from '../../src/config.ts';
import { createGateway } from '../../src/gateway.ts';
import { openDocuments } from '../../src/store/documents.ts';
import { type Ledger, type LedgerItem, RETENTION_MS } from '../../src/store/ledger/ledger.ts';
import { WrongSecretError } from '../../src/store/ledger/mark.ts';
import { openLedger } from '../../src/store/ledger/open-ledger.ts';
import { checkSecretFile, openSecret } from '../../src/store/ledger/secret-file.ts';
import { openSqlite } from '../../src/store/sqlite.ts';
import { LostLedgerError, UnusableStoreError } from '../../src/store/unusable-store.ts';
import { testLogger } from '../record.ts';
import { at } from '../support.ts';
import { createBatch, ledgerContract, peek, SECRETS } from './ledger-contract.ts';

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
      const copy = openSqlite(file);
      copy.exec(`VACUUM INTO '${folder}/copy.db'`);
      copy.close();
      return async () => {
        for (const suffix of ['-wal', '-shm']) rmSync(`${file}${suffix}`, { force: true });
        renameSync(`${folder}/copy.db`, file);
      };
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
    // Records batch after batch, says so, and is killed by its own hand between two statements of a
    // transaction.
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
    expect((await peek(ledger, 'p', 'k'))?.state).toBe('pending');
    await ledger.close();
  });

  it('is named in the error where it is no ledger', async () => {
    const file = join(folder, 'gateway.db');
    writeFileSync(file, 'no database '.repeat(1000));
    const ledger = openLedger(`sqlite:${file}`, SECRETS);
    const failure: unknown = await ledger.check().catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(LostLedgerError);
    // The message may be read by anybody, its cause by the operator.
    expect(failure).toMatchObject({
      message: expect.not.stringContaining(folder),
      cause: { message: `The database ${file} cannot be opened: file is not a database` },
    });
    await expect(ledger.claim('p', 'k', 'h')).rejects.toThrow(LostLedgerError);
    await ledger.close();
    const other = join(folder, 'other.db');
    const database = openSqlite(other);
    database.exec('CREATE TABLE entry (id)');
    database.close();
    expect(() => openLedger(`sqlite:${other}`, SECRETS)).toThrow(
      `The database ${other} cannot be opened: table entry already exists`,
    );
  });

  it('holds every key that a caller was told it has, also when the process is killed at that moment', async () => {
    const url = `sqlite:${folder}/gateway.db`;
    // Claims in groups; dies as soon as the first of the fifth group is told.
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

  it.runIf(existsSync('/proc/locks'))('stays locked by a process that opens it twice', async () => {
    const file = join(folder, 'gateway.db');
    const locks = () =>
      readFileSync('/proc/locks', 'utf8')
        .split('\n')
        .filter((line) => line.includes(` ${process.pid} `) && line.includes(`:${statSync(file).ino} `));
    const documents = openDocuments(`sqlite:${file}`);
    expect(locks()).not.toEqual([]);
    const ledger = openLedger(`sqlite:${file}`, SECRETS);
    await ledger.check();
    // A lock of a process ends when the process closes the file anywhere.
    expect(locks()).not.toEqual([]);
    await ledger.close();
    await documents.close();
  });

  it('fails only the write that cannot be made, of those that are made at once', async () => {
    const ledger = openLedger(`sqlite:${folder}/gateway.db`, SECRETS);
    await ledger.claim('p', 'bad', 'h');
    const record = (key: string, item: LedgerItem) =>
      ledger.record('p', key, createBatch(`batch of ${key}`, { submittedAt: Date.now() }), [item]);
    const good = { name: 'n', chains: [] };
    const bad = {
      get name(): string {
        throw new Error('this one only');
      },
      chains: [],
    };
    const ended = await Promise.allSettled([record('k', good), record('bad', bad), record('l', good)]);
    expect(ended).toMatchObject([
      { status: 'fulfilled' },
      { status: 'rejected', reason: { message: 'this one only' } },
      { status: 'fulfilled' },
    ]);
    const states = await Promise.all(['k', 'bad', 'l'].map((key) => peek(ledger, 'p', key)));
    expect(states.map((entry) => entry?.state)).toEqual(['submitted', 'pending', 'submitted']);
    expect((await ledger.batches('p', { first: 10, after: null })).total).toBe(2);
    await ledger.close();
  });

  it('does not stop the gateway while another process holds it', async () => {
    const file = join(folder, 'held.db');
    const ledger = openLedger(`sqlite:${file}`, SECRETS);
    const documents = openDocuments(`sqlite:${file}`);
    const other = openSqlite(file);
    other.exec('BEGIN IMMEDIATE');
    // Only a process that goes on lets go of it.
    setTimeout(() => other.exec('ROLLBACK'), 500);
    const writes = Promise.all([
      ledger.claim('p', 'k', 'h'),
      documents.put('document', 'text', { expected: 0, lifetimeMs: 60_000 }),
    ]);
    expect((await ledger.batches('p', { first: 1, after: null })).total).toBe(0);
    expect(await writes).toEqual([null, 1]);
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
    await before.record('p', 'k', createBatch('old', { submittedAt: now }), items);
    const lost = Array.from({ length: 300 }, (_, i) => ({ inputHash: `${i}`, upstreamRequestId: null }));
    await Promise.all(lost.map((what) => before.recordUnknown('p', null, what)));
    await before.close();
    const day = 24 * 3_600_000;
    for (let left = RETENTION_MS - 1000; left > 0; left -= day) {
      now += Math.min(left, day);
      await open().close();
    }
    const ledger = open();
    await ledger.record('p', 'young', createBatch('young', { submittedAt: now }), items);
    now += 3_600_000;
    const other = openSqlite(file);
    const count = other.prepare('SELECT count(*) AS n FROM entry WHERE kind = ?');
    const rows = (kind: string) => Number(count.get(kind)?.n);
    expect(await ledger.claim('p', 'other', 'h')).toBeNull();
    // Some of 2,000 items are left; the batch stays until its last item is deleted.
    expect(rows('item')).toBeGreaterThan(1500);
    expect(rows('input')).toBeGreaterThan(1);
    expect(await ledger.batch('p', 'old')).not.toBeNull();
    await expect.poll(() => [rows('item'), rows('input'), rows('batch')]).toEqual([1000, 1, 1]);
    expect(await peek(ledger, 'p', 'k')).toBeNull();
    expect((await ledger.items('p', 'young', [999])).size).toBe(1);
    other.close();
    await ledger.close();
  });

  it('is read whole, and written on, when it is of version 2', async () => {
    const file = join(folder, 'gateway.db');
    const old = openSqlite(file);
    old.exec(readFileSync(new URL('ledger-version-2.sql', import.meta.url), 'utf8'));
    old.close();
    const open = () => openLedger(`sqlite:${file}`, SECRETS, { now: () => 2000 });
    for (const ledger of [open(), open()]) {
      await ledger.check();
      expect((await ledger.batches('p', { first: 9, after: null })).batches).toEqual([
        createBatch('b2', { submittedAt: 1500, label: null, inputHash: 'same' }),
        createBatch('b1', { onlyTaskId: 't1', inputHash: 'same' }),
      ]);
      expect((await ledger.batchOfOnlyTask('p', 't1'))?.batchId).toBe('b1');
      expect([...(await ledger.items('p', 'b1', [0, 1, 2]))]).toEqual([
        [0, { name: 'dimer', chains: [{ ids: ['A', 'B'], kind: 'PROTEIN', length: 21, proteinHash: null }] }],
        [1, { name: null, chains: [] }],
      ]);
      expect(await ledger.earlier('p', 'same')).toEqual({ batchId: 'b2', at: 1500 });
      expect(await ledger.earlier('p', 'lost')).toEqual({ batchId: null, at: 1200 });
      expect(await ledger.claim('p', 'paid', 'h')).toMatchObject({
        state: 'submitted',
        batchId: 'b1',
        at: 999,
      });
      expect(await ledger.claim('p', 'sent', 'h')).toMatchObject({ state: 'pending', requestHash: 'h2' });
      expect(await ledger.claim('p', 'unknown', 'h')).toMatchObject({ upstreamRequestId: 'req_1' });
      expect(await ledger.scores('p', ['t1'])).toEqual(
        new Map([['t1', { ptm: 0.5, iptm: null, meanPlddt: 0.875, chainPairs: [] }]]),
      );
      expect(await peek(ledger, 'p', 'free')).toBeNull();
      await ledger.close();
    }
  });

  it('is refused, not rewritten, when it is of a newer gateway', () => {
    const file = join(folder, 'gateway.db');
    const database = openSqlite(file);
    database.exec('PRAGMA user_version = 99');
    database.close();
    expect(() => openLedger(`sqlite:${file}`, SECRETS)).toThrow(
      /newer gateway .*Start the newer one, or restore a backup/,
    );
  });
});

describe('a ledger file that its gateway finds at its start', () => {
  let folder: string;
  let file: string;
  const SUFFIXES = ['', '-wal', '-shm'];
  beforeEach(() => {
    folder = newFolder();
    file = join(folder, 'gateway.db');
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  /** A gateway from its start to its end. */
  async function during<T>(work: (ledger: Ledger) => Promise<T>, at = file): Promise<T> {
    const ledger = openLedger(`sqlite:${at}`, SECRETS);
    try {
      return await work(ledger);
    } finally {
      await ledger.close();
    }
  }
  const claim = (key: string) => (ledger: Ledger) => ledger.claim('p', key, 'h');
  const remove = (at = file) => {
    for (const suffix of SUFFIXES) rmSync(`${at}${suffix}`, { force: true });
  };
  const keep = (name: string) => {
    for (const suffix of SUFFIXES)
      if (existsSync(`${file}${suffix}`)) copyFileSync(`${file}${suffix}`, join(folder, `${name}${suffix}`));
    return () => {
      remove();
      for (const suffix of SUFFIXES)
        if (existsSync(join(folder, `${name}${suffix}`)))
          copyFileSync(join(folder, `${name}${suffix}`), `${file}${suffix}`);
    };
  };

  const losses: readonly (readonly [name: string, lose: () => void | Promise<void>])[] = [
    ['removed', () => remove()],
    [
      'emptied',
      () => {
        remove();
        writeFileSync(file, '');
      },
    ],
    [
      'replaced by a copy from one key ago',
      async () => {
        const putBack = keep('copy');
        await during(claim('paid'));
        putBack();
      },
    ],
    [
      'replaced by a new one',
      () => {
        const other = openSqlite(join(folder, 'other.db'));
        other.close();
        remove();
        renameSync(join(folder, 'other.db'), file);
      },
    ],
    [
      'replaced by that of another gateway',
      async () => {
        await during(claim('k'), join(folder, 'other.db'));
        remove();
        renameSync(join(folder, 'other.db'), file);
      },
    ],
    ['brought from elsewhere, without the file that says how new it is', () => remove(`${file}-newest`)],
    [
      'removed after a gateway had missed the file that says how new it is',
      async () => {
        remove(`${file}-newest`);
        await expect(during((ledger) => ledger.check())).rejects.toThrow(LostLedgerError);
        remove();
      },
    ],
    [
      'brought from before an accepted loss',
      async () => {
        const putBack = keep('copy');
        remove();
        await during((ledger) => ledger.accept());
        await during(claim('after'));
        putBack();
      },
    ],
  ];
  it.each(
    losses,
  )('is missed when it was %s while no gateway ran, until that is accepted', async (_, lose) => {
    await during(claim('before'));
    await lose();
    for (let restarts = 0; restarts < 3; restarts += 1) {
      await during(async (ledger) => {
        await expect(ledger.check()).rejects.toThrow(LostLedgerError);
        await expect(ledger.claim('p', 'paid', 'h')).rejects.toThrow(LostLedgerError);
        // A batch that is sent without a key is recorded all the same.
        await ledger.record('p', null, createBatch(`b${restarts}`), []);
      });
    }
    expect(await during((ledger) => ledger.accept())).toBe(true);
    for (const key of ['one', 'two']) expect(await during(claim(key))).toBeNull();
    expect(await during((ledger) => ledger.accept())).toBe(false);
  });

  /** The files that a kill leaves, in a folder of their own, with a copy in place of the ledger. */
  async function killBeside(killed: Ledger, copy: Buffer): Promise<string> {
    const left = join(folder, 'killed');
    mkdirSync(left);
    for (const name of readdirSync(folder).filter((name) => name.startsWith('gateway.db')))
      copyFileSync(join(folder, name), join(left, name));
    await killed.close();
    writeFileSync(join(left, 'gateway.db'), copy);
    return join(left, 'gateway.db');
  }
  const sizes = [5, 60, 300].flatMap((before) =>
    [5, 60, 700].map((after): [number, number] => [before, after]),
  );
  it.each(
    sizes,
  )('loses none of %i keys in silence when it is put back beside the log of a killed gateway that wrote %i more', async (before, after) => {
    const keys = (count: number, from: number) =>
      Array.from({ length: count }, (_, i) => `key ${(i + from) * 7919}`);
    const [old, young] = [keys(before, 0), keys(after, before)];
    await during(async (ledger) => {
      for (const key of old) expect(await ledger.claim('p', key, 'h')).toBeNull();
    });
    const copy = readFileSync(file);
    const killed = openLedger(`sqlite:${file}`, SECRETS);
    for (const key of young) expect(await killed.claim('p', key, 'h')).toBeNull();
    const left = await killBeside(killed, copy);
    const isKnown = async (ledger: Ledger, key: string) =>
      ledger.claim('p', key, 'h').then(
        (entry) => entry !== null,
        (error: unknown) => error instanceof LostLedgerError,
      );
    // Either the log has all that the copy lacks, or the file is refused.
    const reopened = openLedger(`sqlite:${left}`, SECRETS);
    for (const key of [...old, ...young]) expect(await isKnown(reopened, key), key).toBe(true);
    await reopened.close();
  });

  it.each([
    ['has claimed a key', (ledger: Ledger) => ledger.claim('p', 'later', 'h')],
    ['has written nothing of its own', (ledger: Ledger) => ledger.check()],
  ])('loses no key in silence when a copy of before its start is put back beside the log of a killed gateway that %s', async (_, work) => {
    await during(claim('before'));
    const copy = readFileSync(file);
    await during(claim('paid'));
    const killed = openLedger(`sqlite:${file}`, SECRETS);
    await work(killed);
    const left = await killBeside(killed, copy);
    const reopened = openLedger(`sqlite:${left}`, SECRETS);
    const paid = await reopened.claim('p', 'paid', 'h').catch((error: unknown) => error);
    expect(paid).not.toBeNull();
    await reopened.close();
    // Another store in the same file has no look at the log.
    await openDocuments(`sqlite:${left}`).close();
    expect(await during(claim('paid'), left).catch((error: unknown) => error)).not.toBeNull();
  });

  /** A gateway with a secret of its own, which is given what it needs by `openSecret`. */
  async function ofOwnSecret<T>(work: (ledger: Ledger) => Promise<T>, at: string): Promise<T> {
    const ledger = openLedger(`sqlite:${at}`, { current: openSecret(`sqlite:${at}`, undefined) });
    try {
      return await work(ledger);
    } finally {
      await ledger.close();
    }
  }
  const LOST: readonly string[] = ['', '-wal', '-shm', '-newest', '.secret'];
  const subsets = Array.from({ length: 2 ** LOST.length }, (_, bits) =>
    LOST.filter((_, i) => (bits & (1 << i)) !== 0),
  );
  const ways = [
    ['removed', (at: string) => rmSync(at, { force: true })],
    ['emptied', (at: string) => existsSync(at) && writeFileSync(at, '')],
  ] as const;
  /** The files of a gateway that was killed after it gave these keys away, in a folder. */
  async function leaveKilled(...keys: readonly string[]): Promise<string> {
    const left = join(folder, 'killed');
    mkdirSync(left);
    const running = openLedger(`sqlite:${file}`, { current: openSecret(`sqlite:${file}`, undefined) });
    for (const key of keys) expect(await running.claim('p', key, 'h')).toBeNull();
    for (const suffix of LOST) copyFileSync(`${file}${suffix}`, join(left, `gateway.db${suffix}`));
    await running.close();
    return left;
  }

  it.each(
    ways,
  )('tells which keys were paid, or that it is lost, whichever files of a killed gateway are %s', async (_, lose) => {
    const left = await leaveKilled('paid first', 'paid last');
    const unnoticed: string[] = [];
    for (const subset of subsets) {
      const at = join(folder, `lost ${subset.join(' ')}`, 'gateway.db');
      cpSync(left, dirname(at), { recursive: true });
      for (const suffix of subset) lose(`${at}${suffix}`);
      for (const key of ['paid first', 'paid last']) {
        const isFree = await ofOwnSecret(
          (ledger) =>
            ledger.claim('p', key, 'h').then(
              (entry) => entry === null,
              (error: unknown) => !(error instanceof UnusableStoreError),
            ),
          at,
        );
        if (isFree) unnoticed.push(subset.join(' '));
      }
    }
    // Nothing is left that could tell.
    const everything = ['', '-wal', '-newest', '.secret'];
    expect(
      unnoticed.filter((name) => !everything.every((suffix) => name.split(' ').includes(suffix))),
    ).toEqual([]);
  });

  it.each(
    ways,
  )('is left as it is by a start that is refused, whichever files of a killed gateway are %s', async (_, lose) => {
    const left = await leaveKilled('paid');
    const refused: string[] = [];
    for (const subset of subsets) {
      const at = join(folder, `refused ${subset.join(' ')}`, 'gateway.db');
      cpSync(left, dirname(at), { recursive: true });
      for (const suffix of subset) lose(`${at}${suffix}`);
      const read = () =>
        readdirSync(dirname(at)).map((name) => [name, readFileSync(join(dirname(at), name), 'hex')]);
      const before = read();
      try {
        checkSecretFile(`sqlite:${at}`, undefined, undefined);
      } catch (error) {
        expect(error).toBeInstanceOf(WrongSecretError);
        expect(String(error)).toContain(`The file ${at}.secret is missing or empty`);
        refused.push(subset.join(' '));
        expect(read()).toEqual(before);
        // A gateway that is embedded in a program keeps no new secret either.
        openSecret(`sqlite:${at}`, undefined);
        expect(read()).toEqual(before);
        continue;
      }
      // No later step of the start refuses it for its secret.
      const checked = await ofOwnSecret((ledger) => ledger.check(), at).catch((error: unknown) => error);
      expect(checked, subset.join(' ')).not.toBeInstanceOf(WrongSecretError);
    }
    const withLedger = subsets.filter((subset) => subset.includes('.secret') && !subset.includes(''));
    expect(refused).toEqual(withLedger.map((subset) => subset.join(' ')));
  });

  it('is missed when a secret that a gateway made is all that is left, until that is accepted', async () => {
    const at = join(folder, 'left', 'gateway.db');
    await ofOwnSecret(claim('paid'), at);
    for (const suffix of ['', '-newest']) rmSync(`${at}${suffix}`);
    for (let restarts = 0; restarts < 2; restarts += 1)
      await expect(ofOwnSecret(claim('paid'), at)).rejects.toThrow(LostLedgerError);
    expect(await ofOwnSecret((ledger) => ledger.accept(), at)).toBe(true);
    expect(await ofOwnSecret(claim('next'), at)).toBeNull();
  });

  it('is missed by the gateway that made the secret, with all that a gateway keeps in the file', async () => {
    const file = join(folder, 'left by a gateway', 'gateway.db');
    const config = readConfig({ STORE_URL: `sqlite:${file}` });
    async function isReady(): Promise<unknown> {
      const gateway = createGateway({ config, upstreamUrl: 'http://127.0.0.1:9', log: testLogger() });
      const answer = await gateway.fetch(new Request('http://gateway.test/ready'));
      await gateway.close();
      return at(await answer.json(), 'checks.0.ok');
    }
    expect(await isReady()).toBe(true);
    for (const name of readdirSync(dirname(file)))
      if (name !== 'gateway.db.secret') rmSync(join(dirname(file), name));
    expect(await isReady()).toBe(false);
  });

  it('is taken for what it is when the process ended between a write and its witness', async () => {
    await during(claim('before'));
    const putBack = ['-newest', '-newest-wal', '-newest-shm'].map((suffix) => {
      const at = `${file}${suffix}`;
      const bytes = existsSync(at) ? readFileSync(at) : undefined;
      return () => (bytes === undefined ? rmSync(at, { force: true }) : writeFileSync(at, bytes));
    });
    await during(claim('paid'));
    for (const put of putBack) put();
    expect(await during(claim('paid'))).toMatchObject({ state: 'pending' });
    expect(await during(claim('next'))).toBeNull();
  });

  it('is taken for what it is in another folder, with the file that says how new it is', async () => {
    await during(claim('paid'));
    const moved = join(folder, 'moved');
    mkdirSync(moved);
    for (const name of readdirSync(folder).filter((name) => name.startsWith('gateway.db')))
      renameSync(join(folder, name), join(moved, name));
    expect(await during(claim('paid'), join(moved, 'gateway.db'))).toMatchObject({ state: 'pending' });
    expect(await during(claim('next'), join(moved, 'gateway.db'))).toBeNull();
  });

  it('is missed when an older copy is put back, however many gateways wrote to it at once', async () => {
    const ledgers = Array.from({ length: 4 }, () => openLedger(`sqlite:${file}`, SECRETS));
    await Promise.all(ledgers.map((ledger) => ledger.check()));
    const copy = openSqlite(file);
    const claims = ledgers.flatMap((ledger, i) =>
      Array.from({ length: 25 }, async (_, n) => {
        if (i === 3 && n === 24) copy.exec(`VACUUM INTO '${folder}/copy.db'`);
        return ledger.claim('p', `${i}.${n}`, 'h');
      }),
    );
    expect((await Promise.all(claims)).every((claimed) => claimed === null)).toBe(true);
    expect(await ledgers[0]?.claim('p', 'last', 'h')).toBeNull();
    copy.close();
    await Promise.all(ledgers.map((ledger) => ledger.close()));
    remove();
    renameSync(join(folder, 'copy.db'), file);
    await expect(during(claim('last'))).rejects.toThrow(LostLedgerError);
  });
});

describe('STORE_URL', () => {
  it('memory: keeps nothing', async () => {
    const ledger = openLedger('memory:', SECRETS);
    expect(await ledger.claim('p', 'k', 'h')).toBeNull();
    await ledger.close();
    expect(await peek(openLedger('memory:', SECRETS), 'p', 'k')).toBeNull();
  });

  it('is refused in any other form', () => {
    expect(() => openLedger('postgres://x', SECRETS)).toThrow(/LEDGER_URL/);
  });
});
