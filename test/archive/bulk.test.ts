import { strToU8, zipSync } from 'fflate';
import { expect, test } from 'vitest';
import { type BulkParts, readBulkArchive } from '../../src/upstream/archive/bulk.ts';
import { readFasta } from '../../src/upstream/archive/fasta.ts';
import { expectLinear, expectShortTurns, GROWTH } from '../cpu-time.ts';

const A = 'efebacde779fb9ede77f2039ec6cfe09';
const B = 'cd9050995bb3aa9f42ca5d1eedd10b2d';
const C = 'a3f8ce0b95a063d65d4bf0361992c7f5';

const PDB = [
  'REMARK ptm 0.8125',
  'REMARK mean_plddt 0.75',
  'ATOM      1  N   MET A   1      11.104   6.134  -6.504  1.00  0.90           N  ',
  'ATOM      2  CA  MET A   1      11.639   6.071  -5.147  1.00  0.91           C  ',
  'ATOM      3  N   CYS A   2      10.104   6.134  -6.504  1.00  0.60           N  ',
  'ATOM      4  CA  CYS A   2      10.639   6.071  -5.147  1.00  0.59           C  ',
].join('\n');

const features = {
  [A]: {
    protein_level: { indices: [3, 70], values: [1.5, 0.25], shape: [16384] },
    per_residue: {
      indices: [
        [0, 1, 1],
        [3, 3, 70],
      ],
      values: [1, 2, 3],
      shape: [2, 16384],
    },
    top_features: [{ feature_index: 3, value: 1.5, label: 'a "label" with } and , and \\' }],
  },
  [B]: { protein_level: { indices: [], values: [], shape: [16384] } },
};

const whole = {
  'structures/': new Uint8Array(),
  [`structures/${A}.pdb`]: strToU8(PDB),
  'sequences.fasta': strToU8(`>${A}|P62736|uniprotkb\nMC\nEE*\n>${B}||\r\nMENT\r\n`),
  'cluster_info.json': strToU8(
    JSON.stringify({
      clusters: { [C]: { cluster_size: 4, protein_name: 'x' } },
      proteins: { [A]: C, [B]: null },
    }),
  ),
  'features.json': strToU8(JSON.stringify(features)),
  'another.txt': strToU8('of a later version'),
};

const read = (files: Record<string, Uint8Array>): Promise<BulkParts> => readBulkArchive(zipSync(files));

test('a text that is not compressed does not hold the archive in memory', async () => {
  const archive = zipSync(whole, { level: 0 });
  const text = (await readBulkArchive(archive)).structures.get(A)?.text;
  expect(text?.toJSON()).toBe(PDB);
  expect(text?.bytes().buffer).not.toBe(archive.buffer);
});

test('every member of the archive becomes parts by hash', async () => {
  const parts = await read(whole);
  expect(parts.problems).toEqual([]);
  expect(parts.sequences.get(A)).toEqual({ sequence: 'MCEE', accession: 'P62736', source: 'uniprotkb' });
  expect(parts.sequences.get(B)).toEqual({ sequence: 'MENT', accession: null, source: null });
  const structure = parts.structures.get(A);
  expect(structure?.text.toJSON()).toBe(PDB);
  expect(structure).toMatchObject({ hasAtoms: true, statesPtm: true, ptm: 0.8125, statedMean: 0.75 });
  expect(parts.representatives).toEqual(new Map([[A, C]]));
  expect(parts.clusters.get(C)).toEqual({ cluster_size: 4, protein_name: 'x' });
  expect(parts.features.get(A)?.proteinLevel).toEqual({ indices: [3, 70], values: [1.5, 0.25] });
  expect(parts.features.get(A)?.top).toMatchObject([
    { feature_index: 3, label: 'a "label" with } and , and \\' },
  ]);
  expect(parts.features.get(B)).toEqual({ proteinLevel: { indices: [], values: [] } });
  expect(parts.present).toEqual(new Set([A, B]));
  expect(parts.hasSequences).toBe(true);
});

