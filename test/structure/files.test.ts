import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fold } from '../../sandbox/src/folding/fold.ts';
import type { DeclaredAtom, DeclaredBond } from '../../src/structure/fold/declared-bonds.ts';
import { writeFoldFile, writeMmcifWithPae } from '../../src/structure/fold/files.ts';
import { pdbToMmcif } from '../../src/structure/pdb-to-mmcif.ts';
import { largeFold, smallFold } from './fold.ts';
import { readCif } from './read-cif.ts';
import { bondedFold, expectedAtoms, open, written } from './written-files.ts';

test('a strict reader finds every atom, entity and confidence in the mmCIF', async () => {
  const fold = smallFold();
  const file = await written(fold, 'mmcif');
  const cif = readCif(file.text);
  const rows = cif.get('atom_site') ?? [];
  expect(file.atomCount).toBe(rows.length);
  expect(
    rows.map((row) => ({
      name: row.label_atom_id,
      element: row.type_symbol,
      residue: row.label_comp_id,
      number: Number(row.auth_seq_id),
      chain: row.auth_asym_id,
      at: [Number(row.Cartn_x), Number(row.Cartn_y), Number(row.Cartn_z)],
      b: Number(row.B_iso_or_equiv),
    })),
  ).toEqual(expectedAtoms(fold));
  expect(rows.at(-1)?.label_seq_id).toBe('.');
  expect(new Set(rows.map((row) => row.pdbx_PDB_model_num))).toEqual(new Set(['1']));
  expect(cif.get('entity')?.map(({ type }) => type)).toEqual([
    'polymer',
    'polymer',
    'polymer',
    'polymer',
    'non-polymer',
    'non-polymer',
  ]);
  expect(cif.get('entity_poly')).toMatchObject([
    {
      type: 'polypeptide(L)',
      pdbx_strand_id: 'A',
      pdbx_seq_one_letter_code: 'MG(SEP)',
      pdbx_seq_one_letter_code_can: 'MGS',
      nstd_monomer: 'yes',
    },
    { pdbx_strand_id: 'B', pdbx_seq_one_letter_code: 'MG', nstd_monomer: 'no' },
    { type: 'polyribonucleotide', pdbx_strand_id: 'R', pdbx_seq_one_letter_code: 'AU' },
    {
      type: 'polydeoxyribonucleotide',
      pdbx_strand_id: 'D',
      pdbx_seq_one_letter_code: '(DA)(DT)',
      pdbx_seq_one_letter_code_can: 'AT',
    },
  ]);
  expect(cif.get('ma_qa_metric_local')?.map(({ metric_value }) => Number(metric_value))).toEqual(
    fold.complex.plddt.map((value) => Number((value * 100).toFixed(2))),
  );
  expect(cif.get('ma_qa_metric_global')?.map(({ metric_value }) => Number(metric_value))).toEqual([
    72, 0.8123, 0.7,
  ]);
  expect(cif.get('struct')?.[0]?.pdbx_model_details).toContain('A stand-in; no prediction.');
});

test('every reference inside the mmCIF leads to something', async () => {
  const fold = smallFold();
  fold.complex.sequence.splice(9, 2, 'DOD', 'WAT');
  const cif = readCif((await written(fold, 'mmcif')).text);
  expect(
    cif
      .get('entity')
      ?.map(({ type }) => type)
      .slice(-2),
  ).toEqual(['water', 'water']);
  const keys = (category: string, name: string) => new Set(cif.get(category)?.map((row) => row[name]));
  for (const [from, name, to, key] of [
    ['atom_site', 'label_entity_id', 'entity', 'id'],
    ['atom_site', 'label_asym_id', 'struct_asym', 'id'],
    ['atom_site', 'label_comp_id', 'chem_comp', 'id'],
    ['atom_site', 'type_symbol', 'atom_type', 'symbol'],
    ['struct_asym', 'entity_id', 'entity', 'id'],
    ['entity_poly', 'entity_id', 'entity', 'id'],
    ['ma_qa_metric_local', 'label_asym_id', 'struct_asym', 'id'],
    ['ma_qa_metric_local', 'metric_id', 'ma_qa_metric', 'id'],
  ] as const) {
    const [known, values] = [keys(to, key), keys(from, name)];
    expect(values.size, `${from}.${name}`).toBeGreaterThan(0);
    for (const value of values) expect(known, `${from}.${name}`).toContain(value);
    expect(known, `${to}.${key}`).not.toContain(undefined);
  }
});

