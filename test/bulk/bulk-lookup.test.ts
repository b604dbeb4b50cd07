// Bulk look-ups from the mutation to the rows, over a sandbox whose clock is held: what is sent, how it ends, what can be downloaded.

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
  knownJobs,
  openGateway,
  readLookup,
  run,
  startLookup,
  unknownHash,
  until,
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
const rowsOf = async (response: Response): Promise<unknown[]> =>
  (await response.text())
    .trimEnd()
    .split('\n')
    .map((line): unknown => JSON.parse(line));

describe('a small look-up', () => {
  it('asks for the records that its archive lacks once, however many tables are read of it', async () => {
    running = run(clock, 50);
    const { data } = await ask(
      gateway,
      'query($h: [ProteinHash!]!) { proteins(hashes: $h) { cluster { memberHashes } } }',
      { h: KNOWN.slice(0, 12) },
    );
    const hashes = listAt(data, 'proteins').flatMap((protein) => listAt(protein, 'cluster.memberHashes'));
    const lookup = await startLookup(gateway, { ...LIGHT, ids: [...new Set(hashes)].slice(0, 160) });
    const ended = await endedLookup(gateway, at(lookup, 'lookupId'));
    const rows = await rowsOf(await get(gateway, at(ended, 'ndjsonUrl')));
    expect(rows.map((row) => at(row, 'status'))).not.toContain('UNAVAILABLE');
    const read = count('protein');
    expect(read).toBeGreaterThan(100);
    await (await get(gateway, at(ended, 'tsvUrl'))).text();
    expect(count('protein')).toBe(read);
  });

  it('is complete at once and gives its proteins as archive, JSON lines and table, in the order asked', async () => {
    const [first = '', second = ''] = KNOWN;
    const gap = unknownHash(1);
    const hashes = [second, ` ${first.toUpperCase()} `, gap, second];
    const lookup = await startLookup(gateway, { ...LIGHT, structure: true, hashes });
    expect(lookup).toMatchObject({
      __typename: 'BulkLookup',
      state: 'COMPLETE',
      requestedCount: 4,
      duplicateCount: 1,
      completedCount: 3,
      parts: [{ state: 'COMPLETE', jobId: null, requestedCount: 3, completedCount: 3, problem: null }],
    });
    expect(JSON.parse(seen[0]?.body ?? '')).toMatchObject({
      protein_hashes: [second, first, gap],
      topk_features: 3,
      include_structure: true,
      include_features: { protein_level: true, per_residue: false },
    });

    const zip = await get(gateway, at(lookup, 'parts.0.url'));
    expect(zip.status).toBe(200);
    expect(zip.headers.get('content-type')).toBe('application/zip');
    const names = Object.keys(unzipSync(new Uint8Array(await zip.arrayBuffer())));
    expect(names.sort()).toEqual(
      [
        'cluster_info.json',
        'features.json',
        'sequences.fasta',
        `structures/${first}.pdb`,
        `structures/${second}.pdb`,
      ].sort(),
    );

    const ndjson = await get(gateway, at(lookup, 'ndjsonUrl'));
    expect(ndjson.headers.get('content-disposition')).toMatch(
      /^attachment; filename="foldatlas-proteins-\d{4}-\d\d-\d\d-schema2\.ndjson"$/,
    );
    const rows = await rowsOf(ndjson);
    expect(rows.map((row) => [at(row, 'hash'), at(row, 'status')])).toEqual([
      [second, 'FOUND'],
      [first, 'FOUND'],
      [gap, 'NOT_IN_ATLAS'],
      [second, 'FOUND'],
    ]);
    const { data } = await ask(
      gateway,
      `query($h: ProteinHash!) { protein(hash: $h) { accession source length sequence ptm plddt { mean } cluster { representativeHash name size percentCharacterized } features(top: 3) { value feature { index label } } } }`,
      { h: second },
    );
    expect(rows[0]).toMatchObject({
      accession: at(data, 'protein.accession'),
      source: at(data, 'protein.source'),
      length: at(data, 'protein.length'),
      sequence: at(data, 'protein.sequence'),
      ptm: at(data, 'protein.ptm'),
      cluster: {
        representative: at(data, 'protein.cluster.representativeHash'),
        name: at(data, 'protein.cluster.name'),
        size: at(data, 'protein.cluster.size'),
        percentCharacterized: at(data, 'protein.cluster.percentCharacterized'),
      },
      features: listAt(data, 'protein.features').map((feature) => ({
        index: at(feature, 'feature.index'),
        label: at(feature, 'feature.label'),
        value: at(feature, 'value'),
      })),
    });
    expect(Number(at(rows[0], 'meanPlddt'))).toBeCloseTo(Number(at(data, 'protein.plddt.mean')), 2);
    expect((await get(gateway, at(rows[0], 'structureUrl'))).status).toBe(200);

    const tsv = await (await get(gateway, at(lookup, 'tsvUrl'))).text();
    const table = tsv
      .replace(/\n$/, '')
      .split('\n')
      .map((line) => line.split('\t'));
    expect(table.map((cells) => cells.length)).toEqual(Array.from({ length: 5 }, () => table[0]?.length));
    expect(table.map((cells) => cells.slice(1, 4))).toEqual([
      ['status', 'hash', 'accession'],
      ['FOUND', second, at(rows[0], 'accession')],
      ['FOUND', first, at(rows[1], 'accession')],
      ['NOT_IN_ATLAS', gap, ''],
      ['FOUND', second, at(rows[0], 'accession')],
    ]);
  });

  it('leaves the columns out that were not asked for', async () => {
    const lookup = await startLookup(gateway, {
      hashes: KNOWN.slice(0, 1),
      structure: false,
      clusterInfo: false,
      proteinFeatures: false,
      residueFeatures: false,
    });
    const [head] = (await (await get(gateway, at(lookup, 'tsvUrl'))).text()).split('\n');
    expect(head).toBe('requested\tstatus\thash\taccession\tsource\tlength\tsequence\tproblem');
    const [row] = await rowsOf(await get(gateway, at(lookup, 'ndjsonUrl')));
    expect(Object.keys(row as object)).toEqual([
      'requested',
      'hash',
      'status',
      'accession',
      'source',
      'length',
      'sequence',
    ]);
  });

  it('refuses what cannot be looked up, all at once, and sends nothing', async () => {
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
    expect(await startLookup(gateway, { hashes: tooMany })).toMatchObject({
      issues: [{ code: 'TOO_MANY' }],
    });
    const { errors } = await ask(
      gateway,
      'mutation($h: [ProteinHash!]!) { startBulkLookup(input: { hashes: $h }) { __typename } }',
      { h: ['not a hash'] },
    );
    expect(errors?.[0]?.extensions.code).toBe('BAD_USER_INPUT');
    expect(seen).toEqual([]);
  });

  it('says that the upstream refused, when it refuses, and forgets the look-up', async () => {
    await fault(sandbox.url, { operation: 'bulk', status: 403, body: { detail: 'not for you' } });
    const refused = await startLookup(gateway, { ...LIGHT, hashes: KNOWN.slice(0, 2) });
    expect(refused).toMatchObject({
      __typename: 'Refused',
      reason: 'FORBIDDEN',
      message: 'not for you',
      retryable: false,
    });
    const { data } = await ask(gateway, '{ bulkLookup(lookupId: "nobody") { state } }');
    expect(data).toEqual({ bulkLookup: null });
    const cancel = await ask(gateway, 'mutation { cancelBulkLookup(lookupId: "nobody") { __typename } }');
    expect(cancel.data).toEqual({ cancelBulkLookup: { __typename: 'NotFound' } });
    for (const path of ['nobody.tsv', 'nobody.ndjson', 'nobody/0.zip'])
      expect((await get(gateway, `http://gateway.test/bulk/${path}`)).status).toBe(404);
  });
});

