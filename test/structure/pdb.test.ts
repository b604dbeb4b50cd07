import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type AtlasPdb, writeAtlasPdb } from '../../src/structure/atlas-pdb.ts';
import { parsePdb, readResidueLetters } from '../../src/structure/pdb.ts';
import { pdbToMmcif } from '../../src/structure/pdb-to-mmcif.ts';
import type { PlddtUnit } from '../../src/structure/plddt-scale.ts';
import { readCif } from './read-cif.ts';

const atlas = [
  'REMARK   1 FREE TO USE',
  'ATOM      1  N   MET A   1      11.104   6.134  -6.504  1.00  0.90           N  ',
  'ATOM      2  CA  MET A   1      11.639   6.071  -5.147  1.00  0.91           C  ',
  'ATOM      3  N   CYS A   2      10.104   6.134  -6.504  1.00  0.60           N  ',
  'ATOM      4  CA  CYS A   2      10.639   6.071  -5.147  1.00  0.59           C  ',
].join('\n');

/** One-letter codes of the polymers. */
function readSequences(pdb: string) {
  const file = pdbToMmcif(pdb, { id: 'x' });
  const polymers = readCif(file.ok ? file.text : '').get('entity_poly');
  return polymers?.map(({ pdbx_seq_one_letter_code_can: codes }) => codes);
}

test('the form that the Atlas serves, without TER and END, is read', () => {
  expect(parsePdb(atlas)).toMatchObject({
    atomCount: 4,
    residues: [
      { chain: 'A', name: 'MET', number: 1, confidence: 0.91 },
      { chain: 'A', name: 'CYS', number: 2, confidence: 0.59 },
    ],
  });
  expect(readSequences(atlas)).toEqual(['MC']);
});

test('the licence of a structure stays in its mmCIF, whatever number its remarks have, or none', () => {
  const remarks = [
    'REMARK ptm 0.8',
    'REMARK   1',
    'REMARK   1 MADE BY A MODEL',
    'REMARK   3 CC BY 4.0',
    'REMARK No warranty.',
  ];
  const file = pdbToMmcif(`${remarks.join('\r\n')}\r\n${atlas}`, { id: 'x' });
  const [struct] = readCif(file.ok ? file.text : '').get('struct') ?? [];
  expect(struct?.pdbx_model_details?.split('\n')).toEqual([
    'MADE BY A MODEL',
    'CC BY 4.0',
    'No warranty.',
    'FREE TO USE',
  ]);
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
  expect(readSequences(text)).toEqual(['MG']);
  expect([...new Set(parsed.residues.map(({ chain }) => chain))]).toEqual(['A', 'B']);
  expect(parsed.residues.map(({ number, insertion, confidence }) => [number, insertion, confidence])).toEqual(
    [
      [-5, '', 10],
      [10, 'A', null],
      [1, '', 20],
      [2, '', 20],
    ],
  );
  expect(parsed.residues.flatMap(({ atoms }) => atoms.map(({ element }) => element))).toEqual([
    'C',
    'C',
    'CA',
    'O',
  ]);
});

test.each([
  [' CA ', 'C'],
  ['HG11', 'H'],
  ['HD22', 'H'],
  ['1HB ', 'H'],
  ["HO5'", 'H'],
  ['C10A', 'C'],
  ['FE  ', 'FE'],
  [' NA ', 'N'],
])('the element of an atom called %j is %s where its column is missing', (name, element) => {
  const file = pdbToMmcif(`ATOM      1 ${name} GLY A   1      11.104   6.134  -6.504  1.00  0.87`, {
    id: 'x',
  });
  const [atom] = readCif(file.ok ? file.text : '').get('atom_site') ?? [];
  expect(atom?.type_symbol).toBe(element);
});

test('finds nothing in a text that is no PDB', () => {
  for (const text of ['', '<html>', 'ATOM', 'ATOM  \n\n']) expect(parsePdb(text).atomCount).toBe(0);
  expect(pdbToMmcif('', { id: 'x' })).toMatchObject({ ok: false });
});

