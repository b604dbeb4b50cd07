import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { writeFoldFile } from '../../src/structure/fold/files.ts';
import { toLists, toMatrix } from '../../src/structure/fold/matrix.ts';
import { type PaeRange, paeBlock } from '../../src/structure/fold/pae.ts';
import { readRaw } from '../../src/structure/fold/raw.ts';
import type { FoldingResult } from '../../src/structure/fold/result.ts';
import { readFold } from '../../src/upstream/folds/read-fold.ts';
import { expectShortTurns } from '../cpu-time.ts';
import { largeFold, smallFold } from './fold.ts';

const toBytes = (value: unknown) => Buffer.from(JSON.stringify(value));
const open = (value: unknown) => readFold(toBytes(value));
const createMatrix = (rows: unknown[]) => toMatrix(rows) ?? expect.fail('no matrix');
const readBlock = ({ pae }: FoldingResult, range?: PaeRange) => pae && paeBlock(pae, range);
const md5 = (text: string) => createHash('md5').update(text).digest('hex');

test('chains have their tokens, kinds, sequences, hashes and means', async () => {
  const summary = await open(smallFold());
  expect(summary.chains).toEqual([
    {
      id: 'A',
      kind: 'protein',
      tokenStart: 0,
      tokenEnd: 3,
      sequence: 'MGS',
      proteinHash: md5('MGS'),
      meanPlddt: expect.closeTo(0.92),
    },
    {
      id: 'B',
      kind: 'protein',
      tokenStart: 3,
      tokenEnd: 5,
      sequence: 'MG',
      proteinHash: md5('MG'),
      meanPlddt: expect.closeTo(0.795),
    },
    {
      id: 'R',
      kind: 'rna',
      tokenStart: 5,
      tokenEnd: 7,
      sequence: 'AU',
      proteinHash: null,
      meanPlddt: expect.closeTo(0.695),
    },
    {
      id: 'D',
      kind: 'dna',
      tokenStart: 7,
      tokenEnd: 9,
      sequence: 'AT',
      proteinHash: null,
      meanPlddt: expect.closeTo(0.595),
    },
    {
      id: 'L',
      kind: 'ligand',
      tokenStart: 9,
      tokenEnd: 10,
      sequence: null,
      proteinHash: null,
      meanPlddt: expect.closeTo(0.52),
    },
    {
      id: 'M',
      kind: 'ligand',
      tokenStart: 10,
      tokenEnd: 11,
      sequence: null,
      proteinHash: null,
      meanPlddt: expect.closeTo(0.47),
    },
  ]);
  expect(summary).toMatchObject({
    ptm: 0.8123,
    iptm: 0.7,
    meanPlddt: expect.closeTo(0.72),
    embeddings: null,
  });
});

test('null slots of the pLDDT stay where the upstream put them', async () => {
  const fold = smallFold();
  expect((await open(fold)).plddt.slots).toEqual(fold.plddt);
});

test('chains are found by their numbers, and by the breaks without; names that are lost are never made up', async () => {
  const { complex, plddt } = smallFold();
  const { metadata: _, ...bare } = complex;
  const ranges = (chains: readonly { tokenStart: number; tokenEnd: number }[]) =>
    chains.map(({ tokenStart, tokenEnd }) => [tokenStart, tokenEnd]);
  const wanted = [
    [0, 3],
    [3, 5],
    [5, 7],
    [7, 9],
    [9, 10],
    [10, 11],
  ];
  const summary = await open({ complex: bare });
  expect(ranges(summary.chains)).toEqual(wanted);
  expect(summary.misfits.chains).toMatch(/complex\.metadata\.chain_lookup: .*none for chain 0/);
  const words = complex.chain_id.map((chain) => 'HKLXYZ'[chain]);
  const said = await open({ complex: { ...bare, chain_id: words } });
  expect([said.misfits.chains, said.chains.map(({ id }) => id).join('')]).toEqual([null, 'HKLXYZ']);
  const { chain_id: __, ...barer } = bare;
  const broken = await open({ complex: barer, plddt });
  expect(ranges(broken.chains)).toEqual(wanted);
  expect(broken.misfits.chains).toContain('$.complex.chain_id');
});

