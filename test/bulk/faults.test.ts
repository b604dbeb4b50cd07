// Bulk look-ups over a service, or a proxy before it, that answers what it should not.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { openDatabase } from '../../src/store/sqlite-file.ts';
import { until } from '../subscriptions/support.ts';
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
const start = () =>
  place.query(`mutation { it: startBulkLookup(input: { ids: ["${HASH}"] }) {
    __typename ... on Problem { message hint } ... on BulkLookup { lookupId parts { state problem } } } }`);

it('404 of a server without the Atlas says which setting is wrong, and whom to tell', async () => {
  liar.script('bulk', HTML);
  liar.script('feature', HTML);
  expect((await start()).data).toEqual({
    it: {
      __typename: 'Refused',
      message: expect.stringMatching(/prefix of the Atlas API.*UPSTREAM_URL.*UPSTREAM_ATLAS_PREFIX/),
      hint: 'Nothing was done. Tell the operator of the gateway what the message says.',
    },
  });
});

it('404 of a proxy where the Atlas has answered is waited out', async () => {
  await place.query(`{ protein(hash: "${HASH}") { length } }`);
  liar.script('bulk', inTurn(HTML, says(202, { status: 'pending', job_id: 'j1' })));
  liar.script('bulkJob', says(202, { status: 'pending', job_id: 'j1' }));
  expect((await start()).data).toMatchObject({
    it: { __typename: 'BulkLookup', parts: [{ state: 'PENDING', problem: null }] },
  });
  expect(liar.seen.filter(({ operation }) => operation === 'bulk')).toHaveLength(2);
});

it('404 of a proxy in place of a job neither expires its part nor sends it again', async () => {
  const job = { status: 'completed', job_id: 'j1', download_url: `${liar.url}/files/1` };
  liar.script('bulk', says(202, { status: 'pending', job_id: 'j1' }));
  liar.script('bulkJob', inTurn(HTML, says(200, job), HTML, says(410, {})));
  const { data } = await start();
  const parts = async () =>
    at(
      (
        await place.query('query ($id: ID!) { it: bulkLookup(lookupId: $id) { parts { state } } }', {
          id: at(data, 'it.lookupId'),
        })
      ).data,
      'it.parts.0.state',
    );
  await until('its end', async () => (await parts()) === 'COMPLETE');
  expect(liar.seen.filter(({ operation }) => operation === 'bulk')).toHaveLength(1);
  const download = () => place.get(`/bulk/${at(data, 'it.lookupId')}/0.zip`);
  expect((await download()).status).toBe(502);
  expect(await parts()).toBe('COMPLETE');
  expect((await download()).status).toBe(410);
  expect(await parts()).toBe('EXPIRED');
});

it('nothing is stored of a look-up that the service refuses', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'bulk-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'store.db');
  const refused = openPlace(liar.url, { STORE_URL: `sqlite:${file}` });
  liar.script('bulk', says(403, { detail: 'not for you' }));
  const { data } = await refused.query(
    `mutation { it: startBulkLookup(input: { ids: ["${HASH}"] }) { __typename } }`,
  );
  expect(data).toEqual({ it: { __typename: 'Refused' } });
  const store = openDatabase(file, { busyMs: 10_000, synchronous: 'NORMAL' });
  const kept = store.prepare("SELECT key FROM document WHERE key NOT LIKE 'bulk/1/quota/%'").all();
  expect([...kept, ...store.prepare('SELECT key FROM lease').all()]).toEqual([]);
  store.close();
  await refused.gateway.close();
});

it('sequences are asked for in any case, since only they tell which proteins there are', async () => {
  liar.script('bulk', says(202, { status: 'pending', job_id: 'j1' }));
  liar.script('bulkJob', says(202, { status: 'pending', job_id: 'j1' }));
  await place.query(
    `mutation { startBulkLookup(input: { ids: ["${HASH}"], sequence: false }) { __typename } }`,
  );
  const [{ body } = {}] = liar.seen.filter(({ operation }) => operation === 'bulk');
  expect(JSON.parse(String(body))).toMatchObject({ include_sequence: true });
});

const PART = `query ($id: ID!) { it: bulkLookup(lookupId: $id) {
  completedCount parts { state problem } } }`;

it('a part whose job is lost again and again is sent four times, and has nothing', async () => {
  const job = { status: 'pending', job_id: 'j1' };
  liar.script('bulk', says(202, job));
  liar.script('bulkJob', inTurn(says(202, { ...job, completed_count: 1 }), says(410, {})));
  const id = at((await start()).data, 'it.lookupId');
  const it = async () => at((await place.query(PART, { id })).data, 'it');
  await until('its end', async () => at(await it(), 'parts.0.state') === 'FAILED');
  expect(await it()).toEqual({
    completedCount: 0,
    parts: [{ state: 'FAILED', problem: expect.stringContaining('sent 4 times') }],
  });
  expect(liar.seen.filter(({ operation }) => operation === 'bulk')).toHaveLength(4);
});