test('activations along the sequence are read only for those who want them', async () => {
  expect((await read(whole)).features.get(A)?.rows).toBeUndefined();
  const { features } = await readBulkArchive(zipSync(whole), { rows: { top: 1, indices: [70, 5] } });
  expect(features.get(A)?.rows).toEqual(
    new Map([
      [3, { feature: 3, residues: [0, 1], values: [1, 2] }],
      [70, { feature: 70, residues: [1], values: [3] }],
      [5, { feature: 5, residues: [], values: [] }],
    ]),
  );
});

test('features that are no object are a fault', async () => {
  const text = JSON.stringify({ [A]: 5, [B]: { top_features: [] } });
  const parts = await read({ 'features.json': strToU8(text) });
  expect(parts.problems.map(({ message }) => message)).toEqual([
    'The features are not a JSON object. (features.json)',
  ]);
  expect([...parts.features.keys()]).toEqual([B]);
});

test('activations of all features are not kept where there is a ranking', async () => {
  const level = { indices: [3, 70], values: [1.5, 0.25], shape: [16384] };
  const top = [{ feature_index: 3, value: 1.5, label: '[{"' }];
  const text = JSON.stringify({
    [A]: { protein_level: level, top_features: top },
    [B]: { protein_level: level, top_features: top },
    [C]: { top_features: null, protein_level: level },
  });
  const parts = await readBulkArchive(zipSync({ 'features.json': strToU8(text) }), { level: false });
  expect(parts.problems).toEqual([]);
  expect(parts.features.get(A)).toEqual({ top });
  expect(parts.features.get(B)).toEqual({ top });
  expect(parts.features.get(C)).toEqual({ proteinLevel: { indices: [3, 70], values: [1.5, 0.25] } });
});

test('a list of sequences that is not there is said to be missing, and an empty one to be there', async () => {
  const features = { 'features.json': strToU8('{}') };
  expect((await read(features)).hasSequences).toBe(false);
  expect((await read({ ...features, 'sequences.fasta': strToU8('') })).hasSequences).toBe(true);
});

test('NaN and Infinity on the wire are nothing, and do not spoil the rest', async () => {
  const parts = await read({
    'features.json': strToU8(
      `{"${A}": {"protein_level": {"indices": [1, 2, 3], "values": [NaN, 0.5, 1e999]}, "top_features": [{"feature_index": 1, "value": -Infinity}, {"feature_index": 2, "value": 0.5}]}}`,
    ),
    'cluster_info.json': strToU8(
      `{"clusters": {"${C}": {"cluster_size": 2, "ptm": NaN, "protein_name": "NaN"}}}`,
    ),
  });
  expect(parts.problems).toEqual([]);
  expect(parts.features.get(A)?.proteinLevel).toEqual({ indices: [1, 2, 3], values: [0, 0.5, 0] });
  expect(parts.features.get(A)?.top).toMatchObject([{ feature_index: 2, value: 0.5 }]);
  expect(parts.clusters.get(C)).toEqual({ cluster_size: 2, ptm: null, protein_name: 'NaN' });
});

test('scores that are not stated are left open', async () => {
  const parts = await read({ [`structures/${A}.pdb`]: strToU8(PDB.replace(/^REMARK.*\n/gm, '')) });
  expect(parts.structures.get(A)).toMatchObject({ statesPtm: false, ptm: null, statedMean: null });
});

test('a member that cannot be read is lost alone', async () => {
  const parts = await read({ ...whole, 'features.json': strToU8(`{"${A}": {"protein_level": `) });
  expect(parts.problems.map(({ message }) => message)).toEqual([
    'The JSON is not valid, or ends too early. (features.json)',
  ]);
  expect(parts.sequences.size).toBe(2);
  expect(parts.structures.size).toBe(1);
  expect(parts.clusters.size).toBe(1);
});

test('a damaged structure is lost alone and named', async () => {
  const bytes = zipSync(whole, { level: 0 });
  const at = Buffer.from(bytes).indexOf('REMARK ptm');
  bytes[at] = 0x72;
  const parts = await readBulkArchive(bytes);
  expect(parts.problems).toMatchObject([{ message: `A member is damaged: structures/${A}.pdb.` }]);
  expect(parts.structures.size).toBe(0);
  expect(parts.sequences.size).toBe(2);
});