test('has as mmCIF the same atoms, pLDDT on the scale asked for, and the remarks at its head', () => {
  const file = pdbToMmcif(scaled(atlas, 'PERCENT'), { id: 'efebacde779fb9ede77f2039ec6cfe09' });
  if (!file.ok) throw new Error(file.reason);
  const cif = readCif(file.text);
  expect(cif.get('entity_poly')?.[0]?.pdbx_seq_one_letter_code).toBe('MC');
  expect(cif.get('ma_qa_metric')?.map(({ type }) => type)).toEqual(['pLDDT']);
  expect(cif.get('ma_qa_metric_local')?.map(({ metric_value }) => metric_value)).toEqual(['91.00', '59.00']);
  const unit = pdbToMmcif(atlas, { id: 'x', plddtUnit: 'UNIT' });
  const inUnit = readCif(unit.ok ? unit.text : '');
  expect(inUnit.get('ma_qa_metric')?.map(({ type }) => type)).toEqual(['pLDDT in [0,1]']);
  expect(inUnit.get('ma_qa_metric_local')?.[1]?.metric_value).toBe('0.5900');
  expect(cif.get('struct')?.[0]?.pdbx_model_details).toContain('FREE TO USE');
});

const written = (text: string, about: Partial<AtlasPdb> = {}) =>
  writeAtlasPdb(Buffer.from(text), { hash: 'ab', ptm: null, meanPlddt: null, unit: 'UNIT', ...about });

/** The remarks and atoms of a text with pLDDT on a scale. */
const scaled = (text: string, unit: PlddtUnit) =>
  [...written(text, { unit }).matchAll(/^(?:REMARK.*?(?= *$)|ATOM.*)/gm)].join('\n');

test('B-factors are rescaled in place and nothing else moves', () => {
  const percent = scaled(atlas, 'PERCENT');
  expect(parsePdb(percent).residues.map(({ confidence }) => confidence)).toEqual([91, 59]);
  expect(percent.length).toBe(atlas.length);
  expect(percent.replace(/(\d\.\d\d) 91\.00/, '$1  0.91').split('\n')[2]).toBe(atlas.split('\n')[2]);
  expect(scaled(percent, 'PERCENT')).toBe(percent);
  expect(scaled(atlas, 'UNIT')).toBe(atlas);
  expect(parsePdb(scaled(percent, 'UNIT')).residues.map(({ confidence }) => confidence)).toEqual([
    0.91, 0.59,
  ]);
});

test.each([
  ['  0.00', '  0.00', '  0.00'],
  ['  1.00', '100.00', '  1.00'],
  ['0.5712', ' 57.12', '0.5712'],
  [' 0.075', '  7.50', ' 0.075'],
  ['     1', '100.00', '     1'],
  ['      ', '      ', '      '],
  ['   nan', '   nan', '   nan'],
  [' -0.10', '-10.00', ' -0.10'],
  [' 57.12', ' 57.12', '0.5712'],
  ['100.00', '100.00', '1.0000'],
])('a B-factor of %j is %j in percent and %j in unit', (column, percent, unit) => {
  const line = (b: string) => `ATOM      1  CA  GLY A   1       0.000   0.000   0.000  1.00${b}           C`;
  expect(scaled(line(column), 'PERCENT')).toBe(line(percent));
  expect(scaled(line(column), 'UNIT')).toBe(line(unit));
});

test('remarks say the scale that the B-factors have', () => {
  const remarks = (to: string) =>
    `REMARK   1 PLDDT ON A SCALE OF 0 TO ${to}.\nREMARK   2 ERRORS OF 0 TO 1.5.\n`;
  const atom = atlas.split('\n').find((line) => line.startsWith('ATOM')) ?? '';
  const percent = scaled(remarks('1') + atom, 'PERCENT');
  expect(percent).toContain(remarks('100'));
  expect(scaled(percent, 'UNIT')).toContain(remarks('1'));
});

test('remarks of the service that are longer than a record are cut at a space', () => {
  const licence = Array.from({ length: 30 }, (_, word) => `WORD${word}`).join(' ');
  const atom = atlas.split('\n').find((line) => line.startsWith('ATOM')) ?? '';
  const lines = written(`REMARK   1 ${licence}\nREMARK ${licence}\n${atom}\n`).split('\n');
  for (const line of lines.filter((one) => !one.startsWith('ATOM')))
    expect(line.length).toBeLessThanOrEqual(80);
  const read = (start: string) =>
    lines
      .filter((line) => line.startsWith(`${start} WORD`))
      .map((line) => line.slice(start.length + 1).trimEnd());
  expect(read('REMARK   1').join(' ')).toBe(licence);
  expect(read('REMARK').join(' ')).toBe(licence);
});

