// A service that sends gigabytes, or byte by byte: how much of it the gateway takes, and for how
// long, is bounded by what was asked.
import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { at } from '../support.ts';
import { compressible, type Hostile, type Member, openHostile, pour, zipPieces } from './hostile.ts';
import { openPlace, type Place } from './liar.ts';

const MB = 1_000_000;
const GB = 1000 * MB;
const md5 = (text: string): string => createHash('md5').update(text).digest('hex');
/** Proteins of one residue each. */
const [A, B, C] = [md5('A'), md5('C'), md5('D')];

let hostile: Hostile;
let place: Place;
let impatient: Place;
/** Long before the deadline of the request. */
const SOON = { timeout: 90_000 };
let rss = 0;
let before = 0;

beforeAll(async () => {
  hostile = await openHostile();
  place = openPlace(hostile.url, { REQUEST_TIMEOUT_MS: '110000' }, { limits: { responseCacheBytes: 0 } });
  impatient = openPlace(hostile.url, { REQUEST_TIMEOUT_MS: '110000', UPSTREAM_TIMEOUT_FACTOR: '0.02' });
});
afterAll(async () => {
  await place.gateway.close();
  await impatient.gateway.close();
  await hostile.close();
});
afterEach(() => hostile.reset());

/** Counts the bytes that are taken from now on. */
const begin = (): void => {
  before = hostile.sent;
  rss = process.memoryUsage.rss();
};
const taken = (): number => hostile.sent - before;

/** How a body ends. */
const readEnd = (response: Response): Promise<string> =>
  response.arrayBuffer().then(
    (bytes) => `${bytes.byteLength} bytes`,
    () => 'cut off',
  );

/** Reading ends, and what it took stays below these bounds. */
async function isOver(most: number): Promise<void> {
  let last = taken();
  const isStill = async (): Promise<boolean> => {
    await sleep(300);
    const now = taken();
    const still = now === last;
    last = now;
    return still;
  };
  await expect.poll(isStill, { interval: 1 }).toBe(true);
  expect(taken()).toBeLessThan(most);
  expect(process.memoryUsage.rss() - rss).toBeLessThan(500 * MB);
}

const PDB =
  'REMARK ptm 0.5\nATOM      1  CA  ALA A   1      11.104   6.134  -6.504  1.00  0.90           C\n';
const structure = (hash: string): Member => ({
  name: `structures/${hash}.pdb`,
  size: 3000,
  block: Buffer.from(PDB),
});
const zeros = compressible(1024 * 1024, '\n');
const noise = Buffer.from(Array.from({ length: 1024 * 1024 }, (_, i) => (i * 2654435761) >>> 13));

const archive =
  (members: readonly Member[]) =>
  (response: Parameters<typeof pour>[0]): void => {
    response.writeHead(200, { 'content-type': 'application/zip' });
    void pour(response, zipPieces(members));
  };

const BULK = `{ proteins(hashes: ["${A}", "${B}"]) { hash structure { text } } limits { maxItems } }`;

describe('an archive with gigabytes in a member', () => {
  const huge: readonly (readonly [string, Member])[] = [
    ['of a protein nobody asked for', { ...structure(C), size: 3 * GB, block: zeros }],
    ['that says it is small', { ...structure(C), size: 3 * GB, block: zeros, saidSize: 3000 }],
    ['that does not say how large it is', { ...structure(C), size: 3 * GB, block: zeros, streamed: true }],
    ['not compressed', { ...structure(C), size: 3 * GB, block: noise, stored: true }],
    ['of features', { name: 'features.json', size: 3 * GB, block: Buffer.from('{"a":'.padEnd(1024 * 1024)) }],
    ['of something else', { name: 'readme.txt', size: 3 * GB, block: zeros }],
  ];

  const wholly: readonly (readonly [string, Member])[] = [
    ...huge,
    ['of a protein that was asked for', { ...structure(B), size: 3 * GB, block: zeros }],
  ];

  it.each(wholly)('%s is given up: a single record answers, or it is drift', async (_, member) => {
    hostile.answer('/proteins/batch', archive([structure(A), member]));
    for (const [hash, sequence, residue] of [
      [A, 'A', 'ALA'],
      [B, 'C', 'CYS'],
    ] as const)
      hostile.answer(`/proteins/${hash}`, (response) => {
        const record = { protein_hash: hash, sequence, sae_features: [], pdb: PDB.replace('ALA', residue) };
        response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(record));
      });
    begin();
    const { data, errors = [] } = await place.query(BULK);
    for (const i of [0, 1]) {
      const text = at(data, `proteins.${i}.structure.text`);
      const error = errors.find(({ path }) => path?.[1] === i);
      if (error === undefined) expect(text).toContain('ATOM');
      else expect(error.extensions.code).toBe('UPSTREAM_DRIFT');
    }
    expect(at(data, 'limits.maxItems')).toBe(2000);
    await isOver(60 * MB);
    await expect.poll(() => hostile.open, SOON).toBe(0);
  });

  it('holds no more than was asked for, also in hundreds of members', async () => {
    const many = Array.from({ length: 300 }, (_, i) => structure(String(i).padStart(32, '0')));
    const large = many.map((member) => ({ ...member, size: 12 * MB, block: noise, stored: true }));
    hostile.answer('/proteins/batch', archive([structure(A), ...large, structure(B)]));
    begin();
    await place.query(BULK);
    await isOver(60 * MB);
  });

  it('is cut off in a download of a part, too', async () => {
    hostile.answer(
      '/proteins/batch',
      archive([structure(A), { ...structure(C), size: 3 * GB, block: noise, stored: true }]),
    );
    const started = await place.query(
      `mutation { startBulkLookup(input: {hashes: ["${A}", "${B}"]}) { ... on BulkLookup { lookupId state } } }`,
    );
    expect(at(started.data, 'startBulkLookup.state')).toBe('COMPLETE');
    const lookupId = String(at(started.data, 'startBulkLookup.lookupId'));
    begin();
    const response = await place.get(`/bulk/${lookupId}/0.zip`);
    expect(await readEnd(response)).toBe('cut off');
    await isOver(60 * MB);
  });
});