it('a look-up that has not ended in a day fails', async () => {
  const job = { status: 'pending', job_id: 'j1' };
  liar.script('bulk', says(202, job));
  liar.script('bulkJob', says(202, job));
  const id = at((await start()).data, 'it.lookupId');
  const part = async () => at((await place.query(PART, { id })).data, 'it.parts.0');
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 25 * 3_600_000 });
  onTestFinished(() => void vi.useRealTimers());
  await until('its end', async () => at(await part(), 'state') === 'FAILED');
  expect(await part()).toEqual({ state: 'FAILED', problem: expect.stringContaining('24 hours') });
});

it('a look-up is cancelled also while the store is full', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'bulk-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'store.db');
  const working = openPlace(liar.url, { STORE_URL: `sqlite:${file}` });
  const job = { status: 'pending', job_id: 'j1' };
  liar.script('bulk', says(202, job));
  liar.script('bulkJob', (call) => {
    if (call.request.method !== 'DELETE') return says(202, job)(call);
    liar.script('bulkJob', says(200, { ...job, status: 'cancelled' }));
    return says(204, '')(call);
  });
  const { data } = await working.query(
    `mutation { it: startBulkLookup(input: { ids: ["${HASH}"] }) { ... on BulkLookup { lookupId } } }`,
  );
  const store = openDatabase(file, { busyMs: 10_000, synchronous: 'NORMAL' });
  store.exec(
    `CREATE TRIGGER full BEFORE INSERT ON document BEGIN SELECT RAISE(FAIL, 'database or disk is full'); END`,
  );
  const cancelled = await working.query(
    'mutation ($id: ID!) { it: cancelBulkLookup(lookupId: $id) { __typename ... on BulkLookup { state } } }',
    { id: at(data, 'it.lookupId') },
  );
  expect(cancelled).toEqual({ data: { it: { __typename: 'BulkLookup', state: 'CANCELLED' } } });
  store.close();
  await working.gateway.close();
});

it('a cancelled job that stays pending is waited for no longer than a minute', async () => {
  const job = { status: 'pending', job_id: 'j1' };
  liar.script('bulk', says(202, job));
  liar.script('bulkJob', (call) => says(call.request.method === 'DELETE' ? 204 : 202, job)(call));
  const { data } = await start();
  const id = at(data, 'it.lookupId');
  const cancelled = await place.query(
    'mutation ($id: ID!) { it: cancelBulkLookup(lookupId: $id) { ... on BulkLookup { state } } }',
    { id },
  );
  expect(cancelled).toEqual({ data: { it: { state: 'CANCEL_REQUESTED' } } });
  const read = () => place.query('query ($id: ID!) { it: bulkLookup(lookupId: $id) { state } }', { id });
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 50_000 });
  onTestFinished(() => void vi.useRealTimers());
  await setTimeout(2_000);
  expect(at((await read()).data, 'it.state')).toBe('CANCEL_REQUESTED');
  vi.setSystemTime(Date.now() + 15_000);
  await until('its end', async () => at((await read()).data, 'it.state') === 'CANCELLED');
});

it('the end of a look-up that the store cannot hold at once is written later, and seen by other replicas', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'bulk-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'store.db');
  const env = { STORE_URL: `sqlite:${file}` };
  const working = openPlace(liar.url, env);
  const job = { status: 'completed', job_id: 'j1', completed_count: 1, total_count: 1 };
  liar.script('bulk', says(202, { ...job, status: 'pending' }));
  liar.script('bulkJob', says(200, { ...job, download_url: `${liar.url}/files/1` }));
  const store = openDatabase(file, { busyMs: 10_000, synchronous: 'NORMAL' });
  store.exec(`CREATE TRIGGER full BEFORE UPDATE ON document WHEN NEW.key LIKE 'bulk/1/progress/%'
    BEGIN SELECT RAISE(FAIL, 'database or disk is full'); END`);
  const { data } = await working.query(
    `mutation { it: startBulkLookup(input: { ids: ["${HASH}"] }) { ... on BulkLookup { lookupId } } }`,
  );
  const state = async (of: Place) =>
    at(
      (
        await of.query('query ($id: ID!) { it: bulkLookup(lookupId: $id) { state } }', {
          id: at(data, 'it.lookupId'),
        })
      ).data,
      'it.state',
    );
  await until('its end', async () => liar.seen.some(({ operation }) => operation === 'bulkJob'));
  await setTimeout(300);
  store.exec('DROP TRIGGER full');
  store.close();
  const other = openPlace(liar.url, env);
  await until('its end to be written', async () => (await state(other)) === 'COMPLETE');
  expect(await state(working)).toBe('COMPLETE');
  await working.gateway.close();
  await other.gateway.close();
});
