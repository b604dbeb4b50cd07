// results.zip and scores.tsv of a batch over HTTP: their content, their upstream calls, results
// that cannot be read, and clients that disconnect.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { unzipSync } from 'fflate';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { createZipWriter } from '../../src/structure/zip-writer.ts';
import { at, listAt } from '../support.ts';
import { type Bench, INSULIN_A, INSULIN_B, openBench, protein } from './bench.ts';

let bench: Bench;
let id: string;
beforeAll(async () => {
  bench = await openBench({}, { limits: { runningTasks: 100 } });
  id = await bench.submit({
    label: 'designs – round 1',
    items: [
      {
        name: 'a/b',
        chains: [{ protein: { sequence: INSULIN_A } }, { protein: { sequence: INSULIN_B } }],
      },
      protein(INSULIN_A, 'A B'),
      protein('V'.repeat(4100), '=too long'),
      protein('MQIFVKTLTGK'),
    ],
  });
  await bench.pass(120_000);
});
afterAll(() => bench.close());
beforeEach(() => bench.forget());

const get = (file: string, batchId = id, init: RequestInit = {}, key = 'key-of-a-test') =>
  bench.gateway.fetch(
    new Request(`http://gateway.test/batches/${batchId}/${file}`, {
      ...init,
      headers: { authorization: `Bearer ${key}` },
    }),
  );
const unzip = async (response: Response) => unzipSync(new Uint8Array(await response.arrayBuffer()));
/** Waits until the gateway has noticed that a client disconnected. */
const settle = () => new Promise((resolve) => setTimeout(resolve, 300));
/** Results that the buffers on the way may hold; those of a socket hold many small ones. */
const isOverSocket = process.env.TEST_THROUGH === 'listener';
const BUFFERED = isOverSocket ? 29 : 3;
const text = (bytes: Uint8Array | undefined) => new TextDecoder().decode(bytes);
/** The files of a task without aligned errors, in their order. */
const listFiles = (name: string): string[] => [
  ...[`${name}.json`, `${name}.cif`],
  ...['confidences', 'summary_confidences'].map((kind) => `${kind}/${name}_${kind}.json`),
];
const readManifest = (files: Record<string, Uint8Array>): unknown => JSON.parse(text(files['manifest.json']));

