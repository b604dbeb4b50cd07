import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { matrixOf } from '../../src/structure/fold/matrix.ts';
import { paeBlock } from '../../src/structure/fold/pae.ts';
import { openFoldResult } from '../../src/upstream/folds/open-fold-result.ts';
import { longestBlock } from '../cpu-time.ts';
import { largeFold, smallFold } from './fold.ts';

const bytesOf = (value: unknown) => Buffer.from(JSON.stringify(value));
const open = (value: unknown) => openFoldResult(bytesOf(value));
const md5 = (text: string) => createHash('md5').update(text).digest('hex');

test('chains have their tokens, kinds, sequences, hashes and means', async () => {
  const { summary } = await open(smallFold());
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
  expect(await (await open(fold)).plddt()).toEqual(fold.plddt);
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
  const { summary } = await open({ complex: bare });
  expect(ranges(summary.chains)).toEqual(wanted);
  expect(summary.misfits.chains).toMatch(/complex\.metadata\.chain_lookup: .*none for chain 0/);
  const words = complex.chain_id.map((chain) => 'HKLXYZ'[chain]);
  const said = (await open({ complex: { ...bare, chain_id: words } })).summary;
  expect([said.misfits.chains, said.chains.map(({ id }) => id).join('')]).toEqual([null, 'HKLXYZ']);
  const { chain_id: __, ...barer } = bare;
  const broken = (await open({ complex: barer, plddt })).summary;
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
  const kinds = async (value: unknown) => (await open(value)).summary.chains.map(({ kind }) => kind);
  expect(await kinds(chains(['ALA'], [0], true, 5))).toEqual(['ligand']);
  expect(await kinds(chains(['C', 'C', 'U'], [0, 0, 0], true, 1))).toEqual(['ligand']);
  expect(await kinds(chains(['MSE', 'SEP'], [0, 0], true, 6))).toEqual(['protein']);
  expect(await kinds(chains(['A', 'C', 'N'], [0, 0, 0], false, 20))).toEqual(['rna']);
});

test('pair ipTM goes by chain id, and a matrix that does not fit says nothing', async () => {
  const fold = smallFold();
  const { summary } = await open(fold);
  expect(summary.chainPairs).toHaveLength(36);
  expect(summary.chainPairs).toContainEqual({ a: 'B', b: 'D', value: 0.4 });
  for (const matrix of [[], null, [[1]], undefined, 'x']) {
    expect((await open({ ...fold, pair_chains_iptm: matrix })).summary.chainPairs).toEqual([]);
  }
});

test('mean PAE of chain pairs is the mean of their cells', async () => {
  const fold = smallFold();
  const pairs = await (await open(fold)).paeChainPairs();
  expect(pairs).toHaveLength(36);
  const cells = fold.pae.slice(0, 3).flatMap((row) => row.slice(5, 7));
  expect(pairs.find(({ a, b }) => a === 'A' && b === 'R')?.value).toBeCloseTo(
    cells.reduce((sum, v) => sum + v, 0) / cells.length,
  );
});

test('a PAE block is the mean of its cells, holds no more points than allowed and no step more than needed', () => {
  const cell = fc.option(fc.float({ min: 0, max: 32, noNaN: true }), { nil: null });
  const matrix = fc.integer({ min: 0, max: 14 }).chain((size) =>
    fc.array(fc.array(cell, { minLength: Math.max(0, size - 2), maxLength: size }), {
      minLength: size,
      maxLength: size,
    }),
  );
  const bounds = fc.tuple(fc.nat(16), fc.nat(16)).map(([a, b]) => [Math.min(a, b), Math.max(a, b)] as const);
  fc.assert(
    fc.property(matrix, bounds, bounds, fc.integer({ min: 1, max: 60 }), (pae, rows, columns, maxPoints) => {
      const block = paeBlock(matrixOf(pae), {
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

test('a range that is none is refused, here and in the thread', async () => {
  for (const threadAboveBytes of [0, 1e9]) {
    const fold = await openFoldResult(bytesOf(smallFold()), { threadAboveBytes });
    await expect(fold.paeBlock({ rowStart: 3, rowEnd: 1 })).rejects.toBeInstanceOf(RangeError);
    await expect(fold.paeBlock({ columnStart: -1 })).rejects.toBeInstanceOf(RangeError);
    await expect(fold.paeBlock({ maxPoints: 0 })).rejects.toBeInstanceOf(RangeError);
  }
});

test('raw values are found by path, and no path leads out of the JSON', async () => {
  const fold = await open({ ...smallFold(), later: { key: [1, { x: 'y' }] } });
  expect(await fold.raw('later.key.1.x')).toBe('y');
  expect(await fold.raw('complex.metadata.chain_lookup.2')).toBe('R');
  for (const path of [
    'constructor',
    '__proto__',
    'later.key.length',
    'later.key.map',
    'later.key.9',
    'ptm.toFixed',
    'a.b',
  ]) {
    expect(await fold.raw(path)).toBeNull();
  }
  expect(await fold.raw()).toMatchObject({ later: { key: [1, { x: 'y' }] } });
});

test('the thread answers exactly as the main loop does, also after the result was closed', async () => {
  const here = await openFoldResult(bytesOf(smallFold()), { threadAboveBytes: 1e9 });
  const there = await openFoldResult(bytesOf(smallFold()), { threadAboveBytes: 0 });
  for (const closed of [false, true]) {
    if (closed) there.close();
    expect(there.summary).toEqual(here.summary);
    expect(await there.plddt()).toEqual(await here.plddt());
    expect(await there.paeBlock({ maxPoints: 9 })).toEqual(await here.paeBlock({ maxPoints: 9 }));
    expect(await there.paeChainPairs()).toEqual(await here.paeChainPairs());
    expect(await there.mmcif()).toEqual(await here.mmcif());
    expect(await there.pdb()).toEqual(await here.pdb());
    expect(await there.raw('complex')).toEqual(await here.raw('complex'));
  }
});

test('a PAE of a thousand tokens does not hold the loop', async () => {
  const value = largeFold(1000);
  const bytes = bytesOf(value);
  const { result, milliseconds } = await longestBlock(async () => {
    const fold = await openFoldResult(bytes);
    return { fold, block: await fold.paeBlock(), file: await fold.mmcif() };
  });
  const { fold, block, file } = result;
  expect(fold.summary.pae?.size).toBe(1000);
  expect(block?.step).toBe(10);
  const cells = value.pae.slice(10, 20).flatMap((row) => row.slice(30, 40));
  expect(block?.values[1]?.[3]).toBeCloseTo(cells.reduce((sum, v) => sum + v, 0) / cells.length);
  expect(file).toMatchObject({ ok: true, atomCount: 5000 });
  // 50 ms is the aim.
  expect(milliseconds).toBeLessThan(150);
});

test('whatever the result holds, it is opened and written without a throw', async () => {
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
        const handle = await open({ ...fold, complex: { ...fold.complex, ...changed }, ...rest });
        await handle.plddt();
        await handle.paeBlock();
        await handle.paeChainPairs();
        expect((await handle.mmcif()).ok || !(await handle.pdb()).ok).toBe(true);
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
  expect((await openFoldResult(Buffer.from(text))).summary.ptm).toBeNull();
  for (const threadAboveBytes of [0, 1e9]) {
    const error: unknown = await openFoldResult(Buffer.from('{"secret": sesame}'), {
      threadAboveBytes,
    }).catch((e: unknown) => e);
    expect(error).toMatchObject({ name: 'JsonError' });
    expect(String(error)).not.toMatch(/ses|secret/);
  }
});