test('a file of the Atlas ends as the format says, once, and its bridges are records of the head', () => {
  const line = (serial: number, name: string, residue: number, x: number) =>
    `ATOM  ${String(serial).padStart(5)}  ${name.padEnd(3)} CYS A${String(residue).padStart(4)}    ${x.toFixed(3).padStart(8)}   0.000   0.000  1.00  0.90           ${name[0]}  `;
  const atoms = [line(1, 'CA', 1, 9), line(2, 'SG', 1, 0), line(3, 'SG', 2, 2.05), line(4, 'SG', 3, 40)];
  const ended = (end: string) => written(atoms.join('\n') + end);
  const whole = [
    'HEADER    COMPUTED MODEL',
    'TITLE     PROTEIN ab',
    'SSBOND   1 CYS A    1    CYS A    2                          1555   1555  2.05',
    'CRYST1    1.000    1.000    1.000  90.00  90.00  90.00 P 1           1',
    ...atoms,
    'TER       5      CYS A   3',
    'MASTER        0    0    0    0    0    0    0    0    4    1    0    0',
    'END',
  ];
  const text = whole.map((record) => `${record.padEnd(80)}\n`).join('');
  for (const end of ['', '\n', '\nEND\n', '\nMASTER  1 2\nEND   \r\n\n']) expect(ended(end)).toBe(text);
  expect(ended(`\n${whole.at(-3)?.padEnd(80)}\nEND\n`)).toBe(text);
});

test('the head is ours, and keeps what else the service says', () => {
  const atom = `ATOM      1  CA  GLY A   1       0.000   0.000   0.000  1.00 88.10           C${' '.repeat(3)}\n`;
  const about = { hash: 'ab', ptm: 0.81234, meanPlddt: 0.881, unit: 'PERCENT' } as const;
  const headed = (head: string, more = {}) => written(head + atom, { ...about, ...more }).split(/^ATOM/m)[0];
  const expected = (...remarks: string[]) =>
    ['HEADER    COMPUTED MODEL', 'TITLE     PROTEIN ab', ...remarks]
      .concat('CRYST1    1.000    1.000    1.000  90.00  90.00  90.00 P 1           1')
      .map((line) => `${line.padEnd(80)}\n`)
      .join('');
  const scores = ['REMARK   1 ptm 0.8123', 'REMARK   1 mean_plddt 88.1'];
  expect(headed('')).toBe(expected(...scores));
  expect(headed('REMARK ptm 0.8\nREMARK   1 mean_plddt: 0.9\r\n')).toBe(expected(...scores));
  expect(
    headed('HEADER    X\nTITLE     Y\nREMARK   1 FREE.\n\nCRYST1   10.000\nSEQRES   1 A    1  GLY\n'),
  ).toBe(expected(...scores, 'REMARK   1 FREE.', 'SEQRES   1 A    1  GLY'));
  expect(headed('', { unit: 'UNIT', ptm: null })).toBe(expected('REMARK   1 mean_plddt 0.881'));
  expect(headed('', { ptm: null, meanPlddt: null })).toBe(expected());
});

test('residues are read from the bytes as parsing finds them', () => {
  const record = fc.constantFrom('ATOM  ', 'HETATM', 'TER   ', 'ANISOU', 'HEADER', 'HET   ', 'HETNAM', 'END');
  const residue = fc.constantFrom('A   1 ', 'A   1A', 'A   2 ', 'B   2 ', 'B1002 ');
  const lines = fc.array(fc.tuple(record, residue), { maxLength: 20 });
  fc.assert(
    fc.property(lines, fc.constantFrom('\n', '\r\n'), (list, lineEnd) => {
      const text = list
        .map(([name, id]) => `${name}    1  CA  ALA ${id}     11.639   6.071  -5.147  1.00  0.91           C`)
        .join(lineEnd);
      expect(readResidueLetters(Buffer.from(text))).toBe('A'.repeat(parsePdb(text).residues.length));
    }),
  );
});