describe('results.zip', () => {
  it('holds results and structures under the names of their items, a table and a manifest', async () => {
    const answer = await get('results.zip');
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('application/zip');
    expect(answer.headers.get('cache-control')).toBe('private, no-store');
    expect(answer.headers.get('content-disposition')).toContain('filename="designs_round_1.zip"');
    const files = await unzip(answer);
    expect(Object.keys(files)).toEqual([
      ...['a_b', 'A_B-2', 'item3'].flatMap(listFiles),
      ...['scores.tsv', 'manifest.json'],
    ]);
    // Each result is read once, for all of its files and for its scores.
    expect(bench.counts()).toEqual({ list: 1, status: 3, download: 3 });
    const single = (file: string, task: number) =>
      bench.gateway
        .fetch(
          new Request(`http://gateway.test/tasks/${id}-0000${task}/${file}`, {
            headers: { authorization: 'Bearer key-of-a-test' },
          }),
        )
        .then((response) => response.text());
    expect(text(files['a_b.json'])).toBe(await single('result.json', 0));
    expect(text(files['item3.cif'])).toBe(await single('structure.cif', 3));
    const manifest = readManifest(files);
    expect(manifest).toMatchObject({
      batchId: id,
      label: 'designs – round 1',
      isComplete: true,
      counts: { total: 4, done: 3, failed: 1 },
    });
    expect(listAt(manifest, 'tasks')[2]).toMatchObject({
      name: '=too long',
      status: 'FAILED',
      files: [],
      problem: expect.stringContaining('memory'),
    });
    expect(at(listAt(manifest, 'tasks')[0], 'files.0')).toEqual({
      name: 'a_b.json',
      bytes: files['a_b.json']?.byteLength,
    });
    expect(text(files['scores.tsv'])).toBe(await (await get('scores.tsv')).text());
  });

  it('holds only files of the best, by any score, and tells all tasks', async () => {
    const table = async (order: string) =>
      (await (await get(`scores.tsv?orderBy=${order}`)).text()).trimEnd().split('\n').slice(1);
    const name = (row = '') => String(row.split('\t')[1]);
    for (const order of ['PTM', 'PLDDT', 'NAME', 'INDEX']) {
      const rows = await table(order);
      const ranked = rows.filter((row) => /^\d/.test(row));
      expect(ranked.map((row) => row.split('\t')[0])).toEqual(['1', '2', '3']);
      const answer = await get(`results.zip?best=2&orderBy=${order}`);
      expect(answer.headers.get('content-disposition')).toContain(
        `filename="designs_round_1-best-2-by-${order}.zip"`,
      );
      expect(answer.status).toBe(200);
      const files = await unzip(answer);
      const manifest = readManifest(files);
      const listed = listAt(manifest, 'tasks');
      const archived = listed.filter((task) => listAt(task, 'files').length > 0);
      expect(archived.map((task) => String(at(task, 'name') ?? '')).sort()).toEqual(
        ranked.slice(0, 2).map(name).sort(),
      );
      expect(Object.keys(files)).toHaveLength(2 * 4 + 2);
      expect(listed).toHaveLength(4);
      expect(manifest).toMatchObject({ isComplete: true, best: 2, orderBy: order, counts: { total: 4 } });
      // The table is the same, without the names of files that are left out.
      const without = (row: string) => row.split('\t').toSpliced(-2, 1).join('\t');
      expect(text(files['scores.tsv']).trimEnd().split('\n').slice(1).map(without)).toEqual(
        rows.map(without),
      );
    }
    // All scores are stored by now: only the files of the best are read.
    bench.forget();
    await unzip(await get('results.zip?best=1'));
    expect(bench.counts()).toEqual({ list: 1, status: 1, download: 1 });
    expect(Object.keys(await unzip(await get('results.zip?best=2000&orderBy=PTM')))).toHaveLength(3 * 4 + 2);
  });

  it('refuses a number and an order that mean nothing, before it asks the service', async () => {
    for (const query of ['best=0', 'best=-1', 'best=2001', 'best=1.5', 'best=', 'best=ten', 'best=1&best=2'])
      expect([query, (await get(`results.zip?${query}`)).status]).toEqual([query, 400]);
    for (const query of [
      'orderBy=ipsae',
      'orderBy=',
      'orderBy=toString',
      'orderBy=PTM&orderBy=IPTM',
      'first=3',
    ])
      for (const file of ['results.zip', 'scores.tsv'])
        expect([query, (await get(`${file}?${query}`)).status]).toEqual([query, 400]);
    expect((await get('scores.tsv?best=1')).status).toBe(400);
    expect(bench.counts()).toEqual({});
  });

  it('is read by other programs', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'foldatlas-zip-'));
    const file = join(folder, 'results.zip');
    writeFileSync(file, Buffer.from(await (await get('results.zip')).arrayBuffer()));
    const script =
      'import sys, zipfile; z = zipfile.ZipFile(sys.argv[1]); print(z.testzip(), len(z.namelist()), *z.infolist()[0].date_time[:2])';
    const now = new Date();
    expect(execFileSync('python3', ['-c', script, file], { encoding: 'utf8' }).trim()).toBe(
      `None 14 ${now.getUTCFullYear()} ${now.getUTCMonth() + 1}`,
    );
    rmSync(folder, { recursive: true });
  });

  it('tells in its manifest what could not be read, and holds the rest', async () => {
    await bench.fault({ operation: 'download', status: 200, body: 'no JSON', times: 1 });
    const files = await unzip(await get('results.zip'));
    expect(Object.keys(files)).toHaveLength(2 * 4 + 2);
    const manifest = readManifest(files);
    expect(at(manifest, 'isComplete')).toBe(false);
    const broken = listAt(manifest, 'tasks').filter(
      (task) => at(task, 'status') === 'DONE' && at(task, 'problem') !== null,
    );
    expect(broken).toEqual([
      expect.objectContaining({ files: [], problem: expect.stringContaining('The JSON is not valid') }),
    ]);
    const [head = [], ...rows] = text(files['scores.tsv'])
      .trimEnd()
      .split('\n')
      .map((row) => row.split('\t'));
    const row = rows.find((cells) => cells[head.indexOf('task_id')] === at(broken, '0.taskId'));
    expect(row?.[head.indexOf('file')]).toBe('');
  });

  it('has a result and a manifest, also of items that are called manifest or have letters of any script', async () => {
    const own = await bench.submit({
      items: [protein('MQIFVKTLTGK', 'Manifest'), protein('MQIFVKTLTGK', '蛋白一')],
    });
    await bench.pass(60_000);
    const files = await unzip(await get('results.zip', own));
    expect(Object.keys(files)).toEqual([
      ...['Manifest-2', '蛋白一'].flatMap(listFiles),
      ...['scores.tsv', 'manifest.json'],
    ]);
    expect(readManifest(files)).toMatchObject({
      batchId: own,
      tasks: [{ name: 'Manifest' }, { name: '蛋白一' }],
    });
  });

  it('reads no faster than the client, and ends when the client leaves', async () => {
    const many = await bench.submit({
      items: Array.from({ length: 30 }, (_, i) => protein(INSULIN_A, `p${i}`)),
    });
    await bench.pass(120_000);
    bench.forget();
    const reader = (await get('results.zip', many)).body?.getReader();
    await reader?.read();
    await settle();
    expect(bench.counts().download).toBeLessThanOrEqual(BUFFERED);
    await reader?.cancel();
    await settle();
    const seen = bench.counts().download;
    await settle();
    expect(bench.counts().download).toBe(seen);
  });

  // Over a socket, archives as small as these end in its buffers.
  it.skipIf(isOverSocket)(
    'is written four times at once for a caller, and again when one of them has ended',
    async () => {
      const open = () => get('results.zip');
      const four = await Promise.all([open(), open(), open(), open()]);
      const fifth = await open();
      expect([fifth.status, fifth.headers.get('retry-after')]).toEqual([429, '30']);
      expect((await get('scores.tsv')).status).toBe(200);
      // One is left before its first piece, one in the middle, one is read to its end.
      await four[0]?.body?.cancel();
      const reader = four[1]?.body?.getReader();
      await reader?.read();
      await reader?.cancel();
      await four[2]?.arrayBuffer();
      await settle();
      const again = await Promise.all([open(), open(), open()]);
      expect(again.map(({ status }) => status)).toEqual([200, 200, 200]);
      expect((await open()).status).toBe(429);
      for (const one of [four[3], ...again]) await one?.body?.cancel();
      await settle();
      expect((await get('results.zip', id, { method: 'HEAD' })).status).toBe(200);
    },
  );

  it('lasts as long as its client stays, also behind the time of a request', async () => {
    const own = await openBench({ REQUEST_TIMEOUT_MS: '1500' }, { limits: { runningTasks: 100 } });
    onTestFinished(() => own.close());
    const batchId = await own.submit({ items: [protein(INSULIN_A), protein(INSULIN_B)] });
    await own.pass(120_000);
    await own.fault({ operation: 'download', delay_ms: 2000 });
    const open = () => own.download(`/batches/${batchId}/results.zip`);
    // A busy machine may take longer to list the tasks.
    let answer = await open();
    while (answer.status === 504) answer = await open();
    expect(at(readManifest(await unzip(answer)), 'isComplete')).toBe(true);
  });

  it('answers HEAD without reading results', async () => {
    const answer = await get('results.zip', id, { method: 'HEAD' });
    expect([answer.status, await answer.text()]).toEqual([200, '']);
    expect(bench.counts()).toEqual({ list: 1 });
  });

  it('has a reason where there is none', async () => {
    expect((await get('results.zip', 'nobody')).status).toBe(404);
    expect((await get('results.zip', id, {}, 'another-key')).status).toBe(404);
    expect((await get('results.zip', '%ff')).status).toBe(400);
    expect((await get('results.zip', id, { method: 'DELETE' })).status).toBe(405);
    await bench.control('queue', { hold: true });
    const waiting = await bench.submit({ items: [protein(INSULIN_A)] });
    const early = await get('results.zip', waiting);
    expect([early.status, await early.text()]).toEqual([
      409,
      'No task of this batch is done: 1 may follow.\n',
    ]);
    await bench.control('queue', { hold: false });
  });
});

