// The gateway's files of the Atlas: thumbnails and structures over HTTP.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readConfig } from '../../src/config.ts';
import { createGateway, type Gateway } from '../../src/gateway.ts';
import { recorded, testLogger } from '../record.ts';
import { NO_REDIS, openRedisPlace } from '../store/redis-place.ts';
import { at, openWorld, type World } from '../support.ts';

const INSULIN = '12e9c9e4e2835c302e8ba615115edda3';
const UNKNOWN = '0'.repeat(32);

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

const get = (path: string, init: RequestInit = {}) =>
  world.gateway.fetch(new Request(`http://gateway.test${path}`, init));

describe('/thumbnails', () => {
  it('serves a PNG to keep for ever, loads it once, and answers 304 to who has it', async () => {
    world.forget();
    const path = `/thumbnails/${INSULIN}/plddt.png`;
    const first = await get(path);
    expect(first.status).toBe(200);
    expect(first.headers.get('content-type')).toBe('image/png');
    expect(first.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    const etag = first.headers.get('etag') ?? '';
    expect(etag).toMatch(/^"[\w-]{27}"$/);
    const png = Buffer.from(await first.arrayBuffer());
    expect(png.subarray(0, 8).toString('hex')).toBe('89504e470d0a1a0a');
    expect([png.readUInt32BE(16), png.readUInt32BE(20)]).toEqual([512, 512]);
    const again = await get(path, { headers: { 'if-none-match': etag } });
    expect(again.status).toBe(304);
    expect((await again.arrayBuffer()).byteLength).toBe(0);
    const head = await get(path, { method: 'HEAD' });
    expect([head.status, head.headers.get('content-length')]).toEqual([200, String(png.byteLength)]);
    expect(world.counts()).toEqual({ thumbnail: 1 });

    const { data } = await world.query(
      `{ protein(hash: "${INSULIN}") { thumbnail { url contentType sizeBytes base64 } } }`,
    );
    expect(at(data, 'protein.thumbnail')).toEqual({
      url: `http://gateway.test${path}`,
      contentType: 'image/png',
      sizeBytes: png.byteLength,
      base64: png.toString('base64'),
    });
  });

  it.skipIf(NO_REDIS)('is known to another replica: 304 and HEAD touch no upstream', async () => {
    const redis = await openRedisPlace();
    const open = () =>
      recorded(
        createGateway({
          config: readConfig({ STORE_URL: redis.url, LEDGER_URL: 'memory:' }),
          upstreamUrl: world.sandboxUrl,
          log: testLogger(),
          sandbox: true,
        }),
      );
    const ask = (gateway: Gateway, init: RequestInit = {}) =>
      gateway.fetch(new Request(`http://gateway.test/thumbnails/${INSULIN}/pct-characterized.png`, init));
    const before = open();
    const first = await ask(before);
    const etag = first.headers.get('etag') ?? '';
    const length = first.headers.get('content-length');
    await first.arrayBuffer();
    await before.close();
    const known = { headers: { 'if-none-match': `"other", W/${etag}` } };
    // A replica that does not reach its store in time asks the service, as on a busy machine:
    // further ones are opened until one reads the store.
    for (let hasReadStore = false; !hasReadStore; ) {
      world.forget();
      const after = open();
      const answers = [await ask(after, known), await ask(after, { ...known, method: 'HEAD' })];
      for (const { status, headers } of answers) {
        expect(status).toBe(304);
        expect(headers.get('etag')).toBe(etag);
        expect(headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
      }
      const head = await ask(after, { method: 'HEAD' });
      expect([head.status, head.headers.get('content-length')]).toEqual([200, length]);
      hasReadStore = world.calls.length === 0;
      await after.close();
    }
    await redis.remove();
  });

  it.each([
    [`/thumbnails/${UNKNOWN}/plddt.png`, 404],
    [`/thumbnails/${INSULIN}/rainbow.png`, 404],
    ['/thumbnails/not-a-hash/plddt.png', 400],
    [`/structures/${UNKNOWN}.pdb`, 404],
    [`/structures/${INSULIN}.xyz`, 404],
    ['/structures/not-a-hash.cif', 400],
  ])('%s is %i', async (path, status) => {
    const response = await get(path);
    expect(response.status).toBe(status);
    expect(response.headers.get('cache-control')).toBe('no-store');
  });

  it('can only be read', async () => {
    const response = await get(`/thumbnails/${INSULIN}/plddt.png`, { method: 'POST', body: 'x' });
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS']);
    expect(await response.text()).toBe('Send requests to this address by GET.\n');
  });
});

describe('/structures', () => {
  it.each([
    ['pdb', 'chemical/x-pdb', /^ATOM {2}/m],
    ['cif', 'chemical/x-mmcif', /^_atom_site\./m],
  ])('serves %s with a name to save it under', async (ending, type, pattern) => {
    const response = await get(`/structures/${INSULIN}.${ending}`);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toContain(type);
    expect(response.headers.get('content-disposition')).toContain(`${INSULIN}.${ending}`);
    expect(await response.text()).toMatch(pattern);
  });

  it('is the very text that the query gives', async () => {
    const { data } = await world.query(
      `{ protein(hash: "${INSULIN}") { structure(format: MMCIF) { url text atomCount } } }`,
    );
    const url = new URL(String(at(data, 'protein.structure.url')));
    const text = await (await get(url.pathname + url.search)).text();
    expect(at(data, 'protein.structure.text')).toBe(text);
  });

  it.each(['pdb', 'cif'])('%s has one content and one ETag, whatever was asked before', async (ending) => {
    const HBA = '6077c452d1dc6151040b2b179e2294c7';
    const seen = new Set<string>();
    for (const before of [
      '{ __typename }',
      `{ protein(hash: "${INSULIN}") { structure { text } } }`,
      `{ proteins(hashes: ["${INSULIN}", "${HBA}"]) { structure { text } } }`,
    ]) {
      const own = await openWorld({ CACHE_RECORDS_SECONDS: '3600' });
      expect((await own.query(before)).errors).toBeUndefined();
      const response = await own.gateway.fetch(
        new Request(`http://gateway.test/structures/${INSULIN}.${ending}`),
      );
      seen.add(`${response.headers.get('etag')}\n${await response.text()}`);
      await own.close();
    }
    expect([...seen]).toEqual([expect.stringMatching(/NO PREDICTION/)]);
  });

  it('begins with a head of ours: in lists that of the archive, in files with the licence of the record', async () => {
    const HBA = '6077c452d1dc6151040b2b179e2294c7';
    const { data } = await world.query(
      `{ proteins(hashes: ["${INSULIN}", "${HBA}"]) { ptm plddt { mean unit: mean(scale: UNIT) }
        structure { text } unit: structure(plddtScale: UNIT) { text } } }`,
    );
    const readHead = (text: unknown) => {
      const lines = String(text).split('\n');
      const head = lines.slice(
        0,
        lines.findIndex((line) => line.startsWith('ATOM')),
      );
      expect(head.filter((line) => line.length < 80)).toEqual([]);
      return head.map((line) => line.trimEnd());
    };
    const rounded = (path: string) => Number(Number(at(data, `proteins.0.${path}`)).toFixed(4));
    const loud = 'REMARK   1 GEOMETRIC STAND-IN MADE BY THE FOLDATLAS SANDBOX. NO PREDICTION.';
    const head = (mean: number, ...remarks: string[]) => [
      'HEADER    COMPUTED MODEL',
      `TITLE     PROTEIN ${INSULIN}`,
      `REMARK   1 ptm ${rounded('ptm')}`,
      `REMARK   1 mean_plddt ${mean}`,
      ...remarks,
      'CRYST1    1.000    1.000    1.000  90.00  90.00  90.00 P 1           1',
    ];
    expect(readHead(at(data, 'proteins.0.structure.text'))).toEqual(head(rounded('plddt.mean'), loud));
    expect(readHead(at(data, 'proteins.0.unit.text'))).toEqual(head(rounded('plddt.unit'), loud));
    expect(readHead(await (await get(`/structures/${INSULIN}.pdb`)).text())).toEqual(
      head(
        rounded('plddt.mean'),
        loud,
        'REMARK   1 IDEAL GEOMETRY ON SECONDARY STRUCTURE GUESSED FROM THE SEQUENCE.',
        'REMARK   1 THE B-FACTOR COLUMN HOLDS THE STAND-IN PLDDT ON A SCALE OF 0 TO 100.',
        'REMARK   1 FREE TO USE FOR ANY PURPOSE, NOT FIT FOR CONCLUSIONS ABOUT BIOLOGY.',
      ),
    );
  });

  it('has pLDDT on 0 to 100 in all its places, and on 0 to 1 where asked', async () => {
    const HBA = '6077c452d1dc6151040b2b179e2294c7';
    const files = `pdb: structure { url text } unit: structure(plddtScale: UNIT) { url text }
      cif: structure(format: MMCIF) { url text } unitCif: structure(format: MMCIF, plddtScale: UNIT) { url text }`;
    const means = 'plddt { percent: mean unit: mean(scale: UNIT) }';
    // From a record and from an archive, which have other remarks.
    const lone = await world.query(`{ protein(hash: "${INSULIN}") { ${means} ${files} } }`);
    const list = await world.query(`{ proteins(hashes: ["${INSULIN}", "${HBA}"]) { ${means} ${files} } }`);
    for (const [form, protein] of Object.entries({
      record: at(lone.data, 'protein'),
      archive: at(list.data, 'proteins.0'),
    })) {
      for (const [file, scale] of Object.entries({ pdb: 1, unit: 0.01, cif: 1, unitCif: 0.01 })) {
        const text = String(at(protein, `${file}.text`));
        const isCif = file.toLowerCase().endsWith('cif');
        const mean = Number(at(protein, 'plddt.percent')) * scale;
        const values = text.split('\n').flatMap((line) => {
          if (!line.startsWith('ATOM')) return [];
          const name = isCif ? line.split(/\s+/)[3] : line.slice(12, 16).trim();
          return name === 'CA' ? [Number(isCif ? line.split(/\s+/)[14] : line.slice(60, 66))] : [];
        });
        expect(values).toHaveLength(110);
        expect(values.reduce((sum, b) => sum + b, 0) / 110, file).toBeCloseTo(mean, scale === 1 ? 0 : 2);
        const said =
          form === 'record' ? `0 TO ${scale === 1 ? 100 : 1}\\b` : `mean_plddt ${String(mean).slice(0, 4)}`;
        if (!isCif || form === 'record') expect(text).toMatch(new RegExp(said));
        if (isCif) expect(text.includes('pLDDT in [0,1]')).toBe(scale !== 1);
        if (form === 'archive') continue;
        const url = new URL(String(at(protein, `${file}.url`)));
        expect(await (await get(url.pathname + url.search)).text()).toBe(text);
      }
    }
    expect((await get(`/structures/${INSULIN}.pdb?plddt=parts`)).status).toBe(400);
  });
});
