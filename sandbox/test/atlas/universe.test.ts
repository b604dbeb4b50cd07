// A universe is grown from its seed and nothing else, and has everything that readers must cope
// with.
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { REFERENCE_PROTEINS } from '../../src/atlas/reference-proteins.ts';
import { openUniverse } from '../../src/atlas/universe.ts';
import type { Universe } from '../../src/atlas/universe-reader.ts';
import { openDatabase } from '../../src/database.ts';
import { PREFIX, smallUniverse, startAtlas } from './harness.ts';
import { identity } from './naive.ts';
import * as wire from './wire.ts';

const folder = mkdtempSync(join(tmpdir(), 'universe-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const md5 = (text: string): string => createHash('md5').update(text).digest('hex');
const listProteins = (universe: Universe) =>
  Array.from(universe.withheld, (_, id) => universe.proteinById(id)).flatMap((protein) => protein ?? []);
async function grow(name: string, options: { seed?: number; size?: 'full' | 'small'; fasta?: string } = {}) {
  const lines: string[] = [];
  const file = join(folder, name);
  const universe = await openUniverse({
    seed: 1,
    size: 'small',
    ...options,
    file,
    onProgress: (line) => lines.push(line),
  });
  return { universe, file, lines };
}

test('the same seed gives the same bytes, another seed another universe', async () => {
  const files = [];
  for (const [name, seed] of [
    ['a', 5],
    ['b', 5],
    ['c', 6],
  ] as const) {
    const { universe, file } = await grow(`${name}.db`, { seed });
    universe.close();
    files.push(md5(readFileSync(file, 'latin1')));
  }
  expect(files[0]).toBe(files[1]);
  expect(files[0]).not.toBe(files[2]);
});

test('a grown universe is opened, not grown again; a broken or other one is grown anew', async () => {
  const first = await grow('kept.db');
  first.universe.close();
  const again = await grow('kept.db');
  expect(again.lines).toEqual([]);
  again.universe.close();
  const other = await grow('kept.db', { seed: 2 });
  expect(other.lines.length).toBeGreaterThan(0);
  other.universe.close();
  truncateSync(join(folder, 'kept.db'), 100_000);
  const mended = await grow('kept.db', { seed: 2 });
  expect(mended.universe.proteinCount).toBeGreaterThan(300);
  mended.universe.close();
  expect(readdirSync(folder).filter((name) => name.includes('growing'))).toEqual([]);
});

test('the small universe has the reference proteins and about 400 homologs, under the right hashes', async () => {
  const { universe } = await grow('small.db');
  const proteins = listProteins(universe);
  expect(proteins.length).toBeGreaterThan(350);
  expect(proteins.length).toBeLessThan(520);
  for (const { hash, sequence } of proteins) expect(md5(sequence)).toBe(hash);
  const known = {
    P69905: '6077c452d1dc6151040b2b179e2294c7',
    P01308: '12e9c9e4e2835c302e8ba615115edda3',
    P62736: 'efebacde779fb9ede77f2039ec6cfe09',
  };
  for (const [accession, hash] of Object.entries(known)) {
    expect(universe.uniprot(accession)?.hash).toBe(hash);
    expect(universe.protein(hash)?.accession).toBe(accession);
  }
  universe.close();
});

test('ubiquitin is a protein of the universe, and its precursor resolves by accession and entry name', () => {
  const ubiquitin = 'MQIFVKTLTGKTITLEVEPSDTIENVKAKIQDKEGIPPDQQRLIFAGKQLEDGRTLSDYNIQKESTLHLVLRLRGG';
  const found = smallUniverse.protein(md5(ubiquitin));
  expect(found).toMatchObject({ sequence: ubiquitin, fold: 'ready', source: 'uniparc' });
  for (const id of ['P0CG48', 'UBC_HUMAN']) {
    const entry = smallUniverse.uniprot(id);
    expect(entry?.sequence).toBe(`${ubiquitin.repeat(9)}V`);
    expect(smallUniverse.protein(entry?.hash ?? '')?.cluster).toBe(found?.cluster);
  }
});

test('every entry but those of real proteins says that it is invented', () => {
  const real = new Set(REFERENCE_PROTEINS.map(({ accession }) => accession));
  const invented = listProteins(smallUniverse).flatMap(({ accession }) => {
    const entry = smallUniverse.uniprot(accession);
    return entry === undefined || real.has(accession) ? [] : [entry.function];
  });
  expect(invented.length).toBeGreaterThan(50);
  for (const text of invented) expect(text).toMatch(/^Invented by the sandbox; UniProt has no such entry\./);
  expect(smallUniverse.uniprot('P01308')?.function).not.toContain('Invented');
});

test('the full universe has what the Atlas has, is not grown twice, and its clusters say what their members are', async () => {
  const grown = await grow('full.db', { size: 'full' });
  grown.universe.close();
  const { universe, lines } = await grow('full.db', { size: 'full' });
  expect(lines).toEqual([]);
  const proteins = listProteins(universe);
  expect(proteins.length).toBeGreaterThanOrEqual(5000);

  const clusters = [...new Set(proteins.flatMap(({ cluster }) => cluster ?? []))].map((id) =>
    universe.cluster(id),
  );
  const sizes = clusters.map((cluster) => cluster?.size ?? 0);
  expect(Math.min(...sizes)).toBe(1);
  expect(Math.max(...sizes)).toBeGreaterThan(1000);
  expect(clusters.some((cluster) => cluster?.pctCharacterized === 0 && cluster.size > 100)).toBe(true);
  expect(clusters.some((cluster) => (cluster?.pctCharacterized ?? 0) > 80)).toBe(true);
  for (const cluster of clusters) {
    if (cluster === undefined) throw new Error('a cluster is missing');
    const members = universe.members(cluster);
    expect(members.length).toBe(cluster.size);
    expect(members[0]).toBe(cluster.representative);
    expect(universe.protein(cluster.representative)?.cluster).toBe(cluster.id);
    const longest = Math.max(...members.map((hash) => universe.protein(hash)?.sequence.length ?? 0));
    expect(universe.protein(cluster.representative)?.sequence.length).toBe(longest);
    const counts = Object.values(cluster.pfam).map(({ count }) => count);
    expect(Math.max(0, ...counts)).toBeLessThanOrEqual(
      Math.round((cluster.pctCharacterized * cluster.size) / 100),
    );
    expect(cluster.pctCharacterized > 0).toBe(counts.length > 0);
    expect(cluster.meanDomainCoverage > 0).toBe(cluster.pctCharacterized > 0);
  }
  expect(new Set(clusters.map((cluster) => cluster?.taxon.rank)).size).toBeGreaterThan(5);

  expect(new Set(proteins.map(({ source }) => source))).toEqual(
    new Set(['uniprotkb', 'uniparc', 'img_m', 'mgy', 'spire']),
  );
  expect(proteins.filter(({ sequence }) => sequence.length >= 700).length).toBeGreaterThan(50);
  for (const state of ['ready', 'on_demand', 'slow', 'never'])
    expect(proteins.filter(({ fold }) => fold === state).length, state).toBeGreaterThan(50);
  expect(proteins.some(({ cluster }) => cluster === null)).toBe(true);
  expect(universe.withheld.reduce((sum, flag) => sum + flag, 0)).toBeGreaterThan(20);
  universe.close();
});

test('homologs resemble their founder in sequence, some closely and some barely', async () => {
  const { universe } = await grow('small.db');
  const founder = universe.uniprot('P00698');
  const protein = universe.protein(founder?.hash ?? '');
  const cluster = protein && universe.cluster(protein.cluster ?? -1);
  if (!protein || !cluster) throw new Error('lysozyme is not in a cluster');
  const shares = universe
    .members(cluster)
    .map((hash) => identity(protein.sequence, universe.protein(hash)?.sequence ?? ''));
  expect(Math.min(...shares)).toBeGreaterThan(0.35);
  expect(shares.some((share) => share > 0.8 && share < 1)).toBe(true);
  expect(shares.some((share) => share < 0.7)).toBe(true);
  universe.close();
});

test('some knowledge-base entries are not in the Atlas', async () => {
  const { universe } = await grow('small.db');
  const atlas = startAtlas({ universe });
  const database = openDatabase(join(folder, 'small.db'));
  const absent = database
    .prepare('SELECT accession, hash FROM uniprot WHERE hash NOT IN (SELECT hash FROM protein)')
    .all();
  expect(absent.length).toBeGreaterThan(5);
  for (const { accession, hash } of absent) {
    const entry = await atlas.read(`/uniprot/${accession}`, wire.uniprot);
    expect(entry.protein_hash).toBe(hash);
    expect(md5(entry.sequence)).toBe(hash);
    expect((await atlas.request(`${PREFIX}/proteins/${hash}`)).status).toBe(404);
  }
  database.close();
  universe.close();
});

test("the user's own FASTA proteins are part of the universe", async () => {
  const fasta = join(folder, 'own.fasta');
  const own = 'MKTAYIAKQRQISFVKSHFSRQLEERLGLIEVQAPILSRVGDGTQDNLSGAEKAVQVKVKALPDAQFEVV';
  writeFileSync(
    fasta,
    `>my_design version 2\n${own.slice(0, 30).toLowerCase()}\n${own.slice(30)}*\n>sp|Q9TEST|TEST_HUMAN Test protein OS=Homo sapiens OX=9606 GN=TST PE=1 SV=1\nMAAAWWWKKKXDDDEEE\n`,
  );
  const { universe } = await grow('own.db', { fasta });
  const atlas = startAtlas({ universe });
  const record = await atlas.read(`/proteins/${md5(own)}`, wire.protein);
  expect(record).toMatchObject({
    accession: 'my_design',
    source: 'user',
    header: 'my_design version 2',
    sequence: own,
  });
  expect(record.pdb).toContain('ATOM');
  const hits = await atlas.read(`/similarity-search?sequence=${own}`, wire.similarity);
  expect(hits.similar_proteins[0]).toMatchObject({ protein_hash: md5(own), similarity_score: 1 });
  const entry = await atlas.read('/uniprot/TEST_HUMAN', wire.uniprot);
  expect(entry).toMatchObject({
    accession: 'Q9TEST',
    gene: 'TST',
    organism: 'Homo sapiens',
    protein_name: 'Test protein',
  });
  expect((await atlas.read(`/proteins/${entry.protein_hash}`, wire.protein)).pdb).toBeNull();
  universe.close();

  writeFileSync(fasta, '>fine\nMKV\n>broken\nMK1\n');
  await expect(grow('bad.db', { fasta })).rejects.toThrow('FASTA line 4');
  writeFileSync(fasta, 'MKV\n');
  await expect(grow('bad.db', { fasta })).rejects.toThrow('FASTA line 1');
  expect(readdirSync(folder).filter((name) => name.startsWith('bad'))).toEqual([]);
});