test('a free amino acid and the atoms of a ligand are no polymer; a chain of modified residues is one', async () => {
  const chains = (names: string[], chain: number[], hetero: boolean, atoms: number) => ({
    complex: {
      sequence: names,
      chain_id: chain,
      atom_positions: names.flatMap(() => Array.from({ length: atoms }, () => [0, 0, 0])),
      atom_hetero: names.flatMap(() => Array.from({ length: atoms }, () => hetero)),
      token_to_atoms: names.map((_, k) => [k * atoms, (k + 1) * atoms]),
    },
  });
  const kinds = async (value: unknown) => (await open(value)).chains.map(({ kind }) => kind);
  expect(await kinds(chains(['ALA'], [0], true, 5))).toEqual(['ligand']);
  expect(await kinds(chains(['C', 'C', 'U'], [0, 0, 0], true, 1))).toEqual(['ligand']);
  expect(await kinds(chains(['MSE', 'SEP'], [0, 0], true, 6))).toEqual(['protein']);
  expect(await kinds(chains(['A', 'C', 'N'], [0, 0, 0], false, 20))).toEqual(['rna']);
});

test('pair ipTM goes by chain id, and a matrix that does not fit says nothing', async () => {
  const fold = smallFold();
  const summary = await open(fold);
  expect(summary.chainPairs).toHaveLength(36);
  expect(summary.chainPairs).toContainEqual(expect.objectContaining({ a: 'B', b: 'D', iptm: 0.4 }));
  for (const matrix of [[], null, [[1]], undefined, 'x']) {
    const { chainPairs } = await open({ ...fold, pair_chains_iptm: matrix });
    expect(chainPairs.every(({ iptm }) => iptm === null)).toBe(true);
  }
});

test('a PAE block is the mean of its cells, holds no more points than allowed and no step more than needed', () => {
  const cell = fc.option(fc.float({ min: 0, max: 32, noNaN: true }), { nil: null });
  const matrix = fc.integer({ min: 0, max: 14 }).chain((size) =>
    fc.array(fc.array(cell, { minLength: size, maxLength: size }), {
      minLength: size,
      maxLength: size,
    }),
  );
  const bounds = fc.tuple(fc.nat(16), fc.nat(16)).map(([a, b]) => [Math.min(a, b), Math.max(a, b)] as const);
  fc.assert(
    fc.property(matrix, bounds, bounds, fc.integer({ min: 1, max: 60 }), (pae, rows, columns, maxPoints) => {
      const block = paeBlock(createMatrix(pae), {
        rowStart: rows[0],
        rowEnd: rows[1],
        columnStart: columns[0],
        columnEnd: columns[1],
        maxPoints,
      });
      const { step } = block;
      const [height, width] = [block.rowEnd - block.rowStart, block.columnEnd - block.columnStart];
      expect(Math.ceil(height / step) * Math.ceil(width / step)).toBeLessThanOrEqual(maxPoints);
      if (step > 1) {
        expect(Math.ceil(height / (step - 1)) * Math.ceil(width / (step - 1))).toBeGreaterThan(maxPoints);
      }
      expect(block.values.length).toBe(Math.ceil(height / step));
      block.values.forEach((line, i) => {
        expect(line.length).toBe(Math.ceil(width / step));
        line.forEach((value, k) => {
          const cells = pae
            .slice(block.rowStart + i * step, Math.min(block.rowEnd, block.rowStart + (i + 1) * step))
            .flatMap((row) =>
              row.slice(
                block.columnStart + k * step,
                Math.min(block.columnEnd, block.columnStart + (k + 1) * step),
              ),
            )
            .filter((v) => v !== null);
          if (cells.length === 0) expect(value).toBeNull();
          else expect(value).toBeCloseTo(cells.reduce((sum, v) => sum + v, 0) / cells.length, 4);
        });
      });
    }),
  );
});

test('a range that is none is refused', async () => {
  const fold = await open(smallFold());
  for (const range of [{ rowStart: 3, rowEnd: 1 }, { columnStart: -1 }, { maxPoints: 0 }])
    expect(() => readBlock(fold, range)).toThrow(RangeError);
});

test('rows of different lengths and cells that are no numbers are no matrix', () => {
  expect(toMatrix([[1], [1, 2]])).toBeUndefined();
  expect(toMatrix([[1, 'x']])).toBeUndefined();
  expect(toMatrix([1, 2])).toBeUndefined();
  const rows = [
    [1, null, 0.30000000000000004],
    [-1, 2, 3],
  ];
  expect(toLists(createMatrix(rows))).toEqual(rows);
  expect(createMatrix(rows).max).toBe(3);
  expect(createMatrix([[null]]).max).toBeNull();
});