test('an archive without its end is one problem', async () => {
  const bytes = zipSync(whole);
  const parts = await readBulkArchive(bytes.subarray(0, bytes.length - 10));
  expect(parts.problems).toMatchObject([{ isTruncated: true }]);
  expect(parts.present.size).toBe(0);
});

/** Activations of one protein of `residues` residues, 64 of them at each. */
function perResidue(residues: number): string {
  const list = (value: (i: number) => number) =>
    Array.from({ length: residues * 64 }, (_, i) => value(i)).join(', ');
  return `{"indices": [[${list((i) => Math.floor(i / 64))}], [${list((i) => (i * 37) % 16384)}]], "values": [${list((i) => (i % 997) / 331)}]}`;
}

test('200 proteins with activations along the sequence, a few of them huge, do not hold the loop', async () => {
  const [small, huge] = [perResidue(30), perResidue(2000)];
  const all = Array.from({ length: 200 }, (_, i) => {
    const hash = String(i).padStart(32, '0');
    return `"${hash}": {"protein_level": {"indices": [1], "values": [2]}, "per_residue": ${i % 40 === 0 ? huge : small}}`;
  });
  const bytes = zipSync({ 'features.json': strToU8(`{${all.join(',\n')}}`) }, { level: 1 });
  const read = () => readBulkArchive(bytes, { rows: { top: 0, indices: [37] } });
  const result = await read();
  expect(result.features.size).toBe(200);
  expect(result.features.get('0'.repeat(32))?.rows?.get(37)?.residues).toHaveLength(8);
  await expectShortTurns(read, 0.2);
});

test('an accession that is kept holds nothing else of its file in memory', () => {
  const kept: unknown[] = [];
  void globalThis.gc?.();
  const before = process.memoryUsage().heapUsed;
  for (let n = 0; n < 20; n += 1) {
    const other = `>${'f'.repeat(32)}|MGYP000000000002|mgnify_clusters\n${'A'.repeat(1_000_000)}\n`;
    const file = Buffer.from(`>${'e'.repeat(32)}|MGYP000261684433|mgnify_clusters\nMKV\n${other}`);
    for (const [, { accession, source, sequence }] of readFasta(file.toString()))
      if (sequence === 'MKV') kept.push(accession, source, sequence);
  }
  void globalThis.gc?.();
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(5_000_000);
  expect(kept.slice(-3)).toEqual(['MGYP000261684433', 'mgnify_clusters', 'MKV']);
});

test.each<[name: string, make: (lines: number) => string]>([
  ['a line for each letter', (lines) => `>${A}\n${'a\n'.repeat(lines)}`],
  ['headers alone', (lines) => '>\n'.repeat(lines)],
  ['headers that end by a carriage return', (lines) => '>\r'.repeat(lines)],
  ['no line at all', (lines) => '>'.repeat(lines)],
])('a file of sequences with %s is read in linear time', async (_, make) => {
  const [small, large] = [200_000, 200_000 * GROWTH].map((lines) =>
    zipSync({ 'sequences.fasta': strToU8(make(lines)) }, { level: 1 }),
  );
  const { sequences, problems } = await readBulkArchive(large ?? new Uint8Array());
  expect(sequences.get(A)?.sequence ?? '').toMatch(/^A*$/);
  expect(problems.length).toBeLessThan(200);
  await expectLinear(
    () => readBulkArchive(small ?? new Uint8Array()),
    () => readBulkArchive(large ?? new Uint8Array()),
  );
});

test('a file of features that is nothing but brackets is a problem, here and in a thread', async () => {
  for (const levels of [1_000, 5_000_000]) {
    const bytes = zipSync({ 'features.json': strToU8('['.repeat(levels)) }, { level: 1 });
    const { problems } = await readBulkArchive(bytes);
    expect(problems.map(String)).toEqual([expect.stringContaining('nested more than 32 levels deep')]);
  }
});