describe('scores.tsv', () => {
  it('ranks tasks with an ipTM and says what has no scores', async () => {
    const answer = await get('scores.tsv');
    expect(answer.headers.get('content-type')).toBe('text/tab-separated-values; charset=utf-8');
    const rows = (await answer.text())
      .trimEnd()
      .split('\n')
      .map((row) => row.split('\t'));
    expect(rows.map(([rank, name, , status]) => [rank, name, status])).toEqual([
      ['rank', 'name', 'status'],
      ['1', 'a/b', 'DONE'],
      ...[expect.arrayContaining(['', 'DONE']), expect.arrayContaining(['', 'DONE'])],
      ['', "'=too long", 'FAILED'],
    ]);
    expect(Number(rows[1]?.[6])).toBeGreaterThan(1);
    expect(bench.counts()).toEqual({ list: 1 });
  });

  it('is an error while scores cannot be read', async () => {
    const fresh = await bench.submit({ items: [protein(INSULIN_B), protein(INSULIN_A)] });
    await bench.pass(120_000);
    await bench.fault({ operation: 'status', status: 503, times: 99 });
    const answer = await get('scores.tsv', fresh);
    expect(answer.status).toBe(503);
    expect(await answer.text()).toContain('ask again for the rest');
    await fetch(`${bench.sandboxUrl}/control/faults`, { method: 'DELETE' });
  });

  it('has its address in the schema, beside that of the archive', async () => {
    const { data } = await bench.ask('query($id: ID!) { batch(batchId: $id) { resultsUrl scoresUrl } }', {
      id,
    });
    expect(at(data, 'batch')).toEqual({
      resultsUrl: `http://gateway.test/batches/${id}/results.zip`,
      scoresUrl: `http://gateway.test/batches/${id}/scores.tsv`,
    });
  });
});

