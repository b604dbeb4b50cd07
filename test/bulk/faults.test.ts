// Bulk look-ups over a service, or a proxy before it, that answers what it should not.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { openDatabase } from '../../src/store/sqlite-file.ts';
import { at } from '../support.ts';
import { HASH, inTurn, type Liar, openLiar, openPlace, type Place, says } from '../upstream/liar.ts';

let liar: Liar;
let place: Place;
beforeAll(async () => {
  liar = await openLiar();
});
afterAll(() => liar.close());
beforeEach(() => {
  liar.reset();
  place = openPlace(liar.url);
});
afterEach(() => place.gateway.close());

const HTML = says(404, '<html>not found</html>');
const JOB = { status: 'pending', job_id: 'j1' };
const start = (at = place) =>
  at.query(`mutation { it: startBulkLookup(input: { hashes: ["${HASH}"] }) {
    __typename ... on Problem { message hint } ... on BulkLookup { lookupId parts { state problem } } } }`);
const PART = 'query ($id: ID!) { it: bulkLookup(lookupId: $id) { state parts { state url problem } } }';
const read = async (id: unknown) => at((await place.query(PART, { id })).data, 'it');
const sent = (operation: string): number => liar.seen.filter((call) => call.operation === operation).length;

it('404 of a server without the Atlas says which setting is wrong', async () => {
  liar.script('bulk', HTML);
  const { errors } = await start();
  expect(errors?.[0]).toMatchObject({
    message: expect.stringMatching(/HTTP 404.*UPSTREAM_URL.*UPSTREAM_ATLAS_PREFIX/),
    extensions: { code: 'UPSTREAM_DRIFT' },
  });
});

it('404 of a proxy in place of a job does not expire its part', async () => {
  const job = { ...JOB, status: 'completed', download_url: `${liar.url}/files/1` };
  await place.query(`{ protein(hash: "${HASH}") { header } }`);
  liar.script('bulk', says(202, JOB));
  liar.script('bulkJob', says(200, job));
  const id = at((await start()).data, 'it.lookupId');
  liar.script('bulkJob', HTML);
  expect(at(await read(id), 'parts.0')).toMatchObject({ state: 'UNKNOWN', problem: expect.any(String) });
  const download = () => place.get(`/bulk/${id}/0.zip`);
  expect((await download()).status).toBeGreaterThanOrEqual(502);
  liar.script('bulkJob', says(410, {}));
  expect((await download()).status).toBe(410);
  expect(at(await read(id), 'state')).toBe('EXPIRED');
  expect(sent('bulk')).toBe(1);
});

it('a job that is complete and has no address makes its part FAILED, with the reason', async () => {
  liar.script('bulk', says(202, JOB));
  liar.script('bulkJob', says(200, { ...JOB, status: 'completed' }));
  const id = at((await start()).data, 'it.lookupId');
  const reason = expect.stringMatching(/download_url.*complete.*no address/);
  expect(await read(id)).toEqual({
    state: 'FAILED',
    parts: [{ state: 'FAILED', url: null, problem: reason }],
  });
  const zip = await place.get(`/bulk/${id}/0.zip`);
  expect([zip.status, await zip.text()]).toEqual([409, reason]);
});

it('a job is not complete while it answers 202, whatever address it gives already', async () => {
  const early = { ...JOB, status: 'assembling', download_url: '/files/x.zip' };
  liar.script('bulk', says(202, JOB));
  liar.script(
    'bulkJob',
    inTurn(says(202, early), says(202, early), says(200, { ...early, status: 'completed' })),
  );
  const id = at((await start()).data, 'it.lookupId');
  expect(at(await read(id), 'parts.0')).toMatchObject({ state: 'UNKNOWN', url: null });
  expect(at(await read(id), 'parts.0')).toMatchObject({ state: 'COMPLETE', url: expect.any(String) });
});

it('a job that the service forgets when it is cancelled is CANCELLED', async () => {
  liar.script('bulk', says(202, JOB));
  liar.script('bulkJob', says(202, JOB));
  const id = at((await start()).data, 'it.lookupId');
  liar.script('bulkJob', (call) =>
    call.request.method === 'DELETE'
      ? says(204, '')(call)
      : says(404, { detail: 'There is no such job.' })(call),
  );
  const cancel =
    'mutation ($id: ID!) { it: cancelBulkLookup(lookupId: $id) { ... on BulkLookup { state } } }';
  expect((await place.query(cancel, { id })).data).toEqual({ it: { state: 'CANCELLED' } });
});