function* times(count: number, piece: Buffer): Generator<Buffer> {
  for (let i = 0; i < count; i += 1) yield piece;
}

/** JSON that begins well and never ends. */
const endless =
  (start: string, more: string) =>
  (response: Parameters<typeof pour>[0]): void => {
    response.writeHead(200, { 'content-type': 'application/json' });
    const piece = Buffer.alloc(1024 * 1024, more);
    void pour(
      response,
      (function* () {
        yield Buffer.from(start);
        for (let sent = 0; sent < 3 * GB; sent += piece.length) yield piece;
      })(),
    );
  };

/** Answers of the Batch API for one task that is done: its result is the file at an address. */
function answerFold(batchId: string, taskId: string, file: string): void {
  const answer = (data: object) => (response: Parameters<typeof pour>[0]) =>
    void response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ status: 'success', data, request_id: 'r' }));
  hostile.answer(
    '/submit',
    answer({ message: 'queued', batch_id: batchId, total_items: 1, task_id: taskId }),
  );
  hostile.answer('/status', answer({ status: 'done', response: file }));
}

describe('JSON without end', () => {
  it.each([
    ['a protein', `/proteins/${A}`, `protein(hash: "${A}") { sequence }`, '{"sequence":"', 100],
    ['an entry', '/uniprot/P01308', 'uniprotEntry(id: "P01308") { name }', '{"name":"', 10],
    [
      'a cluster',
      `/clusters/${A}`,
      `cluster(hash: "${A}") { memberHashes }`,
      '{"member_protein_hashes":["',
      40,
    ],
    ['a feature', '/features/3', 'feature(index: 3) { summary }', '{"summary":"', 10],
    [
      'a search, in what is dropped of it',
      '/similarity-search',
      'similarProteins(sequence: "MKTAYIAKQR", first: 2) { queryHash }',
      '{"similar_proteins":[{"pdb":"',
      30,
    ],
    ['a batch', '/list', 'batch(batchId: "b1") { status }', '{"data":{"status":"', 80],
    ['a task', '/status', 'task(taskId: "b1-00000") { status }', '{"data":{"status":"', 60],
  ])('is given up in the answer of %s', async (_, path, field, start, megabytes) => {
    hostile.answer(path, endless(start, 'x'));
    begin();
    const { data, errors } = await place.query(`{ it: ${field} limits { maxItems } }`);
    expect(errors).toMatchObject([{ path: ['it'], extensions: { code: 'UPSTREAM_DRIFT' } }]);
    // A search is never null.
    if (data !== null) expect(at(data, 'limits.maxItems')).toBe(2000);
    await isOver(megabytes * MB);
  });

  it('is given up in a refusal', async () => {
    hostile.answer('/uniprot/P01308', (response) => {
      response.writeHead(422, { 'content-type': 'application/json' });
      void pour(response, times(3000, Buffer.alloc(MB, 'x')));
    });
    begin();
    const { errors } = await place.query('{ uniprotEntry(id: "P01308") { name } }');
    expect(errors).toHaveLength(1);
    await isOver(10 * MB);
  });

  it('is given up in a result', async () => {
    answerFold('b7', 't7', '/files/result.json');
    hostile.answer('/files/result.json', endless('{"pae":[', '[1,2,3],'));
    await place.query(
      'mutation { submitFold(input: {items: [{chains: [{protein: {sequence: "MKTAYIAKQR"}}]}]}) { __typename } }',
    );
    begin();
    const { errors } = await place.query('{ task(taskId: "t7") { result { ptm } } }');
    expect(errors?.[0]?.extensions.code).toBe('UPSTREAM_DRIFT');
    await isOver(300 * MB);
  });

  it('is refused in a result with millions of rows before they are read', async () => {
    answerFold('b9', 't9', '/files/rows.json');
    hostile.answer('/files/rows.json', (response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      void pour(
        response,
        [`{"ptm":0.5,"pae":[${'[],'.repeat(1_000_000)}[]]}`].map((text) => Buffer.from(text)),
      );
    });
    await place.query(
      'mutation { submitFold(input: {items: [{chains: [{protein: {sequence: "MKTAYIAKQR"}}]}]}) { __typename } }',
    );
    const { errors } = await place.query('{ task(taskId: "t9") { result { ptm pae { max } } } }');
    expect(errors?.[0]?.extensions.code).toBe('UPSTREAM_DRIFT');
  });

  it('is told from a large result, which is read whole where ligands have a row for each atom', async () => {
    const [copies, atoms] = [60, 50];
    answerFold('b8', 't8', '/files/ligands.json');
    const all = Array.from({ length: copies * atoms }, (_, k) => k);
    const row = `[${all.map(() => '12.25').join()}]`;
    const complex = {
      sequence: Array(copies).fill('LIG'),
      atom_positions: all.map((k) => [k, 0, 0]),
      atom_elements: all.map(() => 'C'),
      atom_names: all.map((k) => `C${k % atoms}`),
      token_to_atoms: Array.from({ length: copies }, (_, k) => [k * atoms, (k + 1) * atoms]),
      chain_id: Array.from({ length: copies }, (_, k) => k),
    };
    hostile.answer('/files/ligands.json', (response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      const start = `{"ptm":0.5,"complex":${JSON.stringify(complex)},"pae":[`;
      void pour(
        response,
        [start, ...all.map((k) => (k === 0 ? row : `,${row}`)), ']}'].map((text) => Buffer.from(text)),
      );
    });
    const ids = JSON.stringify(Array.from({ length: copies }, (_, k) => `L${k}`));
    const ligand = `{ ids: ${ids}, smiles: "${'C'.repeat(atoms)}" }`;
    await place.query(
      `mutation { submitFold(input: {items: [{chains: [{ligand: ${ligand}}]}]}) { __typename } }`,
    );
    const { data, errors } = await place.query(
      '{ task(taskId: "t8") { result { ptm pae { size block(maxPoints: 1) { values } } } } }',
    );
    expect(errors).toBeUndefined();
    expect(at(data, 'task.result')).toEqual({
      ptm: 0.5,
      pae: { size: copies, block: { values: [[12.25]] } },
    });
  });
});