describe('a task without the score that is asked for', () => {
  const COMPLEX = { chains: [INSULIN_A, INSULIN_B].map((sequence) => ({ protein: { sequence } })) };
  const items = [
    { name: 'complex', ...COMPLEX, includePae: true },
    { name: 'without PAE', ...COMPLEX },
    { ...protein(INSULIN_A, 'single'), includePae: true },
    protein('V'.repeat(4100), 'fails'),
  ];

  it.each([
    ['IPTM', { complex: true, 'without PAE': true, single: false, fails: false }],
    ['IPSAE', { complex: true, 'without PAE': false, single: false, fails: false }],
    ['PTM', { complex: true, 'without PAE': true, single: true, fails: false }],
    ['PLDDT', { complex: true, 'without PAE': true, single: true, fails: false }],
    ['NAME', { complex: true, 'without PAE': true, single: true, fails: false }],
    ['INDEX', { complex: true, 'without PAE': true, single: true, fails: false }],
  ] as const)('has no rank, stands last, and is none of the best: %s', async (orderBy, expected) => {
    const id = await bench.submit({ items });
    await bench.pass(120_000);
    const ranked = Object.values(expected).filter(Boolean).length;
    const table = await (await bench.download(`/batches/${id}/scores.tsv?orderBy=${orderBy}`)).text();
    const rows = table
      .trimEnd()
      .split('\n')
      .slice(1)
      .map((row) => row.split('\t'));
    expect(rows.map(([rank]) => rank)).toEqual(items.map((_, i) => (i < ranked ? String(i + 1) : '')));
    expect(Object.fromEntries(rows.map(([rank, name]) => [name, rank !== '']))).toEqual(expected);
    const column = { IPTM: 4, PTM: 5, PLDDT: 6, IPSAE: 8, NAME: 4, INDEX: 4 }[orderBy];
    if (column !== 4 || orderBy === 'IPTM')
      for (const row of rows) expect(row[column] === '').toBe(row[0] === '');
    const answer = await bench.download(`/batches/${id}/results.zip?best=4&orderBy=${orderBy}`);
    const names = Object.keys(await unzip(answer));
    expect(names.filter((name) => name.endsWith('.cif')).toSorted()).toEqual(
      Object.entries(expected)
        .flatMap(([name, isRanked]) => (isRanked ? [`${name.replace(' ', '_')}.cif`] : []))
        .toSorted(),
    );
  });

  it.each([
    ['IPTM', /No task of this batch has an ipTM: single chains have none/],
    ['IPSAE', /No task of this batch has an ipSAE: it needs two chains and `includePae`/],
  ])('leaves nothing for an archive of the best, which says so: %s', async (orderBy, text) => {
    const id = await bench.submit({ items: [protein(INSULIN_A, 'a'), protein(INSULIN_B, 'b')] });
    await bench.pass(120_000);
    const answer = await bench.download(`/batches/${id}/results.zip?best=1&orderBy=${orderBy}`);
    expect([answer.status, await answer.text()]).toEqual([409, expect.stringMatching(text)]);
  });
});