it('a cancelled job that goes on says so until it ends', async () => {
  liar.script('bulk', says(202, JOB));
  liar.script('bulkJob', (call) => says(call.request.method === 'DELETE' ? 204 : 202, JOB)(call));
  const id = at((await start()).data, 'it.lookupId');
  const cancel =
    'mutation ($id: ID!) { it: cancelBulkLookup(lookupId: $id) { ... on BulkLookup { state } } }';
  expect((await place.query(cancel, { id })).data).toEqual({ it: { state: 'CANCEL_REQUESTED' } });
  liar.script('bulkJob', says(200, { ...JOB, status: 'completed', download_url: '/files/x.zip' }));
  expect(at(await read(id), 'state')).toBe('COMPLETE');
});

it('a cancellation that fails at the service is an error, and is not noted', async () => {
  liar.script('bulk', says(202, JOB));
  liar.script('bulkJob', (call) => says(call.request.method === 'DELETE' ? 403 : 202, JOB)(call));
  const id = at((await start()).data, 'it.lookupId');
  const { data, errors } = await place.query(
    'mutation ($id: ID!) { it: cancelBulkLookup(lookupId: $id) { __typename } }',
    { id },
  );
  expect([data, errors?.[0]?.extensions.code]).toEqual([{ it: null }, 'FORBIDDEN']);
  expect(at(await read(id), 'state')).toBe('PENDING');
});

it('a look-up is forgotten after three days, and at once when the service refuses it', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'bulk-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'store.db');
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() });
  onTestFinished(() => void vi.useRealTimers());
  const own = openPlace(liar.url, { STORE_URL: `sqlite:${file}` });
  onTestFinished(() => own.gateway.close());
  liar.script('bulk', inTurn(says(403, { detail: 'not for you' }), says(202, JOB)));
  liar.script('bulkJob', says(202, JOB));
  expect(at((await start(own)).data, 'it.__typename')).toBe('Refused');
  const id = at((await start(own)).data, 'it.lookupId');
  const lifetimes = () => {
    const store = openDatabase(file, { busyMs: 10_000, synchronous: 'NORMAL' });
    const rows = store.prepare('SELECT expires_at FROM document').all();
    store.close();
    return rows
      .map((row) => Math.round((Number(row.expires_at) - Date.now()) / 60_000))
      .sort((a, b) => a - b);
  };
  expect(lifetimes()).toEqual([2, 3 * 24 * 60]);
  vi.setSystemTime(Date.now() + 3 * 24 * 3_600_000 + 1000);
  expect((await own.query(PART, { id })).data).toEqual({ it: null });
});

it('sends nothing while the store is full, and cancels a look-up all the same', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'bulk-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'store.db');
  const own = openPlace(liar.url, { STORE_URL: `sqlite:${file}` });
  onTestFinished(() => own.gateway.close());
  liar.script('bulk', says(202, JOB));
  liar.script('bulkJob', (call) =>
    call.request.method === 'DELETE' ? says(204, '')(call) : says(200, { ...JOB, status: 'cancelled' })(call),
  );
  const id = at((await start(own)).data, 'it.lookupId');
  const store = openDatabase(file, { busyMs: 10_000, synchronous: 'NORMAL' });
  store.exec(
    `CREATE TRIGGER full BEFORE INSERT ON document BEGIN SELECT RAISE(FAIL, 'database or disk is full'); END`,
  );
  store.close();
  expect((await start(own)).data).toMatchObject({
    it: { __typename: 'Refused', message: expect.stringContaining('store accepts no writes') },
  });
  expect(sent('bulk')).toBe(1);
  const cancelled = await own.query(
    'mutation ($id: ID!) { it: cancelBulkLookup(lookupId: $id) { __typename ... on BulkLookup { state } } }',
    { id },
  );
  expect(cancelled).toEqual({ data: { it: { __typename: 'BulkLookup', state: 'CANCELLED' } } });
});
