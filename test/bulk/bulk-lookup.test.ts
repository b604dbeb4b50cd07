// Bulk look-ups over a sandbox whose clock is held: a stored list of jobs, whose state is read when
// it is asked for.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { unzipSync } from 'fflate';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { JOB_LIMITS } from '../../sandbox/src/atlas/bulk-jobs.ts';
import { ManualClock } from '../../sandbox/src/clock.ts';
import { type Sandbox, startSandbox } from '../../sandbox/src/sandbox.ts';
import { DIALECTS } from '../../sandbox/src/wire/conventions.ts';
import type { Gateway } from '../../src/gateway.ts';
import {
  ask,
  endedLookup,
  fault,
  get,
  KNOWN,
  openGateway,
  readLookup,
  run,
  startLookup,
  unknownHash,
} from '../subscriptions/support.ts';
import { at, listAt } from '../support.ts';

const LIGHT = { structure: false, residueFeatures: false, topFeatures: 3 };
const clock = new ManualClock(Date.now());
const seen: { operation: string; body: string; path: string }[] = [];
let sandbox: Sandbox;
let gateway: Gateway;
let running: { stop(): void } | undefined;

beforeAll(async () => {
  sandbox = await startSandbox({ size: 'small', clock, control: true, onRequest: (call) => seen.push(call) });
});
afterAll(() => sandbox.close());
beforeEach(() => {
  seen.length = 0;
  gateway = openGateway(sandbox.url);
});
afterEach(async () => {
  running?.stop();
  running = undefined;
  await gateway.close();
  await fetch(`${sandbox.url}/control/faults`, { method: 'DELETE' });
});

const count = (operation: string): number => seen.filter((call) => call.operation === operation).length;
const many = (size: number, from = 0): string[] => [
  ...KNOWN,
  ...Array.from({ length: size - KNOWN.length }, (_, i) => unknownHash(from + i)),
];
const namesIn = async (zip: Response): Promise<string[]> =>
  Object.keys(unzipSync(new Uint8Array(await zip.arrayBuffer()))).sort();
const CANCEL = `mutation($id: ID!) { cancelBulkLookup(lookupId: $id) {
  ... on BulkLookup { state completedCount parts { state completedCount url } } } }`;

describe('a look-up that the service answers at once', () => {
  it('is complete, and its archive is asked for again when it is downloaded', async () => {
    const [first = '', second = ''] = KNOWN;
    const hashes = [second, ` ${first.toUpperCase()} `, unknownHash(1), second];
    const lookup = await startLookup(gateway, { ...LIGHT, structure: true, hashes });
    expect(lookup).toMatchObject({
      __typename: 'BulkLookup',
      state: 'COMPLETE',
      requestedCount: 3,
      completedCount: 3,
      parts: [{ state: 'COMPLETE', jobId: null, requestedCount: 3, completedCount: 3, problem: null }],
    });
    expect(JSON.parse(seen[0]?.body ?? '')).toEqual({
      protein_hashes: [second, first, unknownHash(1)],
      topk_features: 3,
      include_structure: true,
      include_cluster_info: true,
      include_sequence: true,
      include_features: { protein_level: true, per_residue: false },
    });
    const zip = await get(gateway, at(lookup, 'parts.0.url'));
    expect([zip.status, zip.headers.get('content-type')]).toEqual([200, 'application/zip']);
    expect(zip.headers.get('content-disposition')).toMatch(
      /^attachment; filename="foldatlas-proteins-\d{4}-\d\d-\d\d-part0\.zip"$/,
    );
    expect(await namesIn(zip)).toEqual(
      [
        'cluster_info.json',
        'features.json',
        'sequences.fasta',
        `structures/${first}.pdb`,
        `structures/${second}.pdb`,
      ].sort(),
    );
    expect([count('bulk'), seen[1]?.body]).toEqual([2, seen[0]?.body]);
  });

  it('is a node', async () => {
    const lookup = await startLookup(gateway, { ...LIGHT, hashes: KNOWN.slice(0, 1) });
    const { data } = await ask(
      gateway,
      'query($id: ID!) { node(id: $id) { __typename id ... on BulkLookup { lookupId state } } }',
      { id: at(lookup, 'id') },
    );
    expect(data).toEqual({
      node: {
        __typename: 'BulkLookup',
        id: at(lookup, 'id'),
        lookupId: at(lookup, 'lookupId'),
        state: 'COMPLETE',
      },
    });
    expect(String(at(lookup, 'lookupId'))).toMatch(/^[\w-]{24}$/);
  });
});