describe('a large look-up', () => {
  it('cuts 5,000 hashes into ten parts, at most four at a time, follows the jobs and gives all rows in order', async () => {
    const hashes = many(5000);
    const lookup = await startLookup(gateway, { ...LIGHT, hashes });
    const id = at(lookup, 'lookupId');
    expect(lookup).toMatchObject({ state: 'PENDING', requestedCount: 5000, duplicateCount: 0 });
    expect(listAt(lookup, 'parts')).toHaveLength(10);
    await until('four parts to be sent', () => count('bulk') === 4);
    await until('some polls', () => count('bulkJob') > 8);
    expect(count('bulk')).toBe(4);
    const pending = await get(gateway, `http://gateway.test/bulk/${id}.tsv`);
    expect([pending.status, pending.headers.get('retry-after')]).toEqual([409, '2']);

    running = run(clock, 50);
    const ended = await endedLookup(gateway, id);
    expect(ended).toMatchObject({ state: 'COMPLETE', completedCount: 5000 });
    expect(count('bulk')).toBe(10);
    const sent = seen
      .filter(({ operation }) => operation === 'bulk')
      .flatMap(({ body }) => JSON.parse(body).protein_hashes);
    expect(sent).toEqual(hashes);

    const rows = await rowsOf(await get(gateway, at(ended, 'ndjsonUrl')));
    expect(rows.map((row) => at(row, 'hash'))).toEqual(hashes);
    expect(rows.map((row) => at(row, 'status'))).toEqual(
      hashes.map((_, i) => (i < KNOWN.length ? 'FOUND' : 'NOT_IN_ATLAS')),
    );

    const part = await get(gateway, at(ended, 'parts.0.url'), { range: 'bytes=0-3' });
    expect(part.status).toBe(206);
    expect(Buffer.from(await part.arrayBuffer()).toString('latin1')).toBe('PK\u0003\u0004');
    // An address that has expired is asked for again.
    await fault(sandbox.url, { operation: 'download', status: 403 });
    const again = await get(gateway, at(ended, 'parts.1.url'));
    expect(again.status).toBe(200);
    expect(Object.keys(unzipSync(new Uint8Array(await again.arrayBuffer())))).toContain('sequences.fasta');
  });

  it('outlives failures: lost jobs are sent again, failed reads are tried again, rate limits waited for', async () => {
    await fault(sandbox.url, { operation: 'bulk', status: 429, headers: { 'retry-after': '1' }, times: 3 });
    await fault(sandbox.url, { operation: 'bulkJob', status: 503, times: 6 });
    await fault(sandbox.url, {
      operation: 'bulkJob',
      status: 404,
      body: { detail: 'There is no such job.' },
    });
    running = run(clock, 50);
    const lookup = await startLookup(gateway, { ...LIGHT, hashes: many(150) });
    const ended = await endedLookup(gateway, at(lookup, 'lookupId'));
    expect(ended).toMatchObject({ state: 'COMPLETE', completedCount: 150, parts: [{ state: 'COMPLETE' }] });
    const accepted = count('bulk') - 3;
    expect(accepted).toBe(2);
  });

  it('survives a restart of the gateway: jobs that were sent are followed and not sent again', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'bulk-'));
    const env = { STORE_URL: `sqlite:${join(folder, 'gateway.db')}` };
    const before = openGateway(sandbox.url, env);
    const lookup = await startLookup(before, { ...LIGHT, hashes: many(2500, 9000) });
    const id = at(lookup, 'lookupId');
    await knownJobs(before, id, 4);
    await before.close();
    const after = openGateway(sandbox.url, env);
    try {
      running = run(clock, 50);
      const ended = await endedLookup(after, id);
      expect(ended).toMatchObject({ state: 'COMPLETE', completedCount: 2500 });
      expect(count('bulk')).toBe(5);
      expect(await rowsOf(await get(after, at(ended, 'ndjsonUrl')))).toHaveLength(2500);
    } finally {
      await after.close();
      rmSync(folder, { recursive: true });
    }
  });

  it.each(
    DIALECTS,
  )('cancels honestly in %s: what had finished stays, what was finished of a part can be had where the job offers it, the rest was never sent', async (dialect) => {
    const service = await startSandbox({
      size: 'small',
      clock,
      control: true,
      dialect,
      onRequest: (call) => seen.push(call),
    });
    onTestFinished(() => service.close());
    await gateway.close();
    gateway = openGateway(service.url);
    const hashes = many(3000, 20_000);
    const lookup = await startLookup(gateway, { ...LIGHT, hashes });
    const id = at(lookup, 'lookupId');
    await knownJobs(gateway, id, 4);
    // The jobs of the first parts finish; the next ones get half way.
    clock.advance(501 * JOB_LIMITS.msPerProtein);
    await until(
      'them to be found finished',
      async () => at(await readLookup(gateway, id), 'completedCount') === 2000,
    );
    await knownJobs(gateway, id, 6);
    clock.advance(251 * JOB_LIMITS.msPerProtein);
    const { data } = await ask(
      gateway,
      `mutation($id: ID!) { cancelBulkLookup(lookupId: $id) { ... on BulkLookup { state completedCount parts { state completedCount url } } } }`,
      { id },
    );
    expect(at(data, 'cancelBulkLookup.state')).toBe('CANCELLED');
    const parts = listAt(data, 'cancelBulkLookup.parts');
    expect(parts.map((part) => at(part, 'state'))).toEqual([
      ...Array.from({ length: 4 }, () => 'COMPLETE'),
      'CANCELLED',
      'CANCELLED',
    ]);
    expect(count('bulkJobDelete')).toBe(2);
    const kept = Number(at(parts[4], 'completedCount'));
    expect(kept).toBeGreaterThanOrEqual(250);
    expect(kept).toBeLessThan(500);
    expect(at(data, 'cancelBulkLookup.completedCount')).toBe(
      2000 + kept + Number(at(parts[5], 'completedCount')),
    );
    // That a cancelled job has an archive is a convention of the rich dialect.
    const address = `http://gateway.test/bulk/${id}/4.zip`;
    expect(at(parts[4], 'url')).toBe(dialect === 'rich' ? address : null);
    expect((await get(gateway, address)).status).toBe(dialect === 'rich' ? 200 : 409);
    const rows = await rowsOf(await get(gateway, `http://gateway.test/bulk/${id}.ndjson`));
    expect(rows.map((row) => at(row, 'hash'))).toEqual(hashes);
    expect(new Set(rows.slice(KNOWN.length, 2000).map((row) => at(row, 'status')))).toEqual(
      new Set(['NOT_IN_ATLAS']),
    );
    expect(new Set(rows.slice(2000).map((row) => at(row, 'status')))).toEqual(new Set(['CANCELLED']));
    // A second cancel changes nothing.
    const again = await ask(
      gateway,
      'mutation($id: ID!) { cancelBulkLookup(lookupId: $id) { ... on BulkLookup { state } } }',
      { id },
    );
    expect(at(again.data, 'cancelBulkLookup.state')).toBe('CANCELLED');
    expect(count('bulkJobDelete')).toBe(2);
  });

  it('tells gaps from proteins that do not exist when the upstream has dropped or damaged a part', async () => {
    running = run(clock, 100);
    const lookup = await startLookup(gateway, { ...LIGHT, hashes: many(700, 40_000) });
    const id = at(lookup, 'lookupId');
    await endedLookup(gateway, id);
    running.stop();
    await fault(sandbox.url, { operation: 'download', spoil: 'truncate' });
    const damaged = await rowsOf(await get(gateway, `http://gateway.test/bulk/${id}.ndjson`));
    expect(damaged).toHaveLength(700);
    expect(at(damaged[KNOWN.length], 'status')).not.toBe('NOT_IN_ATLAS');
    expect(at(damaged[699], 'status')).toBe('NOT_IN_ATLAS');
    clock.advance(25 * 3_600_000);
    expect((await get(gateway, `http://gateway.test/bulk/${id}/0.zip`)).status).toBe(410);
    expect((await get(gateway, `http://gateway.test/bulk/${id}/7.zip`)).status).toBe(404);
    expect(at(await readLookup(gateway, id), 'parts.0')).toMatchObject({
      state: 'EXPIRED',
      url: null,
      expiresAt: null,
    });
    const expired = await rowsOf(await get(gateway, `http://gateway.test/bulk/${id}.ndjson`));
    expect(expired.map((row) => at(row, 'status'))).toEqual(Array.from({ length: 700 }, () => 'EXPIRED'));
    await until('the other part to be known as expired', async () =>
      listAt(await readLookup(gateway, id), 'parts').every((part) => at(part, 'state') === 'EXPIRED'),
    );
    expect(at(await readLookup(gateway, id), 'state')).toBe('EXPIRED');
  });
});