test('two copies of a chain, or of a ligand, are one entity of two molecules', async () => {
  const fold = smallFold();
  fold.complex.sequence[3] = 'GLY';
  fold.complex.sequence[4] = 'GLY';
  fold.complex.sequence[9] = 'MG';
  fold.complex.chain_id = [0, 1, 2, 3, 3, 4, 4, 5, 5, 6, 6];
  fold.complex.metadata.chain_lookup = {
    '0': 'A',
    '1': 'B',
    '2': 'C',
    '3': 'D',
    '4': 'E',
    '5': 'F',
    '6': 'G',
  };
  fold.complex.sequence.splice(0, 2, 'GLY', 'GLY');
  const cif = readCif((await written(fold, 'mmcif')).text);
  expect(cif.get('entity_poly')?.[0]).toMatchObject({ pdbx_strand_id: 'A,B' });
  expect(cif.get('struct_asym')?.length).toBe(8);
  expect(cif.get('entity')?.map((entity) => entity.pdbx_number_of_molecules)).toEqual([
    ...['2', '1', '1', '1', '1', '2'],
  ]);
});

test('refuses what PDB columns cannot hold with the reason, and mmCIF still holds it', async () => {
  const long = smallFold();
  long.complex.metadata.chain_lookup['0'] = 'AA';
  expect(writeFoldFile(await open(long), 'PDB')).toMatchObject({
    ok: false,
    reason: expect.stringContaining('"AA"'),
  });
  expect((await written(long, 'mmcif')).text).toContain(' AA ');
  expect(writeFoldFile(await open(largeFold(10_001, false)), 'PDB')).toMatchObject({
    ok: false,
    reason: expect.stringContaining('10000'),
  });
});

test('a long sequence is cut into lines of 13 residues in PDB files and of 80 letters in mmCIF', async () => {
  const fold = largeFold(170, false);
  const [poly] = readCif((await written(fold, 'mmcif')).text).get('entity_poly') ?? [];
  expect(poly?.pdbx_seq_one_letter_code?.split('\n').map(({ length }) => length)).toEqual([80, 80, 10]);
  const { text } = await written(fold, 'pdb');
  const lengths = [...text.matchAll(/^SEQRES .{12}(.*)$/gm)].map(
    ([, names = '']) => names.match(/\w+/g)?.length,
  );
  expect(lengths).toEqual([...Array.from({ length: 13 }, () => 13), 1]);
});

test('no text in names or warnings can break the mmCIF', async () => {
  const nasty = fc.oneof(
    fc.string({ unit: 'binary', minLength: 1, maxLength: 8 }),
    fc.constantFrom(
      "O5'",
      '"',
      "'",
      '#',
      '_x',
      'data_x',
      'loop_',
      '.',
      '?',
      ';',
      'a\' b" c',
      '$f',
      '[1',
      'stop_',
      '\n;\n',
    ),
  );
  // A token or a chain without a name of its own is refused.
  const name = nasty.filter((text) => text.trim() !== '' && !/^[ABRDM]$/.test(text));
  await fc.assert(
    fc.asyncProperty(nasty, name, name, nasty, async (atom, residue, chain, warning) => {
      const fold = smallFold();
      fold.complex.atom_names[20] = atom;
      fold.complex.sequence[9] = residue;
      fold.complex.metadata.chain_lookup['4'] = chain;
      fold.warning_messages = [warning];
      const rows = readCif((await written(fold, 'mmcif')).text).get('atom_site') ?? [];
      expect(rows.length).toBe(fold.complex.atom_names.length);
      const plain = (text: string) =>
        text
          .replace(/\r\n?/g, '\n')
          .trim()
          .replace(/[^\n\t\x20-\x7e]/gu, '?');
      const printable = plain(atom);
      if (!printable.includes('\n') && printable !== '') expect(rows[20]?.label_atom_id).toBe(printable);
    }),
    { numRuns: 150 },
  );
});