describe('a look-up that cannot be started', () => {
  it('is refused with every mistake, and nothing is sent', async () => {
    expect(
      await startLookup(gateway, {
        hashes: [],
        topFeatures: 0,
        structure: false,
        clusterInfo: false,
        sequence: false,
        proteinFeatures: false,
        residueFeatures: false,
      }),
    ).toMatchObject({
      __typename: 'InvalidInput',
      issues: [
        { path: 'hashes', code: 'TOO_FEW' },
        { path: 'topFeatures', code: 'OUT_OF_RANGE' },
        { path: '', code: 'NOTHING_ASKED' },
      ],
    });
    const tooMany = Array.from({ length: 50_001 }, (_, i) => unknownHash(i));
    expect(await startLookup(gateway, { hashes: tooMany }, { authorization: 'Bearer large' })).toMatchObject({
      issues: [{ path: 'hashes', code: 'TOO_MANY' }],
    });
    const { errors } = await ask(
      gateway,
      'mutation($h: [ProteinHash!]!) { startBulkLookup(input: { hashes: $h }) { __typename } }',
      { h: ['not a hash'] },
    );
    expect(errors?.[0]?.extensions.code).toBe('BAD_USER_INPUT');
    expect(seen).toEqual([]);
  });

  it('says what the service refused', async () => {
    await fault(sandbox.url, { operation: 'bulk', status: 403, body: { detail: 'not for you' } });
    expect(await startLookup(gateway, { ...LIGHT, hashes: KNOWN.slice(0, 2) })).toMatchObject({
      __typename: 'Refused',
      reason: 'FORBIDDEN',
      message: 'not for you',
      retryable: false,
    });
  });

  it('is an error when the service fails', async () => {
    await fault(sandbox.url, { operation: 'bulk', status: 503, times: 20 });
    const { data, errors } = await ask(
      gateway,
      'mutation($h: [ProteinHash!]!) { startBulkLookup(input: { hashes: $h }) { __typename } }',
      { h: KNOWN.slice(0, 2) },
    );
    expect([data, errors?.[0]?.extensions.code]).toEqual([{ startBulkLookup: null }, 'UPSTREAM_UNAVAILABLE']);
  });
});

