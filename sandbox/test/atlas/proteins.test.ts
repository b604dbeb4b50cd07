// Single records, clusters, thumbnails and knowledge-base entries, in the shapes and with the rules
// of the wire.
import { expect, test } from 'vitest';
import { openDatabase } from '../../src/database.ts';
import { allHashes, allProteins, smallUniverse, startAtlas } from './harness.ts';
import * as wire from './wire.ts';

const atlas = startAtlas();
const HBA = '6077c452d1dc6151040b2b179e2294c7';
const UNKNOWN = '0123456789abcdef0123456789abcdef';
const withFold = (fold: string) => {
  const found = allProteins.find((protein) => protein.fold === fold && protein.sequence.length < 700);
  if (found === undefined) throw new Error(`no protein is ${fold}`);
  return found;
};

test('a record has its sequence, structure, confidence and cluster', async () => {
  const record = await atlas.read(`/proteins/${HBA}?fold_on_miss=false`, wire.protein);
  expect(record).toMatchObject({
    accession: 'P69905',
    source: 'uniprotkb',
    sequence_length: 142,
    folded_on_demand: false,
  });
  const lines = (record.pdb ?? '').trimEnd().split('\n');
  expect(lines.slice(0, 4).every((line) => line.startsWith('REMARK'))).toBe(true);
  expect(lines.slice(4).every((line) => line.startsWith('ATOM  ') && line[21] === 'A')).toBe(true);
  const alphas = lines.filter((line) => line.slice(12, 16).trim() === 'CA');
  expect(alphas.map((line) => Number(line.slice(22, 26)))).toEqual(
    Array.from({ length: 142 }, (_, n) => n + 1),
  );
  for (const [n, line] of alphas.entries())
    expect(Number(line.slice(60, 66))).toBeCloseTo(record.residues_plddt?.[n] ?? -1, 1);
  const plddt = record.residues_plddt ?? [];
  expect(record.mean_plddt).toBeCloseTo(plddt.reduce((a, b) => a + b, 0) / plddt.length, 2);
});

test('every member links to its representative, and only a representative is a cluster', async () => {
  for (const hash of allHashes.filter((_, n) => n % 9 === 0)) {
    const record = await atlas.read(`/proteins/${hash}?fold_on_miss=false`, wire.protein);
    const representative = record.cluster_rep_protein_hash;
    if (representative === null) {
      const answer = await atlas.get(`/clusters/${hash}`);
      expect(answer.status).toBe(smallUniverse.protein(hash)?.cluster === null ? 404 : 200);
      continue;
    }
    expect((await atlas.get(`/clusters/${hash}`)).status).toBe(404);
    const cluster = await atlas.read(`/clusters/${representative}?topk_features=7`, wire.cluster);
    expect(cluster.member_protein_hashes).toContain(hash);
    expect(cluster.member_protein_hashes).toHaveLength(cluster.cluster_size);
    const own = await atlas.read(
      `/proteins/${representative}?topk_features=7&fold_on_miss=false`,
      wire.protein,
    );
    expect(cluster.cluster_representative_features).toEqual(own.sae_features);
    expect(cluster).toMatchObject({
      accession: own.accession,
      source: own.source,
      mean_plddt: own.mean_plddt,
      ptm: own.ptm,
    });
  }
});

test('ten features are shown unless another number is asked for', async () => {
  const record = await atlas.read(`/proteins/${HBA}?fold_on_miss=false`, wire.protein);
  expect(record.sae_features).toHaveLength(10);
  const representative = record.cluster_rep_protein_hash ?? HBA;
  const cluster = await atlas.read(`/clusters/${representative}`, wire.cluster);
  expect(cluster.cluster_representative_features).toHaveLength(10);
});

test('answers 404 for an unknown protein and 422 for a malformed hash', async () => {
  for (const path of [
    `/proteins/${UNKNOWN}`,
    `/proteins/${UNKNOWN}?fold_on_miss=true`,
    `/clusters/${UNKNOWN}`,
    `/proteins/${UNKNOWN}/thumbnail/plddt`,
    '/features/16384',
    '/features/-1',
    '/nothing',
    '/proteins/batch/jobs/none',
  ]) {
    const answer = await atlas.get(path);
    expect(answer.status, path).toBe(404);
    wire.refusal.parse(await answer.json());
  }
  for (const path of [
    '/proteins/abc',
    `/clusters/${HBA.toUpperCase()}`,
    `/proteins/${HBA}/thumbnail/pae`,
    '/features/one',
    `/proteins/${HBA}?topk_features=0`,
    `/proteins/${HBA}?topk_features=101`,
    `/clusters/${HBA}?topk_features=ten`,
    `/proteins/${HBA}?normalize_features=maybe`,
    `/proteins/${HBA}?feature_indices=1&feature_indices=x`,
    '/similarity-search',
    '/similarity-search?sequence=M1K',
  ]) {
    const answer = await atlas.get(path);
    expect(answer.status, path).toBe(422);
    wire.validation.parse(await answer.json());
  }
  const { detail } = wire.validation.parse(await (await atlas.get(`/clusters/xyz?topk_features=ten`)).json());
  expect(detail).toEqual([
    {
      loc: ['path', 'protein_hash'],
      msg: "String should match pattern '^[0-9a-f]{32}$'",
      type: 'string_pattern_mismatch',
      input: 'xyz',
      ctx: { pattern: '^[0-9a-f]{32}$' },
    },
    {
      loc: ['query', 'topk_features'],
      msg: 'Input should be a valid integer, unable to parse string as an integer',
      type: 'int_parsing',
      input: 'ten',
    },
  ]);
  const wrong = await atlas.get('/features', { method: 'POST' });
  expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'GET']);
});

