// Files of structures as Mol*, the library of a molecule viewer, understands them.
import { expect, test } from 'vitest';
import { fold } from '../../../sandbox/src/folding/fold.ts';
import { pdbToMmcif } from '../../../src/structure/pdb-to-mmcif.ts';
import { smallFold } from '../../structure/fold.ts';
import { bondedFold, expectedAtoms, open, written } from '../../structure/written-files.ts';
import { viewMmcif, viewPdb } from './viewer.ts';

test('a structure viewer reads the mmCIF and the PDB back with the same atoms', async () => {
  const fold = smallFold();
  const wanted = expectedAtoms(fold);
  const cif = await viewMmcif((await written(fold, 'mmcif')).text);
  expect(cif.atoms).toEqual(
    wanted.map((atom) => ({ ...atom, at: atom.at?.map((v) => Math.fround(v)), b: Math.fround(atom.b) })),
  );
  expect(cif.kinds).toEqual(['polymer', 'polymer', 'polymer', 'polymer', 'non-polymer', 'non-polymer']);
  const pdb = await viewPdb((await written(fold, 'pdb')).text);
  expect(pdb.atoms.map(({ name, chain, residue, number }) => ({ name, chain, residue, number }))).toEqual(
    wanted.map(({ name, chain, residue, number }) => ({ name, chain, residue, number })),
  );
  pdb.atoms.forEach((atom, k) => {
    expect(atom.b).toBeCloseTo(wanted[k]?.b ?? -1, 2);
    for (const axis of [0, 1, 2]) expect(atom.at[axis]).toBeCloseTo(wanted[k]?.at?.[axis] ?? 1e9, 3);
  });
});

test('a fold of the sandbox comes back whole from the viewer, chain by chain, and says that it is a stand-in', async () => {
  const outcome = await fold({
    model: 'm',
    input: {
      sequences: [
        {
          type: 'protein',
          id: ['A', 'B'],
          sequence: 'MKTAYIAKQR',
          modifications: [{ position: 2, ccd: 'TPO' }],
        },
        { type: 'rna', id: 'R', sequence: 'GGAUCC' },
        { type: 'dna', id: 'D', sequence: 'GATTACA' },
        { type: 'ligand', id: 'L', ccd: ['MG'] },
      ],
    },
    repeatIndex: 0,
    includePae: false,
    includePairChainsIptm: false,
    includeEmbeddings: false,
  });
  if (!outcome.ok) throw new Error('no fold');
  const { complex } = outcome.result;
  const read = await open(outcome.result);
  expect(read.chains.map(({ id, kind, sequence }) => [id, kind, sequence])).toEqual([
    ['A', 'protein', 'MKTAYIAKQR'],
    ['B', 'protein', 'MKTAYIAKQR'],
    ['R', 'rna', 'GGAUCC'],
    ['D', 'dna', 'GATTACA'],
    ['L', 'ligand', null],
  ]);
  const file = await written(outcome.result, 'mmcif');
  expect(file.text).toMatch(/^# .*stand-in/m);
  for (const seen of [
    await viewMmcif(file.text),
    await viewPdb((await written(outcome.result, 'pdb')).text),
  ]) {
    expect(seen.atoms.map(({ name }) => name)).toEqual(complex.atom_names);
    expect([...new Set(seen.atoms.map(({ chain }) => chain))]).toEqual(['A', 'B', 'R', 'D', 'L']);
  }
});

test('a bond over chains takes no atom away', async () => {
  const result = await bondedFold();
  const [a, b] = [
    await viewMmcif((await written(result, 'mmcif')).text),
    await viewPdb((await written(result, 'pdb')).text),
  ];
  expect(a.atoms.length).toBe(result.complex.atom_names.length);
  expect(b.atoms.length).toBe(result.complex.atom_names.length);
  expect(a.kinds.filter((kind) => kind === 'non-polymer')).toHaveLength(3);
});

test('a structure of the Atlas has its atoms and confidences', async () => {
  const file = pdbToMmcif(
    [
      'ATOM      1  N   MET A   1      11.104   6.134  -6.504  1.00 90.00           N  ',
      'ATOM      2  CA  MET A   1      11.639   6.071  -5.147  1.00 91.00           C  ',
      'ATOM      3  N   CYS A   2      10.104   6.134  -6.504  1.00 60.00           N  ',
      'ATOM      4  CA  CYS A   2      10.639   6.071  -5.147  1.00 59.00           C  ',
    ].join('\n'),
    { id: 'efebacde779fb9ede77f2039ec6cfe09' },
  );
  if (!file.ok) throw new Error(file.reason);
  const { atoms } = await viewMmcif(file.text);
  expect(atoms.map(({ name, number, b }) => [name, number, b])).toEqual([
    ['N', 1, 90],
    ['CA', 1, 91],
    ['N', 2, 60],
    ['CA', 2, 59],
  ]);
});
