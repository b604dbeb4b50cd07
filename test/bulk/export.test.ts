// POST /export.tsv and /export.ndjson: a line for each identifier of a list, in its order, 500
// looked up at a time.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { DIALECTS } from '../../sandbox/src/wire/conventions.ts';
import { PROTEIN_COLUMNS } from '../../src/lookups/protein-columns.ts';
import { serve } from '../subscriptions/streams.ts';
import { fault, KNOWN, unknownHash, until } from '../subscriptions/support.ts';
import { at, listAt, openWorld, type World } from '../support.ts';

const INSULIN = '12e9c9e4e2835c302e8ba615115edda3';
const HBA = '6077c452d1dc6151040b2b179e2294c7';

let world: World;
beforeAll(async () => {
  world = await openWorld({}, { control: true });
});
afterAll(() => world.close());
beforeEach(() => world.forget());

type Init = Pick<RequestInit, 'method' | 'headers' | 'body'>;
const send = (path: string, body: string, init: Init = {}, gateway = world.gateway): Promise<Response> =>
  gateway.fetch(new Request(`http://gateway.test${path}`, { method: 'POST', body, ...init }));
const sendJson = (path: string, body: unknown): Promise<Response> =>
  send(path, JSON.stringify(body), { headers: { 'content-type': 'application/json' } });
const readLines = async (response: Response): Promise<string[]> =>
  (await response.text()).replace(/\n$/, '').split('\n');
const readCells = async (response: Response): Promise<string[][]> =>
  (await readLines(response)).map((line) => line.split('\t'));
const readObjects = async (response: Response): Promise<unknown[]> =>
  (await readLines(response)).map((line): unknown => JSON.parse(line));