test('a protein without a structure is folded when asked for, at once or by the second call, and stays folded', async () => {
  const database = openDatabase(':memory:');
  const first = startAtlas({ database });
  const quick = withFold('on_demand');
  const path = `/proteins/${quick.hash}`;
  expect(await first.read(`${path}?fold_on_miss=false`, wire.protein)).toMatchObject({
    pdb: null,
    ptm: null,
    mean_plddt: null,
    residues_plddt: null,
    folded_on_demand: false,
  });
  expect((await first.get(`${path}/thumbnail/plddt`)).status).toBe(404);
  const folded = await first.read(path, wire.protein);
  expect(folded.folded_on_demand).toBe(true);
  expect(folded.pdb).toContain('ATOM');

  const slow = withFold('slow');
  expect(await first.read(`/proteins/${slow.hash}?fold_on_miss=true`, wire.protein)).toMatchObject({
    pdb: null,
    folded_on_demand: true,
  });
  const second = startAtlas({ database });
  const ready = await second.read(`/proteins/${slow.hash}?fold_on_miss=true`, wire.protein);
  expect(ready).toMatchObject({ folded_on_demand: true, ptm: expect.any(Number) });
  expect(ready.pdb).toContain('ATOM');
  expect((await second.read(`${path}?fold_on_miss=false`, wire.protein)).pdb).toBe(folded.pdb);
  expect((await second.get(`${path}/thumbnail/plddt`)).status).toBe(200);
});

test('700 residues and more are never folded, nor what cannot be folded', async () => {
  const long = allProteins.filter(({ sequence }) => sequence.length >= 700);
  expect(long.length).toBeGreaterThan(3);
  for (const { hash } of [...long.slice(0, 4), withFold('never')])
    for (let call = 0; call < 2; call++)
      expect(await atlas.read(`/proteins/${hash}?fold_on_miss=true`, wire.protein)).toMatchObject({
        pdb: null,
        ptm: null,
        mean_plddt: null,
        folded_on_demand: false,
      });
});

test('thumbnails are immutable PNGs of 512 x 512 with conditional requests', async () => {
  for (const type of ['plddt', 'pct-characterized']) {
    const path = `/proteins/${HBA}/thumbnail/${type}`;
    const answer = await atlas.get(path);
    const png = Buffer.from(await answer.arrayBuffer());
    expect(answer.headers.get('content-type')).toBe('image/png');
    expect(answer.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    expect(answer.headers.get('content-length')).toBe(String(png.length));
    expect(png.subarray(1, 4).toString()).toBe('PNG');
    expect([png.readUInt32BE(16), png.readUInt32BE(20)]).toEqual([512, 512]);

    const etag = answer.headers.get('etag') ?? '';
    expect(etag).toMatch(/^"[^"]+"$/);
    for (const condition of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const unchanged = await atlas.get(path, { headers: { 'if-none-match': condition } });
      expect([
        unchanged.status,
        unchanged.headers.get('etag'),
        (await unchanged.arrayBuffer()).byteLength,
      ]).toEqual([304, etag, 0]);
    }
    expect((await atlas.get(path, { headers: { 'if-none-match': '"other"' } })).status).toBe(200);
    const plain = await startAtlas({ dialect: 'plain' }).get(path, { headers: { 'if-none-match': etag } });
    expect([plain.status, plain.headers.get('etag')]).toEqual([200, null]);
    const head = await atlas.get(path, { method: 'HEAD' });
    expect([head.status, head.headers.get('content-length'), (await head.arrayBuffer()).byteLength]).toEqual([
      200,
      String(png.length),
      0,
    ]);
  }
  const [plain, characterised] = await Promise.all(
    ['plddt', 'pct-characterized'].map((type) => atlas.get(`/proteins/${HBA}/thumbnail/${type}`)),
  );
  expect(plain?.headers.get('etag')).not.toBe(characterised?.headers.get('etag'));
});

test('entries are found by accession and by entry name in any case; other namespaces are refused', async () => {
  const entry = await atlas.read('/uniprot/P01308', wire.uniprot);
  expect(entry).toMatchObject({
    entry_name: 'INS_HUMAN',
    protein_name: 'Insulin',
    gene: 'INS',
    organism: 'Homo sapiens',
    sequence_length: 110,
    protein_hash: '12e9c9e4e2835c302e8ba615115edda3',
  });
  for (const id of ['INS_HUMAN', 'ins_human', 'p01308'])
    expect(await atlas.read(`/uniprot/${id}`, wire.uniprot)).toEqual(entry);
  expect((await atlas.read('/uniprot/P01116-2', wire.uniprot)).gene).toBe('KRAS');
  for (const id of ['P99998', 'A0A000A000', 'Q9Y2X3', 'NOPE_HUMAN'])
    expect((await atlas.get(`/uniprot/${id}`)).status, id).toBe(404);
  const others = [
    'ENSG00000254647',
    'ENSP00000250971',
    'UPI0000000001',
    '4HHB',
    '4hhb',
    'NP_000198',
    'NP_000198.1',
    'XP_00001',
    'UniRef90_P01308',
    'MGYP000123456789',
    'IPR004825',
    'PF00049',
    'GO:0005179',
    'insulin human',
    '%F0%9F%A7%AC',
    'AF-P01308-F1',
    'x'.repeat(3000),
  ];
  for (const id of others) {
    const answer = await atlas.get(`/uniprot/${encodeURIComponent(id)}`);
    expect(answer.status, id).toBe(400);
    wire.refusal.parse(await answer.json());
  }
});