test('a bond over chains is in the mmCIF, and different SMILES are different entities', async () => {
  const result = await bondedFold();
  const file = await written(result, 'mmcif');
  const cif = readCif(file.text);
  expect(cif.get('struct_conn')).toMatchObject([
    { conn_type_id: 'covale', ptnr1_label_seq_id: '2', ptnr1_label_atom_id: 'NZ', ptnr2_label_atom_id: 'C1' },
  ]);
  const asyms = new Map(cif.get('struct_asym')?.map(({ id, entity_id }) => [id, entity_id]));
  expect(asyms.get('X')).toBe(asyms.get('Y'));
  expect(asyms.get('X')).not.toBe(asyms.get('Z'));
  const pdb = await written(result, 'pdb');
  const lines = pdb.text
    .trimEnd()
    .split('\n')
    .map((line) => line.padEnd(80));
  expect(
    pdb.text
      .split('\n')
      .slice(0, -1)
      .every((line) => line.length === 80),
  ).toBe(true);
  expect(pdb.text.endsWith(`${'END'.padEnd(80)}\n`)).toBe(true);
  expect(lines.filter((line) => line.startsWith('SEQRES'))).toEqual([
    'SEQRES   1 A   10  MET LYS THR ASN TYR SEP ALA LYS GLN ARG'.padEnd(80),
  ]);
  expect(lines.filter((line) => line.startsWith('MODRES'))).toEqual([
    'MODRES      SEP A    6  SER  MODIFIED RESIDUE'.padEnd(80),
  ]);
});

test('disulfide bridges are told, and clashes are no bonds', async () => {
  const cys = (at: number, chain: number) => ({ at, chain });
  const residues = [cys(0, 0), cys(2.05, 0), cys(30, 0), cys(60, 0), cys(62.4, 0), cys(30.4, 1)];
  const file = await written(
    {
      complex: {
        sequence: residues.map(() => 'CYS'),
        chain_id: residues.map(({ chain }) => chain),
        metadata: { chain_lookup: { '0': 'A', '1': 'B' } },
        atom_names: residues.flatMap(() => ['CA', 'SG']),
        atom_elements: residues.flatMap(() => ['C', 'S']),
        atom_positions: residues.flatMap(({ at }, k) => [
          [at, 10, 9 * k],
          [at, 0, 0],
        ]),
        token_to_atoms: residues.map((_, k) => [2 * k, 2 * k + 2]),
      },
    },
    'mmcif',
  );
  expect(readCif(file.text).get('struct_conn')).toMatchObject([
    { conn_type_id: 'disulf', ptnr1_label_seq_id: '1', ptnr2_label_seq_id: '2', pdbx_dist_value: '2.050' },
  ]);
});

/** A fold of one chain or several by hand: residues of atoms at given places. */
const createFold = (
  residues: readonly {
    readonly name: string;
    readonly chain?: number;
    readonly atoms: readonly (readonly [name: string, x: number, y: number, z: number])[];
  }[],
) => {
  let at = 0;
  const atoms = residues.flatMap((residue) => residue.atoms);
  return {
    complex: {
      sequence: residues.map(({ name }) => name),
      chain_id: residues.map(({ chain = 0 }) => chain),
      metadata: { chain_lookup: { '0': 'A', '1': 'B', '2': 'C' } },
      atom_names: atoms.map(([name]) => name),
      atom_elements: atoms.map(([name]) => name.replace(/[^A-Z].*$/, '').slice(0, 1)),
      atom_positions: atoms.map(([, ...place]) => place),
      token_to_atoms: residues.map((residue) => {
        const start = at;
        at += residue.atoms.length;
        return [start, at];
      }),
    },
  };
};

/** A residue of a chain along x, whose peptide bond to the next is 1.33 Å. */
const along = (name: string, x: number, side: [string, number, number, number][] = []) => ({
  name,
  atoms: [['N', x, 0, 0], ['CA', x + 1.2, 0.8, 0], ['C', x + 2.47, 0, 0], ...side] as [
    string,
    number,
    number,
    number,
  ][],
});

const bondsIn = async (value: unknown, bonds: readonly DeclaredBond[] = []) =>
  (readCif((await written(value, 'mmcif', bonds)).text).get('struct_conn') ?? []).map((row) => [
    row.conn_type_id,
    `${row.ptnr1_label_comp_id}${row.ptnr1_label_seq_id} ${row.ptnr1_label_atom_id}`,
    `${row.ptnr2_label_comp_id}${row.ptnr2_label_seq_id} ${row.ptnr2_label_atom_id}`,
  ]);

