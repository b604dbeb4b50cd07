import { expect, test } from 'vitest';
import { parsePdb } from '../../src/structure/pdb.ts';
import { pdbToMmcif, scalePdbBFactors } from '../../src/structure/pdb-to-mmcif.ts';
import { readCif } from './read-cif.ts';
import { viewMmcif } from './viewer.ts';

const atlas = [
  'REMARK   1 FREE TO USE',
  'ATOM      1  N   MET A   1      11.104   6.134  -6.504  1.00  0.90           N  ',
  'ATOM      2  CA  MET A   1      11.639   6.071  -5.147  1.00  0.91           C  ',
  'ATOM      3  N   CYS A   2      10.104   6.134  -6.504  1.00  0.60           N  ',
  'ATOM      4  CA  CYS A   2      10.639   6.071  -5.147  1.00  0.59           C  ',
].join('\n');

test('the form that the Atlas serves, without TER and END, is read', () => {
  expect(parsePdb(atlas)).toMatchObject({
    atomCount: 4,
    sequence: 'MC',
    chains: ['A'],
    residues: [
      { name: 'MET', number: 1, letter: 'M', b: 0.91 },
      { name: 'CYS', number: 2, letter: 'C', b: 0.59 },
    ],
  });
});

test('other writers: models, alternative places, modified residues, ligands, missing columns, insertions, CRLF', () => {
  const text = [
    'MODEL        1',
    'ATOM      1  CA AMSE A  -5      11.104   6.134  -6.504  0.50 10.00           C  ',
    'ATOM      2  CA BMSE A  -5      11.639   6.071  -5.147  0.50 11.00           C  ',
    'ATOM      3  CA  GLY A  10A     10.104   6.134  -6.504',
    'HETATM    4 CA    CA B   1      10.639   6.071  -5.147  1.00 20.00          CA  ',
    'HETATM    5  O   HOH B   2      10.639   6.071  -5.147  1.00 20.00           O  ',
    'ATOM      6  CA  XYZ B   3      nonsense   x        ',
    'ENDMDL',
    'MODEL        2',
    'ATOM      1  CA  ALA A   1      11.104   6.134  -6.504  1.00 10.00           C  ',
  ].join('\r\n');
  const parsed = parsePdb(text);
  expect(parsed.atomCount).toBe(4);
  expect(parsed.sequence).toBe('MG');
  expect(parsed.chains).toEqual(['A', 'B']);
  expect(parsed.residues.map(({ number, insertion, b }) => [number, insertion, b])).toEqual([
    [-5, '', 10],
    [10, 'A', null],
    [1, '', 20],
    [2, '', 20],
  ]);
  expect(parsed.atoms.map(({ element }) => element)).toEqual(['C', 'C', 'CA', 'O']);
});

test('nothing in a text that is no PDB', () => {
  for (const text of ['', '<html>', 'ATOM', 'ATOM  \n\n']) expect(parsePdb(text).atomCount).toBe(0);
  expect(pdbToMmcif('', { id: 'x' })).toMatchObject({ ok: false });
});

test('as mmCIF it has the same atoms, pLDDT on the scale asked for, and the remarks at its head', async () => {
  const file = pdbToMmcif(atlas, { id: 'efebacde779fb9ede77f2039ec6cfe09', factor: 100 });
  if (!file.ok) throw new Error(file.reason);
  const cif = readCif(file.text);
  expect(cif.get('entity_poly')?.[0]?.pdbx_seq_one_letter_code).toBe('MC');
  expect(cif.get('ma_qa_metric_local')?.map(({ metric_value }) => metric_value)).toEqual(['91.00', '59.00']);
  expect(cif.get('struct')?.[0]?.pdbx_model_details).toContain('FREE TO USE');
  const { atoms } = await viewMmcif(file.text);
  expect(atoms.map(({ name, number, b }) => [name, number, b])).toEqual([
    ['N', 1, 90],
    ['CA', 1, 91],
    ['N', 2, 60],
    ['CA', 2, 59],
  ]);
});

test('B-factors are rescaled in place and nothing else moves', () => {
  const scaled = scalePdbBFactors(atlas, 100);
  expect(parsePdb(scaled).residues.map(({ b }) => b)).toEqual([91, 59]);
  expect(scaled.length).toBe(atlas.length);
  expect(scaled.replace(/(\d\.\d\d) 91\.00/, '$1  0.91').split('\n')[2]).toBe(atlas.split('\n')[2]);
});