describe('byte by byte', () => {
  const drip = (response: Parameters<typeof pour>[0], text: string): void => {
    let sent = 0;
    const timer = setInterval(() => response.write(text[sent++ % text.length] ?? ' '), 20);
    response.on('close', () => clearInterval(timer));
  };

  it('the head of an answer is not waited for beyond the limit of its operation', async () => {
    hostile.answer('/uniprot/P01308', (response) => {
      const timer = setInterval(() => response.socket?.write('x-more: 1\r\n'), 20);
      response.socket?.write('HTTP/1.1 200 OK\r\n');
      response.socket?.on('close', () => clearInterval(timer));
    });
    const { errors } = await impatient.query('{ uniprotEntry(id: "P01308") { name } }');
    expect(errors?.[0]?.extensions.code).toBe('UPSTREAM_TIMEOUT');
    await expect.poll(() => hostile.open, SOON).toBe(0);
  });

  it('a file is not passed on: a slow client is waited for, a slow service is not', async () => {
    hostile.answer(
      '/status',
      (response) =>
        void response
          .writeHead(200, { 'content-type': 'application/json' })
          .end('{"data":{"status":"done","response":"/files/result.json"}}'),
    );
    hostile.answer('/files/result.json', (response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      drip(response, '{}');
    });
    const file = await impatient.get('/tasks/b1-00000/result.json');
    expect(await readEnd(file)).toBe('cut off');
    await expect.poll(() => hostile.open, SOON).toBe(0);

    hostile.answer('/files/result.json', (response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      void pour(response, times(20, Buffer.alloc(MB, ' ')));
    });
    const slowly = await impatient.get('/tasks/b1-00000/result.json');
    await sleep(1200);
    expect((await slowly.arrayBuffer()).byteLength).toBe(20 * MB);
  });
});