describe('after the results have expired', () => {
  const DAYS = 24 * 3_600_000;

  it.each([
    ['by the time that List gives', true, { list: 1 }],
    // The clock of the gateway lags behind: List says nothing of results, and one Status tells.
    ['by Status of one task', false, { list: 1, status: 1 }],
  ])('says so everywhere, %s, without a call for each task', async (_, isByTime, counts) => {
    const own = await bench.submit({ items: [protein('MQIFVK', 'a'), protein('GIVEQC', 'b')] });
    await bench.pass(60_000);
    const before = (await (await get('scores.tsv', own)).text()).slice(0, -1).split('\n');
    await bench.pass(32 * DAYS);
    if (isByTime) vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 32 * DAYS });
    onTestFinished(() => void vi.useRealTimers());
    bench.forget();
    const after = (await (await get('scores.tsv', own)).text()).slice(0, -1).split('\n');
    expect(bench.counts()).toEqual(counts);
    // Scores outlive the results.
    const expected = before.slice(1).map((row) => {
      const cells = row.split('\t');
      return [...cells.slice(0, 3), 'EXPIRED', ...cells.slice(4, -2), '', ''];
    });
    expect(after.slice(1).map((row) => row.split('\t'))).toEqual(expected);
    expect(after[0]?.split('\t')).toEqual(
      expect.arrayContaining(['rank', 'name', 'status', 'file', 'problem']),
    );
    bench.forget();
    expect((await get('results.zip', own)).status).toBe(410);
    expect(bench.counts()).toEqual(counts);
    bench.forget();
    const { data } = await bench.ask(
      `query($id: ID!) { batch(batchId: $id) { status tasks { nodes { status upstreamState result { ptm } } }
        done: tasks(statuses: [DONE]) { totalCount nodes { name } }
        expired: tasks(statuses: [EXPIRED]) { totalCount nodes { name } }
        both: tasks(statuses: [EXPIRED, DONE], orderBy: NAME) { totalCount } } }`,
      { id: own },
    );
    const task = { status: 'EXPIRED', upstreamState: 'done', result: null };
    expect(at(data, 'batch')).toEqual({
      status: 'DONE',
      tasks: { nodes: [task, task] },
      done: { totalCount: 0, nodes: [] },
      expired: { totalCount: 2, nodes: [{ name: 'a' }, { name: 'b' }] },
      both: { totalCount: 2 },
    });
  });
});

describe('an archive above 4 GiB', () => {
  it('has the records of ZIP64', async () => {
    const before = 5 * 1024 ** 3;
    const zip = createZipWriter({ offset: before });
    const pieces = await zip.entry('far.txt', Buffer.from('far away'));
    const length = pieces.reduce((sum, piece) => sum + piece.byteLength, 0);
    const end = Buffer.from(zip.end());
    // The directory's entry, its extra field with the offset, and both records of the end (APPNOTE
    // 4.3.14 to 4.3.16).
    expect(end.readUInt32LE(42)).toBe(0xffff_ffff);
    expect([end.readUInt16LE(53), end.readUInt16LE(55), end.readBigUInt64LE(57)]).toEqual([
      1,
      8,
      BigInt(before),
    ]);
    const record = end.indexOf(Buffer.from([0x50, 0x4b, 6, 6]));
    expect(record).toBe(65);
    expect(end.readBigUInt64LE(record + 48)).toBe(BigInt(before + length));
    const locator = end.indexOf(Buffer.from([0x50, 0x4b, 6, 7]));
    expect(end.readBigUInt64LE(locator + 8)).toBe(BigInt(before + length + record));
    expect(end.readUInt32LE(locator + 20 + 16)).toBe(0xffff_ffff);
  });
});