describe('an export', () => {
  it('makes three bulk calls for 1,200 hashes, and writes a line for each in the order of the list', async () => {
    const hashes = Array.from({ length: 1200 }, (_, i) => KNOWN[i % 97] ?? unknownHash(i));
    const response = await send('/export.tsv', hashes.join('\n'));
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('text/tab-separated-values; charset=utf-8');
    expect(response.headers.get('content-disposition')).toMatch(
      /^attachment; filename="foldatlas-proteins-\d{4}-\d\d-\d\d\.tsv"$/,
    );
    const [header, ...rows] = await readCells(response);
    expect(header).toEqual([
      ...['requested', 'status', 'hash', 'accession', 'source', 'length', 'ptm', 'mean_plddt'],
      ...['structure_url', 'problem'],
    ]);
    expect(rows.map((cells) => cells.slice(0, 2))).toEqual(
      hashes.map((hash) => [hash, KNOWN.includes(hash) ? 'FOUND' : 'NOT_IN_ATLAS']),
    );
    expect(rows.every((cells) => cells.length === header?.length)).toBe(true);
    expect(world.counts().bulk).toBe(3);
    expect(Object.keys(world.counts()).sort()).toEqual(['bulk', 'bulkJob', 'download']);
  });

  it('has an address for up to 100 identifiers, which a spreadsheet reads', async () => {
    const get = (search: string, init: RequestInit = {}) =>
      world.gateway.fetch(new Request(`http://gateway.test/export.tsv?${search}`, init));
    const ids = ['P01308', 'INS_HUMAN', 'no, identifier', INSULIN];
    const list = await readCells(await send('/export.tsv?columns=name', ids.join('\n')));
    expect(await readCells(await get(`columns=name&ids=${encodeURIComponent(ids.join(','))}`))).toEqual(list);
    expect(await readCells(await get(`columns=name&${ids.map((id) => `ids=${id}`).join('&')}`))).toEqual(
      list,
    );
    expect(list.map(([requested]) => requested)).toEqual([
      ...['requested', 'P01308', 'INS_HUMAN', 'no', 'identifier', INSULIN],
    ]);
    const header = '>sp|P01308|INS_HUMAN Insulin OS=Homo sapiens OX=9606 GN=INS';
    const named = await readCells(await get(`ids=${encodeURIComponent(`P01308,${header},INS_HUMAN`)}`));
    expect(named.map(([requested]) => requested)).toEqual(['requested', 'P01308', header, 'INS_HUMAN']);
    const hashes = Array.from({ length: 101 }, (_, i) => unknownHash(i));
    expect(await readLines(await get(`ids=${hashes.slice(1).join()}`))).toHaveLength(101);
    world.forget();
    for (const [search, said] of [
      [`ids=${hashes.join()}`, 'at most 100'],
      [`ids=${'P01308+'.repeat(1500)}`, 'at most 100'],
      ['', 'empty'],
      ['ids=', 'empty'],
      ['ids=%23P01308', 'empty'],
      ['ids=P01308&columns=colour', 'no column'],
      ['id=P01308', 'takes `ids`, `columns`'],
    ] as const) {
      const refused = await get(search);
      expect([search.slice(0, 20), refused.status]).toEqual([search.slice(0, 20), 400]);
      expect(await refused.text()).toContain(said);
    }
    const head = await get('ids=P01308', { method: 'HEAD' });
    expect([head.status, await head.text()]).toEqual([200, '']);
    const foreign = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' };
    expect((await get('ids=P01308', { headers: foreign })).status).toBe(403);
    expect(world.counts().bulk ?? 0).toBeLessThanOrEqual(1);
  });

  it('ends a FASTA record with the next blank line, whatever line ends the list has', async () => {
    const { data } = await world.query(`{ protein(hash: "${HBA}") { sequence } }`);
    const sequence = String(at(data, 'protein.sequence'));
    const header = '>sp|P69905|HBA_HUMAN Hemoglobin';
    for (const end of ['\n', '\r\n', '\r', ' \n'])
      for (const list of [
        [header, sequence.slice(0, 60), sequence.slice(60), '', sequence, '', 'INS_HUMAN'],
        [header, '', sequence, '', '', sequence, 'INS_HUMAN', ''],
      ]) {
        const rows = await readCells(await send('/export.tsv?columns=hash', list.join(end)));
        const expected = [[header], [sequence], ['INS_HUMAN']].map(([requested]) => [requested, 'FOUND']);
        const found = rows.slice(1).map(([requested, status]) => [requested, status]);
        expect(found).toEqual(expected);
      }
  });

  it('reads identifiers of all kinds, one or several on a line, and shows what each came to', async () => {
    const { data } = await world.query(`{ protein(hash: "${HBA}") { sequence } }`);
    const sequence = String(at(data, 'protein.sequence'));
    const list = `# my list\nP01308, HBA_HUMAN;${INSULIN.toUpperCase()}\r\nMGYP000261684433 P00000
>sp|P69905|HBA_HUMAN Hemoglobin\n\n${sequence.slice(0, 60)}\n${sequence.slice(60)}
${unknownHash(1)}\n${sequence}\n`;
    const rows = await readCells(await send('/export.tsv?columns=hash', list));
    expect(rows.map(([requested, status, hash]) => [requested, status, hash])).toEqual([
      ['requested', 'status', 'hash'],
      ['P01308', 'FOUND', INSULIN],
      ['HBA_HUMAN', 'FOUND', HBA],
      [INSULIN.toUpperCase(), 'FOUND', INSULIN],
      ['MGYP000261684433', 'NOT_AN_IDENTIFIER', ''],
      ['P00000', 'NO_SUCH_ENTRY', ''],
      ['>sp|P69905|HBA_HUMAN Hemoglobin', 'FOUND', HBA],
      [unknownHash(1), 'NOT_IN_ATLAS', ''],
      [sequence, 'FOUND', HBA],
    ]);
    expect(rows.map((cells) => cells.at(-1))).toEqual([
      'problem',
      ...['', '', '', 'It is an accession of MGnify.', 'P00000 is not in the sandbox.', ''],
      'The sandbox does not have this protein.',
      '',
    ]);
  });

  it('takes a line with an identifier and other words for one text, as `lookup` does', async () => {
    const texts = [
      'P01308 p.Arg89Cys',
      'P01308\tR89C',
      'not P01308',
      'sp|P01308|INS_HUMAN R89C',
      'insulin INS',
    ];
    const rows = await readCells(await send('/export.tsv?columns=hash', texts.join('\n')));
    const { data } = await world.query('query($ids: [String!]!) { lookup(ids: $ids) { status } }', {
      ids: texts,
    });
    expect(rows.slice(1).map(([, status]) => ({ status }))).toEqual(listAt(data, 'lookup'));
    expect(rows.slice(1).map(([requested]) => requested)).toEqual(
      texts.map((text) => text.replace('\t', ' ')),
    );
    expect(rows.slice(1).map(([, status]) => status)).not.toContain('FOUND');
  });

  it('has the columns that are asked for, with the values of `lookup`', async () => {
    const names = PROTEIN_COLUMNS.map(({ name }) => name);
    const ids = ['P01308', HBA, 'nothing'];
    const [first, second, third] = await readObjects(
      await sendJson('/export.ndjson', { ids, columns: names.toReversed() }),
    );
    expect(Object.keys(first ?? {})).toEqual(names);
    const { data } = await world.query(
      `{ lookup(ids: ["P01308", "${HBA}"]) { protein { name organism gene sequence ptm plddt { mean }
        structure { url } cluster { representativeHash name size percentCharacterized }
        features { value feature { index label } } } } }`,
    );
    for (const [i, row] of [first, second].entries()) {
      const protein = at(data, `lookup.${i}.protein`);
      const features = listAt(protein, 'features');
      expect(row).toMatchObject({
        requested: ids[i],
        status: 'FOUND',
        name: at(protein, 'name'),
        organism: at(protein, 'organism'),
        gene: at(protein, 'gene'),
        sequence: at(protein, 'sequence'),
        ptm: at(protein, 'ptm'),
        mean_plddt: at(protein, 'plddt.mean'),
        structure_url: at(protein, 'structure.url'),
        cluster_representative: at(protein, 'cluster.representativeHash'),
        cluster_name: at(protein, 'cluster.name'),
        cluster_size: at(protein, 'cluster.size'),
        cluster_percent_characterized: at(protein, 'cluster.percentCharacterized'),
        features: features.map((one) => ({ index: at(one, 'feature.index'), value: at(one, 'value') })),
        feature_labels: features.map((one) => at(one, 'feature.label')),
        problem: null,
      });
    }
    expect(third).toMatchObject({ requested: 'nothing', status: 'NOT_AN_IDENTIFIER', hash: null });
    const table = await readCells(await send('/export.tsv?columns=features,gene', 'P01308'));
    const values = listAt(first, 'features').map((one) => `${at(one, 'index')}:${at(one, 'value')}`);
    expect(table[1]).toEqual(['P01308', 'FOUND', 'INS', values.join(' '), '']);
  });

  it('says which proteins could not be read, and goes on with the others', async () => {
    await fault(world.sandboxUrl, { operation: 'bulk', status: 403, body: { detail: 'not these' } });
    const ids = [...Array.from({ length: 500 }, (_, i) => unknownHash(i)), INSULIN];
    const rows = await readObjects(await sendJson('/export.ndjson', { ids }));
    expect(rows).toHaveLength(501);
    expect(rows[0]).toMatchObject({ status: 'UNAVAILABLE', problem: 'FORBIDDEN: not these' });
    expect(rows[500]).toMatchObject({ status: 'FOUND', problem: null });
  });

  it.each([
    ['DELETE', '/export.tsv', undefined, {}, 405, /by GET or POST/],
    ['POST', '/export.tsv', '', {}, 400, /empty/],
    ['POST', '/export.tsv', ' ,;\n# P01308', {}, 400, /empty/],
    ['POST', '/export.tsv?columns=hash,colour', 'P01308', {}, 400, /no column "colour".*requested, status/],
    ['POST', '/export.tsv', 'P\u00000\u0000', {}, 400, /UTF-16/],
    ['POST', '/export.tsv', Buffer.from('P01308\nProt\xe9ine', 'latin1'), {}, 400, /Latin-1.*as UTF-8/],
    [
      'POST',
      '/export.tsv',
      Buffer.from('{"ids":["\xe9"]}', 'latin1'),
      { 'content-type': 'application/json' },
      400,
      /Latin-1/,
    ],
    ['POST', '/export.tsv', 'P01308', { 'content-encoding': 'gzip' }, 415, /compressed/],
    [
      'POST',
      '/export.tsv',
      'ids=P01308',
      { 'content-type': 'application/x-www-form-urlencoded' },
      415,
      /forms/,
    ],
    [
      'POST',
      '/export.tsv',
      '--x\r\n\r\nP01308',
      { 'content-type': 'multipart/form-data; boundary=x' },
      415,
      /forms/,
    ],
    ['POST', '/export.ndjson', '{', { 'content-type': 'application/json' }, 400, /not valid JSON/],
    ['POST', '/export.ndjson', '{"ids": [7]}', { 'content-type': 'application/json' }, 400, /ids\.0/],
    ['POST', '/export.tsv', 'P01308 '.repeat(50_001), {}, 413, /more than 50000 identifiers/],
    ['POST', '/export.tsv', 'P01308\n'.repeat(50_001), {}, 413, /more than 50000 identifiers/],
    [
      'POST',
      '/export.tsv',
      JSON.stringify({ ids: Array.from({ length: 50_001 }, () => 7) }),
      { 'content-type': 'application/json' },
      413,
      /more than 50000 identifiers/,
    ],
    ['POST', '/export.tsv', 'P'.repeat(20_000_000), {}, 413, /larger than \d+ bytes/],
    [
      'POST',
      '/export.tsv',
      'P01308',
      { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' },
      403,
      /CORS/,
    ],
    ['POST', '/export.csv', 'P01308', {}, 404, /nothing at this address/],
  ])('%s %s is refused before anything is sent: %#', async (method, path, body, headers, status, text) => {
    const response = await world.gateway.fetch(
      new Request(`http://gateway.test${path}`, { method, headers, ...(body === undefined ? {} : { body }) }),
    );
    expect([response.status, await response.text()]).toEqual([status, expect.stringMatching(text)]);
    expect(world.calls).toEqual([]);
  });

  it('is refused with a status of its own where it may cost more than a query may', async () => {
    const own = await openWorld({ MAX_QUERY_COST: '10' });
    onTestFinished(() => own.close());
    const ids = Array.from({ length: 20 }, (_, i) => `P013${10 + i}`).join('\n');
    const response = await send('/export.tsv?columns=name', ids, {}, own.gateway);
    expect([response.status, await response.text()]).toEqual([
      400,
      expect.stringMatching(/upstream calls; 10/),
    ]);
    expect(own.calls).toEqual([]);
  });

  it('waits for its turn where a rate limit allows no more: each 500 count as a request', async () => {
    const own = await openWorld({ RATE_LIMIT_PER_MINUTE: '60' });
    onTestFinished(() => own.close());
    const served = await serve(own.gateway);
    onTestFinished(() => served.close());
    const url = new URL('/export.tsv?columns=hash', served.url);
    const body = Array.from({ length: 1500 }, (_, i) => unknownHash(i % 10)).join('\n');
    const response = await fetch(url, { method: 'POST', body });
    const left = Number(response.headers.get('ratelimit-remaining'));
    expect((await response.text()).trimEnd().split('\n')).toHaveLength(1501);
    const after = await fetch(url, { method: 'POST', body: INSULIN });
    expect(Number(after.headers.get('ratelimit-remaining'))).toBeLessThanOrEqual(left - 2);
  });
});

describe('an export over HTTP', () => {
  const open = async () => {
    const served = await serve(world.gateway);
    onTestFinished(() => served.close());
    return new URL('/export.tsv?columns=hash', served.url);
  };
  const ids = (count: number): string => Array.from({ length: count }, (_, i) => unknownHash(i)).join('\n');

  it('is cut off where it breaks in the middle, so that no client takes it for the whole', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'export-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const file = join(folder, 'keys');
    writeFileSync(file, 'first-key-of-this-test\nsecond-key-of-this-test\n');
    const own = await openWorld({ GATEWAY_API_KEYS_FILE: file, UPSTREAM_API_KEY: 'upstream' });
    onTestFinished(() => own.close());
    const served = await serve(own.gateway);
    onTestFinished(() => served.close());
    const response = await fetch(new URL('/export.tsv?columns=hash', served.url), {
      method: 'POST',
      body: ids(50_000),
      headers: { authorization: 'Bearer first-key-of-this-test' },
    });
    expect(response.status).toBe(200);
    writeFileSync(file, 'second-key-of-this-test\n');
    own.gateway.reload();
    await expect(response.text()).rejects.toThrow('terminated');
    expect(own.counts().bulk).toBeLessThan(100);
  });

  it('reads no further than its client', async () => {
    const url = await open();
    url.search = '?columns=sequence';
    const list = Array.from({ length: 25_000 }, (_, i) => KNOWN[i % KNOWN.length]).join('\n');
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const sent = request(url, { method: 'POST' }, resolve).on('error', reject);
      sent.end(list);
    });
    response.pause();
    let before = -1;
    await until('the calls to stop', async () => {
      const isOver = before === world.calls.length;
      before = world.calls.length;
      await new Promise((resolve) => setTimeout(resolve, 1500));
      return isOver;
    });
    expect(world.counts().bulk).toBeLessThan(45);
    let rows = 0;
    for await (const piece of response) rows += String(piece).split('\n').length - 1;
    expect(rows).toBe(25_001);
    expect(world.counts().bulk).toBe(50);
  });

  it('counts as a request in flight until its end', async () => {
    const own = await openWorld({ MAX_CONCURRENT_REQUESTS: '1' });
    onTestFinished(() => own.close());
    const served = await serve(own.gateway);
    onTestFinished(() => served.close());
    const url = new URL('/export.tsv?columns=sequence', served.url);
    const body = Array.from({ length: 25_000 }, (_, i) => KNOWN[i % KNOWN.length]).join('\n');
    const leaving = new AbortController();
    await fetch(url, { method: 'POST', body, signal: leaving.signal });
    const ask = () => fetch(new URL('/schema.graphql', url));
    expect((await ask()).status).toBe(503);
    leaving.abort();
    await until('room for another', async () => (await ask()).status === 200);
  });

  it('ends its calls when the client leaves', async () => {
    const url = await open();
    const leaving = new AbortController();
    const response = await fetch(url, {
      method: 'POST',
      body: ids(50_000),
      headers: { authorization: 'Bearer large' },
      signal: leaving.signal,
    });
    expect(response.status).toBe(200);
    await response.body?.getReader().read();
    leaving.abort();
    let before = -1;
    await until('the calls to end', async () => {
      const isOver = before === world.calls.length;
      before = world.calls.length;
      await new Promise((resolve) => setTimeout(resolve, 1500));
      return isOver;
    });
    expect(world.counts().bulk).toBeLessThan(20);
  });
});

describe.each(DIALECTS)('a service that speaks %s', (dialect) => {
  it('is asked for 500 proteins by one bulk call for the usual columns', async () => {
    const own = await openWorld({}, { dialect });
    onTestFinished(() => own.close());
    await (await send('/export.tsv', KNOWN.join(','), {}, own.gateway)).text();
    expect(own.counts()).toEqual({ bulk: 1 });
  });
});