test('bonds within a chain are told, peptide bonds are not', async () => {
  const isopeptide = [
    along('LYS', 0, [['NZ', 5, 6, 0]]),
    along('GLY', 3.8),
    along('ASP', 7.6, [['CG', 5, 7.33, 0]]),
  ];
  expect(await bondsIn(createFold(isopeptide))).toEqual([['covale', 'LYS1 NZ', 'ASP3 CG']]);
  const thioether = [
    along('CYS', 0, [['SG', 5, 6, 0]]),
    along('GLY', 3.8),
    along('DHA', 7.6, [['CB', 5, 7.81, 0]]),
  ];
  expect(await bondsIn(createFold(thioether))).toEqual([['covale', 'CYS1 SG', 'DHA3 CB']]);
  // A ring of eight residues, closed from N to C: its corners lie on a circle.
  const turn = (2 * Math.PI) / 8;
  const place = (k: number, radius: number): [number, number, number] => [
    radius * Math.cos(k * turn),
    radius * Math.sin(k * turn),
    0,
  ];
  const radius = 1.33 / 2 / Math.sin(0.175 * turn);
  const ring = Array.from({ length: 8 }, (_, k) => ({
    name: 'ALA',
    atoms: [
      ['N', ...place(k - 0.325, radius)],
      ['CA', ...place(k, radius)],
      ['C', ...place(k + 0.325, radius)],
    ] as [string, number, number, number][],
  }));
  expect(await bondsIn(createFold(ring))).toEqual([['covale', 'ALA1 N', 'ALA8 C']]);
});

test('atoms that touch are no bond: too far or near, of the wrong elements, inside a chain, at two places', async () => {
  const apart = (a: [string, number], b: [string, number], more: [string, number, number, number][] = []) => [
    along('SER', 0, [[a[0], 5, 6, 0]]),
    along('GLY', 3.8),
    along('SER', 7.6, [[b[0], 5, 6 + b[1], 0], ...more]),
  ];
  expect(await bondsIn(createFold(apart(['CB', 0], ['CB', 1.52])))).toHaveLength(1);
  expect(await bondsIn(createFold(apart(['CB', 0], ['CB', 1.2])))).toEqual([]);
  expect(await bondsIn(createFold(apart(['CB', 0], ['CB', 1.8])))).toEqual([]);
  expect(await bondsIn(createFold(apart(['OG', 0], ['OG', 1.4])))).toEqual([]);
  expect(await bondsIn(createFold(apart(['O', 0], ['CB', 1.4])))).toEqual([]);
  expect(await bondsIn(createFold(apart(['CB', 0], ['CB', 1.52], [['OG', 5.5, 7.4, 0.5]])))).toEqual([]);
  // Half precision: at 200 Å places are 0.125 Å apart.
  const far = apart(['NZ', 0], ['CG', 1.33]).map(({ name, atoms }) => ({
    name,
    atoms: atoms.map(
      ([atom, x, y, z]) =>
        [atom, Math.round((x + 200) * 8) / 8, Math.round((y + 200) * 8) / 8, z] as [
          string,
          number,
          number,
          number,
        ],
    ),
  }));
  expect(await bondsIn(createFold(far))).toHaveLength(1);
});

test('a bridge is SSBOND, a glycan LINK and CONECT, and the records are counted', async () => {
  const result = createFold([
    along('CYS', 0, [['SG', 5, 6, 0]]),
    along('ASN', 3.8, [['ND2', 30, 30, 0]]),
    along('CYS', 7.6, [['SG', 5, 8.05, 0]]),
    {
      name: 'NAG',
      chain: 1,
      atoms: [
        ['C1', 31.45, 30, 0],
        ['C2', 32.2, 31.3, 0],
        ['O5', 32.2, 28.8, 0],
      ],
    },
  ]);
  const { text } = await written(result, 'pdb');
  const records = (name: string) =>
    text
      .split('\n')
      .filter((line) => line.startsWith(name))
      .map((line) => line.trimEnd());
  expect(text.split('\n')[0]).toBe('HEADER    COMPUTED MODEL'.padEnd(80));
  expect(records('SSBOND')).toEqual([
    'SSBOND   1 CYS A    1    CYS A    3                          1555   1555  2.05',
  ]);
  expect(records('LINK')).toEqual([
    'LINK         ND2 ASN A   2                 C1  NAG B   1     1555   1555  1.45',
  ]);
  expect(records('CRYST1')).toEqual([
    'CRYST1    1.000    1.000    1.000  90.00  90.00  90.00 P 1           1',
  ]);
  expect(records('TER')).toEqual(['TER      13      CYS A   3']);
  expect(records('CONECT')).toEqual([
    'CONECT    4   12',
    'CONECT    8   14',
    'CONECT   12    4',
    'CONECT   14    8   15   16',
    'CONECT   15   14',
    'CONECT   16   14',
  ]);
  expect(records('MASTER')).toEqual([
    'MASTER        0    0    0    0    0    0    0    0   15    1    6    1',
  ]);
  expect((await bondsIn(result)).map(([kind]) => kind)).toEqual(['disulf', 'covale']);
});

