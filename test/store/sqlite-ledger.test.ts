// The SQLite ledger: the contract of every ledger, and what only a file can go through (a killed process, a newer version).
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openLedger } from '../../src/store/ledger/open-ledger.ts';
import { ledgerContract } from './ledger-contract.ts';

const newFolder = () => mkdtempSync(join(tmpdir(), 'ledger-'));

ledgerContract('sqlite', async () => {
  const folder = newFolder();
  return {
    open: async (now) => openLedger(`sqlite:${folder}/deep/er/gateway.db`, { now }),
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
      const ledger = openLedger(${JSON.stringify(url)});
      await ledger.claim('p', 'k', 'h');
      const item = { name: 'n', chains: [] };
      for (let i = 0; i < 5; i++) {
        await ledger.record('p', null, { batchId: 'b' + i, label: null, model: 'm', submittedAt: Date.now(), itemCount: 1, repeat: 1, inputHash: 'h', onlyTaskId: null, origin: null }, [item]);
      }
      const dying = { get name() { process.kill(process.pid, 'SIGKILL'); return 'x'; }, chains: [] };
      await ledger.record('p', 'k', { batchId: 'half', label: null, model: 'm', submittedAt: Date.now(), itemCount: 2, repeat: 1, inputHash: 'h', onlyTaskId: null, origin: null }, [item, dying]);
    `;
    const run = spawnSync(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script]);
    expect(run.signal, run.stderr.toString()).toBe('SIGKILL');
    const ledger = openLedger(url);
    expect((await ledger.batches('p', { first: 10, after: null })).total).toBe(5);
    expect(await ledger.batch('p', 'half')).toBeNull();
    expect((await ledger.entry('p', 'k'))?.state).toBe('pending');
    await ledger.close();
  });

  it('of a newer gateway is refused, not rewritten', () => {
    const file = join(folder, 'gateway.db');
    const database = new DatabaseSync(file);
    database.exec('PRAGMA user_version = 99');
    database.close();
    expect(() => openLedger(`sqlite:${file}`)).toThrow(/newer gateway/);
  });
});

describe('STORE_URL', () => {
  it('memory: keeps nothing', async () => {
    const ledger = openLedger('memory:');
    expect(await ledger.claim('p', 'k', 'h')).toBeNull();
    await ledger.close();
    expect(await openLedger('memory:').entry('p', 'k')).toBeNull();
  });

  it('is refused in any other form', () => {
    expect(() => openLedger('postgres://x')).toThrow(/LEDGER_URL/);
  });
});
