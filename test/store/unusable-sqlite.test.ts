// A ledger in SQLite that cannot be used: which code of SQLite is which state of the store, and
// what a caller and an operator see of a file that is damaged before or while its gateway runs.
import { copyFileSync, mkdtempSync, openSync, rmSync, statSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Sandbox, startSandbox } from '../../sandbox/src/sandbox.ts';
import { readConfig } from '../../src/config.ts';
import { createGateway, type Gateway } from '../../src/gateway.ts';
import { openLedger } from '../../src/store/ledger/open-ledger.ts';
import { openSqlite } from '../../src/store/sqlite.ts';
import { BusyStoreError, toStoreFailure } from '../../src/store/sqlite-file.ts';
import { DamagedStoreError, UnwritableDiskError } from '../../src/store/unusable-store.ts';
import { INSULIN_A, protein } from '../folding/bench.ts';
import { recorded, testLogger } from '../record.ts';
import { TOKEN } from '../subscriptions/streams.ts';
import { ask } from '../subscriptions/support.ts';
import { at, type SeenCall } from '../support.ts';

describe('the failure of a statement', () => {
  const names = [
    ...['ERROR', 'INTERNAL', 'PERM', 'ABORT', 'BUSY', 'LOCKED', 'NOMEM', 'READONLY', 'INTERRUPT', 'IOERR'],
    ...['CORRUPT', 'NOTFOUND', 'FULL', 'CANTOPEN', 'PROTOCOL', 'EMPTY', 'SCHEMA', 'TOOBIG', 'CONSTRAINT'],
    ...['MISMATCH', 'MISUSE', 'NOLFS', 'AUTH', 'FORMAT', 'RANGE', 'NOTADB'],
  ];
  const states: Readonly<Record<string, unknown>> = {
    ...{ CORRUPT: DamagedStoreError, NOTADB: DamagedStoreError, ERROR: DamagedStoreError },
    ...{ READONLY: UnwritableDiskError, IOERR: UnwritableDiskError },
    ...{ FULL: UnwritableDiskError, CANTOPEN: UnwritableDiskError },
    ...{ BUSY: BusyStoreError, LOCKED: BusyStoreError },
  };
  it.each(names)('SQLITE_%s is the state of the store that the table says, or none', (name) => {
    const code = names.indexOf(name) + 1;
    // With an extended code as well, such as SQLITE_IOERR_READ.
    for (const errcode of [code, code | (7 << 8)]) {
      const error = Object.assign(new Error(name), { errcode });
      const failure = toStoreFailure(error);
      expect(failure instanceof Error && failure.constructor).toBe(states[name] ?? Error);
      if (states[name] === undefined) expect(failure).toBe(error);
    }
  });
});

const SUBMIT = `mutation($input: SubmitFoldInput!) { submitFold(input: $input) { __typename
  ... on FoldSubmitted { replayed } ... on Problem { message hint } ... on Refused { reason retryable } } }`;
const GATEWAY_SECRET = 'a secret of a ledger that is damaged';
const LOST = {
  __typename: 'Refused',
  message: expect.stringContaining('has lost what was submitted before'),
  retryable: false,
};
const input = (idempotencyKey: string) => ({ input: { items: [protein(INSULIN_A)], idempotencyKey } });