const end = (chainId: string, residueIndex: number, atom: string | number): DeclaredAtom => ({
  ...{ chainId, residueIndex },
  ...(typeof atom === 'string' ? { atomIndex: 99, atomName: atom } : { atomIndex: atom, atomName: null }),
});
const bond = (from: DeclaredAtom, to: DeclaredAtom): DeclaredBond => ({ from, to });

test('a declared bond is told whatever its length and elements, once, also where distance finds it', async () => {
  const result = createFold([
    along('LYS', 0, [['NZ', 5, 6, 0]]),
    along('SER', 3.8, [['OG', 20, 20, 0]]),
    along('ASP', 7.6, [['CG', 5, 9, 0]]),
    along('SER', 11.4, [['OG', 20, 21.4, 0]]),
    along('CYS', 15.2, [['SG', 30, 30, 0]]),
    along('CYS', 19, [['SG', 30, 32.05, 0]]),
    along('HIS', 22.8, [['NE2', 40, 40, 0]]),
    { name: 'ZN', chain: 1, atoms: [['ZN', 42.1, 40, 0]] },
  ]);
  result.complex.atom_elements.splice(-1, 1, 'ZN');
  const isopeptide = bond(end('A', 0, 'NZ'), end('A', 2, 'CG'));
  const declared = [
    ...[isopeptide, bond(isopeptide.to, isopeptide.from), bond(end('A', 1, 'OG'), end('A', 3, 'OG'))],
    ...[bond(end('A', 4, 'SG'), end('A', 5, 'SG')), bond(end('A', 6, 'NE2'), end('B', 0, 0))],
  ];
  expect(await bondsIn(result)).toEqual([['disulf', 'CYS5 SG', 'CYS6 SG']]);
  const cif = readCif((await written(result, 'mmcif', declared)).text);
  expect(cif.get('struct_conn')?.map((row) => [row.conn_type_id, row.pdbx_dist_value, row.details])).toEqual([
    ['covale', '3.000', 'declared'],
    ['covale', '1.400', 'declared'],
    ['disulf', '2.050', 'declared'],
    ['metalc', '2.100', 'declared'],
  ]);
  expect(cif.get('struct_conn_type')?.map(({ id, criteria }) => [id, criteria])).toEqual(
    ['covale', 'disulf', 'metalc'].map((id) => [id, 'declared, or distance of two covalent radii']),
  );
  const { text } = await written(result, 'pdb', declared);
  const records = (name: RegExp) => text.match(name)?.map((line) => line.trimEnd());
  expect(records(/^LINK.*/gm)).toEqual([
    'LINK         NZ  LYS A   1                 CG  ASP A   3     1555   1555  3.00',
    'LINK         OG  SER A   2                 OG  SER A   4     1555   1555  1.40',
    'LINK         NE2 HIS A   7                ZN    ZN B   1     1555   1555  2.10',
  ]);
  expect(records(/^SSBOND.*/gm)).toHaveLength(1);
  expect(records(/^CONECT.*/gm)).toEqual(
    [
      ...[
        [4, 12],
        [8, 16],
        [12, 4],
        [16, 8],
        [20, 24],
        [24, 20],
        [28, 30],
        [30, 28],
      ],
    ].map((pair) => `CONECT${pair.map((one) => String(one).padStart(5)).join('')}`),
  );
});