test('raw values are found by path, and no path leads out of the JSON', async () => {
  const written = JSON.stringify({ ...smallFold(), later: { key: [1, { x: 'y' }] } });
  const value = JSON.parse(written) as ReturnType<typeof smallFold>;
  const { raw } = await open(value);
  expect(readRaw(raw, 'later.key.1.x')).toBe('y');
  expect(readRaw(raw, 'complex.metadata.chain_lookup.2')).toBe('R');
  for (const path of [
    'constructor',
    '__proto__',
    'later.key.length',
    'later.key.map',
    'later.key.9',
    'ptm.toFixed',
    'a.b',
  ]) {
    expect(readRaw(raw, path)).toBeNull();
  }
  expect(readRaw(raw)).toEqual(value);
  expect(readRaw(raw, 'pae.2.1')).toBe(value.pae[2]?.[1]);
  const enveloped = await open({ status: 'success', data: value });
  expect(readRaw(enveloped.raw)).toEqual({ status: 'success', data: value });
  expect(readRaw(enveloped.raw, 'data.pae')).toEqual(value.pae);
});

test('a worker reads exactly what the main thread does', async () => {
  const here = await readFold(toBytes(smallFold()), { workerAboveBytes: 1e9 });
  const there = await readFold(toBytes(smallFold()), { workerAboveBytes: 0 });
  expect(there).toEqual(here);
});

test('a PAE of a thousand tokens does not hold the loop', async () => {
  const value = largeFold(1000);
  const bytes = toBytes(value);
  const read = async () => {
    const fold = await readFold(bytes);
    return { fold, block: readBlock(fold), file: writeFoldFile(fold, 'MMCIF') };
  };
  const { fold, block, file } = await read();
  expect(fold.pae?.rowCount).toBe(1000);
  expect(block?.step).toBe(10);
  const cells = value.pae.slice(10, 20).flatMap((row) => row.slice(30, 40));
  expect(block?.values[1]?.[3]).toBeCloseTo(cells.reduce((sum, v) => sum + v, 0) / cells.length);
  expect(file).toMatchObject({ ok: true, atomCount: 5000 });
  await expectShortTurns(read, 0.3);
});

test('opens and writes a result without a throw, whatever it holds', async () => {
  const some = fc.oneof(fc.jsonValue(), fc.array(fc.jsonValue()), fc.array(fc.array(fc.nat(9))));
  const keys = [
    'sequence',
    'atom_positions',
    'atom_elements',
    'atom_names',
    'atom_hetero',
    'token_to_atoms',
    'chain_id',
    'plddt',
    'metadata',
  ];
  const complex = fc.record(Object.fromEntries(keys.map((key) => [key, some])), { requiredKeys: [] });
  await fc.assert(
    fc.asyncProperty(
      complex,
      fc.dictionary(fc.constantFrom('plddt', 'ptm', 'pae', 'pair_chains_iptm', 'entity_id'), some),
      async (changed, rest) => {
        const fold = smallFold();
        const read = await open({ ...fold, complex: { ...fold.complex, ...changed }, ...rest });
        readBlock(read);
        expect(writeFoldFile(read, 'MMCIF').ok || !writeFoldFile(read, 'PDB').ok).toBe(true);
      },
    ),
    {
      numRuns: 300,
      // Found once: what cannot even become a text.
      examples: [[{ sequence: [[]], chain_id: [{ toString: false }] }, {}]],
    },
  );
});

test('NaN is nothing; broken JSON is not quoted', async () => {
  const text = JSON.stringify(smallFold()).replace('"ptm":0.8123', '"ptm":NaN');
  expect((await readFold(Buffer.from(text))).ptm).toBeNull();
  for (const workerAboveBytes of [0, 1e9]) {
    const error: unknown = await readFold(Buffer.from('{"secret": sesame}'), {
      workerAboveBytes,
    }).catch((e: unknown) => e);
    expect(error).toMatchObject({ name: 'SyntaxError' });
    expect(String(error)).not.toMatch(/ses|secret/);
  }
});

test('a result that is nested too deep is no result, here and in a thread', async () => {
  const deep = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);
  for (const levels of [1_000, 2_000_000])
    for (const text of [deep(levels), `{"ptm":${deep(levels)}}`, `{"pae":${deep(levels)}}`])
      await expect(readFold(Buffer.from(text))).rejects.toThrow('nested more than 32 levels deep');
});