describe('the ledger file of a gateway', () => {
  const calls: SeenCall[] = [];
  const submits = () => calls.filter(({ operation }) => operation === 'submit').length;
  let sandbox: Sandbox;
  let folder: string;
  let file: string;
  let lines: string[];
  let gateways: Gateway[];
  beforeAll(async () => {
    sandbox = await startSandbox({ size: 'small', onRequest: (call) => calls.push(call) });
  });
  afterAll(() => sandbox.close());
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'damaged-'));
    file = join(folder, 'gateway.db');
    lines = [];
    gateways = [];
  });
  afterEach(async () => {
    await Promise.all(gateways.map((gateway) => gateway.close()));
    rmSync(folder, { recursive: true });
  });

  async function open(env: Record<string, string> = { GATEWAY_SECRET }): Promise<Gateway> {
    const config = readConfig({ STORE_URL: `sqlite:${file}`, ...env });
    const log = testLogger((line) => lines.push(line));
    const options = { config, upstreamUrl: sandbox.url, log };
    const gateway = recorded(createGateway(options));
    gateways.push(gateway);
    await gateway.ready();
    return gateway;
  }
  const submit = async (gateway: Gateway, key: string) =>
    at((await ask(gateway, SUBMIT, input(key), TOKEN)).data, 'submitFold');
  /** Moves the log into the file. */
  function checkpoint(): void {
    const database = openSqlite(file);
    database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    database.close();
  }
  /** Claims keys whose pages stand in the file, and some whose pages stand in the log. */
  async function fill(): Promise<void> {
    const ledger = openLedger(`sqlite:${file}`, { current: GATEWAY_SECRET, previous: [] });
    for (let i = 0; i < 60; i += 1) {
      await ledger.claim('p', `key ${i * 7919}`, 'h'.repeat(600));
      if (i === 20 || i === 40) checkpoint();
      if (i === 20) copyFileSync(file, `${file}.old`);
    }
    await ledger.close();
  }
  const overwrite = (from: number, bytes: Buffer): void => {
    const handle = openSync(file, 'r+');
    writeSync(handle, bytes, 0, bytes.length, from);
  };
  const ways: readonly [string, () => void][] = [
    ['garbage', () => writeFileSync(file, 'no database '.repeat(10_000))],
    ['garbage behind its first page', () => overwrite(4096, Buffer.alloc(statSync(file).size - 4096, 'x'))],
    ['zeros behind its first page', () => overwrite(4096, Buffer.alloc(statSync(file).size - 4096))],
    ['an older copy of itself', () => copyFileSync(`${file}.old`, file)],
    [
      'another database',
      () => {
        const other = openSqlite(join(folder, 'other.db'));
        other.exec('CREATE TABLE other (id)');
        other.close();
        copyFileSync(join(folder, 'other.db'), file);
      },
    ],
    ['nothing', () => writeFileSync(file, '')],
  ];

  async function expectLost(gateway: Gateway): Promise<void> {
    const before = submits();
    // A key that the ledger still knows may be replayed.
    const paid = await submit(gateway, 'paid');
    expect(paid).toMatchObject(at(paid, 'replayed') === true ? {} : LOST);
    expect(await submit(gateway, 'another')).toMatchObject(LOST);
    expect(submits()).toBe(before);
    const response = await gateway.fetch(new Request('http://gateway.test/ready'));
    expect(response.status).toBe(503);
    expect(await response.text()).toMatch(/foldatlas accept-ledger/);
    expect(await gateway.metrics.text()).toContain('foldatlas_ledger_lost 1');
    const { data, errors } = await ask(gateway, '{ uniprotEntry(id: "P01308") { protein { length } } }');
    expect([data, errors]).toEqual([{ uniprotEntry: { protein: { length: 110 } } }, undefined]);
    // Once for each state, however often it is met: the loss, and damage.
    const logged = lines.filter((line) => line.includes('"store: ledger"'));
    const told = logged.map((line) => at(JSON.parse(line), 'error'));
    expect(told.length).toBeGreaterThan(0);
    expect(new Set(told.map((text) => String(text).slice(0, 20))).size).toBe(told.length);
    for (const text of told) {
      expect(text).toContain('accept-ledger');
      expect(text).not.toMatch(/\n|\.ts:/);
    }
  }

  it.each(
    ways,
  )('that is damaged by %s while its gateway runs is lost, also after a restart', async (_, damage) => {
    await fill();
    const gateway = await open();
    expect(await submit(gateway, 'paid')).toMatchObject({ __typename: 'FoldSubmitted', replayed: false });
    damage();
    await expectLost(gateway);
    await gateway.close();
    gateways = [];
    lines = [];
    const next = await open();
    await expectLost(next);
  });

  it.each(
    ways.filter(([name]) => !/nothing|another database/.test(name)),
  )('that is damaged by %s while no gateway runs gives no key away', async (_, damage) => {
    await fill();
    damage();
    await expectLost(await open());
  });

  it('that another process holds for long is a store that does not answer, on every face', async () => {
    // Each request of a caller then writes: its data move to its present name.
    const gateway = await open({ GATEWAY_SECRET, GATEWAY_SECRET_PREVIOUS: 'a secret that was replaced' });
    const other = openSqlite(file);
    other.exec('BEGIN IMMEDIATE');
    const [asked, submitted, file_, ready] = await Promise.all([
      ask(gateway, '{ myBatches { nodes { batchId } } }', {}, TOKEN),
      submit(gateway, 'a key'),
      gateway.fetch(new Request('http://gateway.test/batches/b1/scores.tsv', { headers: TOKEN })),
      gateway.fetch(new Request('http://gateway.test/ready')),
    ]);
    other.exec('ROLLBACK');
    other.close();
    const extensions = { code: 'UPSTREAM_UNAVAILABLE', retryable: true, retryAfterSeconds: 5 };
    expect(asked.errors).toMatchObject([{ extensions }]);
    expect([submitted, file_.status, file_.headers.get('retry-after'), ready.status]).toEqual([
      ...[undefined, 503, '5', 503],
    ]);
    expect(await gateway.metrics.text()).toMatch(/foldatlas_store_errors_total\{store="ledger"\} [1-9]/);
    const logged = lines.filter((line) => line.includes('"store: ledger"'));
    expect(at(JSON.parse(logged[0] ?? '{}'), 'error')).toMatch(/^Another process holds the SQLite database/);
    expect(lines.join('')).not.toContain('INTERNAL_SERVER_ERROR');
    expect(await submit(gateway, 'a key')).toMatchObject({ __typename: 'FoldSubmitted', replayed: false });
  }, 60_000);
});