test('an index counts heavy atoms, also those without a place; what the result does not have is left out', async () => {
  const result = createFold([
    along('ALA', 0),
    along('LYS', 3.8, [['NZ', 5, 6, 0]]),
    {
      name: 'LIG',
      chain: 1,
      atoms: [
        ['C1', 60, 60, 0],
        ['H1', 60, 61, 0],
        ['O1', 61.4, 60, 0],
        ['N1', 64, 60, 0],
      ],
    },
  ]);
  const positions: unknown[] = result.complex.atom_positions;
  const [lost, nitrogen] = [end('B', 0, 0), end('B', 0, 2)];
  const amine = end('A', 1, 'NZ');
  const found = (...declared: DeclaredBond[]) => bondsIn(result, declared);
  const bonded = [['covale', 'LIG. N1', 'LYS2 NZ']];
  expect(await found(bond(nitrogen, amine))).toEqual(bonded);
  positions[7] = [null, null, null];
  expect(await found(bond(nitrogen, amine))).toEqual(bonded);
  expect(
    await found(
      ...[lost, end('B', 0, 3), end('B', 1, 0), end('C', 0, 0), end('A', 1, 'NX'), amine].map((one) =>
        bond(one, amine),
      ),
    ),
  ).toEqual([]);
  // A bond that its residue has anyway is no double bond.
  const inner = bond(end('B', 0, 1), end('B', 0, 1));
  const near = createFold([
    along('ALA', 0),
    {
      name: 'LIG',
      chain: 1,
      atoms: [
        ['C1', 60, 60, 0],
        ['O1', 61.4, 60, 0],
      ],
    },
  ]);
  const { text } = await written(near, 'pdb', [{ ...inner, from: end('B', 0, 0) }]);
  expect(text.match(/^CONECT.*/gm)?.map((line) => line.trimEnd())).toEqual([
    'CONECT    5    6',
    'CONECT    6    5',
  ]);
});

test('a residue without coordinates is in the sequence and in REMARK 465', async () => {
  const result = createFold([along('ALA', 0), { name: 'UNK', atoms: [] }, along('GLY', 7.6)]);
  const { text } = await written(result, 'pdb');
  expect(text).toMatch(/^SEQRES {3}1 A {4}3 {2}ALA UNK GLY/m);
  expect(text).toMatch(/^REMARK 465 {5}UNK A {5}2 /m);
  const scheme = readCif((await written(result, 'mmcif')).text).get('pdbx_poly_seq_scheme');
  expect(scheme?.map((row) => [row.mon_id, row.pdb_seq_num, row.auth_seq_num, row.pdb_mon_id])).toEqual([
    ['ALA', '1', '1', 'ALA'],
    ['UNK', '2', '?', '?'],
    ['GLY', '3', '3', 'GLY'],
  ]);
});

test('molecules without a name are one entity only if they are the same, mirror images and isomers apart', async () => {
  const entities = async (smiles: readonly (readonly string[])[]) => {
    const outcome = await fold({
      model: 'm',
      input: {
        sequences: smiles.flatMap((copies, k) => ({
          type: 'ligand' as const,
          id: copies.map((_, c) => `L${k}${c}`),
          smiles: copies[0] ?? '',
        })),
      },
      repeatIndex: 0,
      includePae: false,
      includePairChainsIptm: false,
      includeEmbeddings: false,
    });
    if (!outcome.ok) throw new Error('no fold');
    const rows = readCif((await written(outcome.result, 'mmcif')).text).get('struct_asym') ?? [];
    return rows.map(({ entity_id }) => entity_id);
  };
  const alanine = 'C[C@H](N)C(=O)O';
  expect(await entities([[alanine, alanine], ['C[C@@H](N)C(=O)O']])).toEqual(['1', '1', '2']);
  expect(await entities([['C/C=C/C'], ['C/C=C\\C'], ['CCCC']])).toEqual(['1', '2', '3']);
  expect(await entities([['C1CCCCC1'], ['c1ccccc1']])).toEqual(['1', '2']);
  // The same molecule twice, laid out in two ways.
  expect(await entities([['CC(C)CCN(C)CC(C)C'], ['CC(C)CCN(C)CC(C)C']])).toEqual(['1', '1']);
});

test('a chain whose name CIF cannot hold has it in the details of its chain, as JSON', async () => {
  const small = smallFold();
  const names = { ...small.complex.metadata.chain_lookup, 0: 'Kette α "1"\n', 1: 'Kette_____1__' };
  const metadata = { ...small.complex.metadata, chain_lookup: names };
  const fold = { ...small, complex: { ...small.complex, metadata } };
  const cif = readCif((await written(fold, 'mmcif')).text);
  const [first, second] = cif.get('struct_asym') ?? [];
  expect(JSON.parse(first?.details ?? '')).toBe('Kette α "1"\n');
  expect([first?.id, second?.id, second?.details]).toEqual(['Kette___"1"_', 'Kette_____1__', '?']);
});