describe('a look-up of several jobs', () => {
  it('is sent as one call for each 500 hashes, and read as one call for each job, when it is asked for', async () => {
    const hashes = many(5000);
    const lookup = await startLookup(gateway, { ...LIGHT, hashes });
    const id = at(lookup, 'lookupId');
    expect(lookup).toMatchObject({ state: 'PENDING', requestedCount: 5000, completedCount: 0 });
    const sent = seen.filter(({ operation }) => operation === 'bulk');
    expect(sent.flatMap(({ body }) => JSON.parse(body).protein_hashes).sort()).toEqual(hashes.toSorted());
    expect([sent.length, count('bulkJob')]).toEqual([10, 10]);
    const pending = await get(gateway, `http://gateway.test/bulk/${id}/0.zip`);
    expect([pending.status, pending.headers.get('retry-after')]).toEqual([409, '5']);

    clock.advance(300 * JOB_LIMITS.msPerProtein);
    seen.length = 0;
    expect(await readLookup(gateway, id)).toMatchObject({ state: 'PENDING', completedCount: 3000 });
    clock.advance(300 * JOB_LIMITS.msPerProtein);
    expect(await readLookup(gateway, id)).toMatchObject({ state: 'COMPLETE', completedCount: 5000 });
    expect(seen.map(({ operation }) => operation)).toEqual(Array.from({ length: 20 }, () => 'bulkJob'));
  });

  it('has archives that are streamed from the service, with ranges, from an address that is fresh', async () => {
    const lookup = await startLookup(gateway, { ...LIGHT, hashes: many(700) });
    running = run(clock, 50);
    const ended = await endedLookup(gateway, at(lookup, 'lookupId'));
    const url = at(ended, 'parts.0.url');
    const whole = Buffer.from(await (await get(gateway, url)).arrayBuffer());
    const part = await get(gateway, url, { range: 'bytes=2-9' });
    expect([part.status, part.headers.get('content-range')]).toEqual([206, `bytes 2-9/${whole.length}`]);
    expect(Buffer.from(await part.arrayBuffer())).toEqual(whole.subarray(2, 10));
    expect((await get(gateway, url, { range: 'bytes=99999999-' })).status).toBe(416);
    for (const status of [400, 403, 410]) {
      await fault(sandbox.url, { operation: 'download', status });
      seen.length = 0;
      const again = await get(gateway, at(ended, 'parts.1.url'));
      expect([again.status, count('bulkJob'), count('download')]).toEqual([200, 2, 2]);
      expect(await namesIn(again)).toContain('sequences.fasta');
    }
    await fault(sandbox.url, { operation: 'download', status: 403, times: 2 });
    expect((await get(gateway, url)).status).toBe(503);
  });

  it('tells of a part that the service did not accept, and keeps the others', async () => {
    await fault(sandbox.url, { operation: 'bulk', status: 403, body: { detail: 'not this one' } });
    const lookup = await startLookup(gateway, { ...LIGHT, hashes: many(1200) });
    const parts = listAt(lookup, 'parts');
    expect(parts.map((part) => at(part, 'state')).sort()).toEqual(['FAILED', 'PENDING', 'PENDING']);
    expect(parts.find((part) => at(part, 'state') === 'FAILED')).toMatchObject({
      jobId: null,
      problem: 'not this one',
      url: null,
    });
    running = run(clock, 50);
    const ended = await endedLookup(gateway, at(lookup, 'lookupId'));
    expect(at(ended, 'state')).toBe('FAILED');
    const failed = listAt(ended, 'parts').findIndex((part) => at(part, 'state') === 'FAILED');
    const refused = await get(gateway, `http://gateway.test/bulk/${at(lookup, 'lookupId')}/${failed}.zip`);
    expect([refused.status, await refused.text()]).toEqual([
      409,
      'This part is FAILED and has no archive. not this one\n',
    ]);
  });

  it('keeps what is known while the service cannot be asked', async () => {
    const lookup = await startLookup(gateway, { ...LIGHT, hashes: many(700) });
    await fault(sandbox.url, { operation: 'bulkJob', status: 503, times: 20 });
    const { data, errors } = await ask(
      gateway,
      'query($id: ID!) { bulkLookup(lookupId: $id) { state completedCount requestedCount parts { state problem requestedCount } } }',
      { id: at(lookup, 'lookupId') },
    );
    const part = { state: 'UNKNOWN', problem: expect.stringContaining('503') };
    expect(data).toEqual({
      bulkLookup: {
        state: null,
        completedCount: null,
        requestedCount: 700,
        parts: [
          { ...part, requestedCount: 500 },
          { ...part, requestedCount: 200 },
        ],
      },
    });
    expect(errors?.map(({ path, extensions }) => [path?.join('.'), extensions.code])).toEqual([
      ['bulkLookup.state', 'UPSTREAM_UNAVAILABLE'],
      ['bulkLookup.completedCount', 'UPSTREAM_UNAVAILABLE'],
    ]);
  });

  it('is there after a restart of the gateway, and for another process of its store', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'bulk-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const env = { STORE_URL: `sqlite:${join(folder, 'gateway.db')}` };
    const before = openGateway(sandbox.url, env);
    const lookup = await startLookup(before, { ...LIGHT, hashes: many(700, 9000) });
    await before.close();
    const after = openGateway(sandbox.url, env);
    onTestFinished(() => after.close());
    running = run(clock, 50);
    const ended = await endedLookup(after, at(lookup, 'lookupId'));
    expect(ended).toMatchObject({ state: 'COMPLETE', completedCount: 700 });
    expect(count('bulk')).toBe(2);
    expect((await get(after, at(ended, 'parts.1.url'))).status).toBe(200);
  });

  it.each(DIALECTS)('is cancelled job by job in %s, and what was finished stays', async (dialect) => {
    const onRequest = (call: (typeof seen)[number]) => seen.push(call);
    const service = await startSandbox({ size: 'small', clock, dialect, onRequest });
    onTestFinished(() => service.close());
    await gateway.close();
    gateway = openGateway(service.url);
    const lookup = await startLookup(gateway, { ...LIGHT, hashes: many(1200, 20_000) });
    const id = at(lookup, 'lookupId');
    // The last part finishes, the others get half way.
    clock.advance(251 * JOB_LIMITS.msPerProtein);
    expect(listAt(await readLookup(gateway, id), 'parts').map((part) => at(part, 'state'))).toEqual([
      'PENDING',
      'PENDING',
      'COMPLETE',
    ]);
    const { data } = await ask(gateway, CANCEL, { id });
    const cancelled = at(data, 'cancelBulkLookup');
    expect(at(cancelled, 'state')).toBe('CANCELLED');
    const parts = listAt(cancelled, 'parts');
    expect(parts.map((part) => at(part, 'state'))).toEqual(['CANCELLED', 'CANCELLED', 'COMPLETE']);
    expect(count('bulkJobDelete')).toBe(3);
    expect(Number(at(parts[0], 'completedCount'))).toBeGreaterThanOrEqual(250);
    expect(Number(at(parts[0], 'completedCount'))).toBeLessThan(500);
    // That a cancelled job has an archive is a convention of the rich dialect.
    const address = `http://gateway.test/bulk/${id}/0.zip`;
    expect(at(parts[0], 'url')).toBe(dialect === 'rich' ? address : null);
    expect((await get(gateway, address)).status).toBe(dialect === 'rich' ? 200 : 409);
    expect((await get(gateway, at(parts[2], 'url'))).status).toBe(200);
    expect((await ask(gateway, CANCEL, { id })).data).toEqual(data);
  });

  it('says what the service has deleted', async () => {
    const lookup = await startLookup(gateway, { ...LIGHT, hashes: many(700, 40_000) });
    const id = at(lookup, 'lookupId');
    clock.advance((JOB_LIMITS.resultHours + 1) * 3_600_000);
    expect(await readLookup(gateway, id)).toMatchObject({
      state: 'EXPIRED',
      parts: [
        { state: 'EXPIRED', url: null },
        { state: 'EXPIRED', url: null },
      ],
    });
    const statuses = ['0.zip', '7.zip'].map((path) => get(gateway, `http://gateway.test/bulk/${id}/${path}`));
    expect((await Promise.all(statuses)).map(({ status }) => status)).toEqual([410, 404]);
  });
});