test('the errors of pairs are written piece by piece, as they are asked for', async () => {
  const file = writeMmcifWithPae(await open(largeFold(1000)));
  if (!file.ok) throw new Error(file.reason);
  const ordinals: number[] = [];
  for (const piece of file.pieces) {
    // The first one is the structure.
    ordinals.push(Number(/^(\d+) 1 A \d+ ALA A \d+ ALA 3 [\d.]+$/m.exec(piece)?.[1] ?? 0));
    if (ordinals.length === 3) break;
  }
  expect(ordinals.slice(0, 2)).toEqual([0, 1]);
  expect([2001, 3001, 4001]).toContain(ordinals[2]);
});

test('pairs of a residue without coordinates have no errors, and the others keep theirs', async () => {
  const fold = smallFold();
  const [start = 0, end = 0] = fold.complex.token_to_atoms[1] ?? [];
  // JSON writes null.
  fold.complex.atom_positions.fill([Number.NaN, Number.NaN, Number.NaN], start, end);
  const file = writeMmcifWithPae(await open(fold));
  if (!file.ok) throw new Error(file.reason);
  const rows = readCif([...file.pieces].join('')).get('ma_qa_metric_local_pairwise') ?? [];
  const seen = rows.map(
    (row) =>
      `${row.label_asym_id_1}${row.label_seq_id_1} ${row.label_asym_id_2}${row.label_seq_id_2} ${row.metric_value}`,
  );
  // Tokens of polymers, without the second residue of A.
  const places = ['A1', 'A2', 'A3', 'B1', 'B2', 'R1', 'R2', 'D1', 'D2'];
  const kept = places.flatMap((place, token) => (place === 'A2' ? [] : [[place, token] as const]));
  expect(seen).toEqual(kept.flatMap(([a, r]) => kept.map(([b, c]) => `${a} ${b} ${fold.pae[r]?.[c]}`)));
});

/** `_atom_site` of each file of the PDB archive and AlphaFold DB, in order. */
const ARCHIVE_ITEMS = [
  ...['group_PDB', 'id', 'type_symbol', 'label_atom_id', 'label_alt_id', 'label_comp_id', 'label_asym_id'],
  ...['label_entity_id', 'label_seq_id', 'pdbx_PDB_ins_code', 'Cartn_x', 'Cartn_y', 'Cartn_z', 'occupancy'],
  ...['B_iso_or_equiv', 'pdbx_formal_charge', 'auth_seq_id', 'auth_comp_id', 'auth_asym_id', 'auth_atom_id'],
  'pdbx_PDB_model_num',
];

const toCharges = (text: string) =>
  readCif(text)
    .get('atom_site')
    ?.map((row) => [row.label_comp_id, row.label_atom_id, row.pdbx_formal_charge].join(' '));

test('atoms have the columns of the PDB archive, and a charge where one is known', async () => {
  const { text } = await written(smallFold(), 'mmcif');
  const rows = readCif(text).get('atom_site') ?? [];
  for (const row of rows) expect(Object.keys(row)).toEqual(ARCHIVE_ITEMS);
  const line = (at: number, record: string, atom: string, component: string, end: string) =>
    `${record.padEnd(6)}${String(at).padStart(5)} ${atom} ${component.padStart(3)} A${String(at).padStart(4)}    ` +
    `${`${at}.000`.padStart(8)}   0.000   0.000  1.00 50.00          ${end}`;
  const pdb = [
    line(1, 'ATOM', ' CA ', 'ALA', ' C'),
    line(2, 'ATOM', ' NZ ', 'LYS', ' N1+'),
    line(3, 'HETATM', 'ZN  ', 'ZN', 'ZN'),
    line(4, 'HETATM', 'CA  ', 'CA', 'CA2+'),
    line(5, 'HETATM', 'CL  ', 'CL', 'CL1-'),
    line(6, 'HETATM', 'FE  ', 'FE', 'FE2+'),
    line(7, 'HETATM', 'ZN  ', 'CL', 'ZN'),
    line(8, 'HETATM', ' O  ', 'HOH', ' O +1'),
  ].join('\n');
  const file = pdbToMmcif(pdb, { id: 'x' });
  expect(file.ok && toCharges(file.text)).toEqual([
    ...['ALA CA ?', 'LYS NZ 1', 'ZN ZN 2', 'CA CA 2', 'CL CL -1', 'FE FE 2', 'CL ZN ?', 'HOH O ?'],
  ]);
});
