// Covalent bonds whose atoms have names: what is sent, what checkFold says of them, and what a fold
// makes of them.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listElements } from '../../src/submission/smiles.ts';
import { at, listAt, openWorld, type World } from '../support.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

const CHAINS = [
  { protein: { ids: ['A'], sequence: 'GNKDCHF' } },
  { rna: { ids: ['R'], sequence: 'GACU' } },
  { ligand: { ids: ['L'], ccd: ['NAG', 'NAG', 'BMA'] } },
  { ligand: { ids: ['S'], smiles: 'C=CC(=O)Nc1ccccc1' } },
  { ligand: { ids: ['T'], ccd: ['ATP'] } },
  { ligand: { ids: ['Z'], ccd: ['ZN'] } },
  {
    protein: {
      ids: ['M'],
      sequence: 'GSGKM',
      modifications: [
        { position: 1, ccd: 'SEP' },
        { position: 3, ccd: 'CRK' },
        { position: 4, ccd: 'MSE' },
      ],
    },
  },
  { rna: { ids: ['N'], sequence: 'GC', modifications: [{ position: 1, ccd: 'OMC' }] } },
  { ligand: { ids: ['H'], ccd: ['HEM'] } },
  { ligand: { ids: ['P'], ccd: ['PLP'] } },
  { ligand: { ids: ['U'], ccd: ['ZZ9'] } },
];
type End = readonly [chain: string, residue: number, atom: string | number | null];
const toBond = ([one, two]: readonly [End, End]) => {
  const toEnd = ([chain, residue, atom]: End, n: number) => ({
    [`chainId${n}`]: chain,
    [`residueIndex${n}`]: residue,
    ...(atom === null ? {} : { [`${typeof atom === 'string' ? 'atomName' : 'atomIndex'}${n}`]: atom }),
  });
  return { ...toEnd(one, 1), ...toEnd(two, 2) };
};
const toInput = (...bonds: readonly (readonly [End, End])[]) => ({
  items: [{ chains: CHAINS, covalentBonds: bonds.map(toBond) }],
});

const CHECK = `query ($input: SubmitFoldInput!) { checkFold(input: $input) {
  ok issues { path code message hint } warnings { path code message hint }
  items { covalentBonds { chainId residueIndex component atomIndex atomName element } } } }`;
const check = async (input: object) => {
  const { data, errors } = await world.query(CHECK, { input });
  expect(errors).toBeUndefined();
  return at(data, 'checkFold');
};

describe('an atom of a bond', () => {
  it.each<[string, End, object]>([
    [
      'of a standard residue by name',
      ['A', 1, 'ND2'],
      { component: 'ASN', atomIndex: 7, atomName: 'ND2', element: 'N' },
    ],
    ['in lower case', ['A', 4, 'sg'], { component: 'CYS', atomIndex: 5, atomName: 'SG', element: 'S' }],
    ['by index', ['A', 5, 9], { component: 'HIS', atomIndex: 9, atomName: 'NE2', element: 'N' }],
    [
      'at the end of a protein',
      ['A', 6, 'OXT'],
      { component: 'PHE', atomIndex: 11, atomName: 'OXT', element: 'O' },
    ],
    ['of a nucleotide', ['R', 1, "O2'"], { component: 'A', atomIndex: 10, atomName: "O2'", element: 'O' }],
    ['of a nucleotide, as PDB files wrote it once', ['R', 1, 'O2*'], { atomIndex: 10, atomName: "O2'" }],
    ['of a sugar', ['L', 0, 'C1'], { component: 'NAG', atomIndex: 0, atomName: 'C1', element: 'C' }],
    [
      'of a sugar behind the atom that leaves',
      ['L', 1, 'O4'],
      { component: 'NAG', atomIndex: 10, atomName: 'O4' },
    ],
    ['of another sugar', ['L', 2, 6], { component: 'BMA', atomIndex: 6, atomName: 'O2', element: 'O' }],
    ['of an ion', ['Z', 0, 'ZN'], { component: 'ZN', atomIndex: 0, atomName: 'ZN', element: 'Zn' }],
    ['of a SMILES', ['S', 0, 3], { component: null, atomIndex: 3, atomName: null, element: 'O' }],
    ['of a cofactor', ['T', 0, 'PA'], { component: 'ATP', atomIndex: 8, atomName: 'PA', element: 'P' }],
    [
      'of a cofactor by index',
      ['T', 0, 3],
      { component: 'ATP', atomIndex: 3, atomName: 'O3G', element: 'O' },
    ],
    ['of a haem', ['H', 0, 'CAB'], { component: 'HEM', atomIndex: 19, atomName: 'CAB', element: 'C' }],
    ['of the iron of a haem', ['H', 0, 'FE'], { component: 'HEM', atomIndex: 42, element: 'Fe' }],
    ['behind an atom of a cofactor that leaves', ['P', 0, 'C5A'], { component: 'PLP', atomIndex: 9 }],
    ['of a modified residue', ['M', 1, 'P'], { component: 'SEP', atomIndex: 6, atomName: 'P', element: 'P' }],
    ['of a modified residue at the end', ['M', 4, 'SE'], { component: 'MSE', atomIndex: 6, element: 'Se' }],
    ['of a modified nucleotide', ['N', 1, 'CM2'], { component: 'OMC', atomIndex: 11, element: 'C' }],
    ['by the name of a phosphate from before 2008', ['R', 1, 'O1P'], { atomIndex: 1, atomName: 'OP1' }],
    ["by such a name where it is today's", ['M', 1, 'O1P'], { atomIndex: 7, atomName: 'O1P' }],
    ['of a component that the gateway does not know', ['U', 0, 3], { component: null, atomName: null }],
    ['of a modified residue that it does not know', ['M', 3, 5], { component: null, atomName: null }],
  ])('%s', async (_, end, expected) => {
    const found = await check(toInput([end, ['A', 2, 'NZ']]));
    expect(at(found, 'issues')).toEqual([]);
    expect(listAt(found, 'items.0.covalentBonds')[0]).toMatchObject([
      { chainId: end[0], residueIndex: end[1], ...expected },
      { chainId: 'A', residueIndex: 2, component: 'LYS', atomIndex: 8, atomName: 'NZ', element: 'N' },
    ]);
  });

  it.each<[string, End, string]>([
    [
      'that the residue does not have',
      ['A', 1, 'NX2'],
      'ASN has no heavy atom "NX2". It has 0 N, 1 CA, 2 C, 3 O, 4 CB, 5 CG, 6 OD1, 7 ND2.',
    ],
    ['of hydrogen', ['A', 1, 'HD21'], 'ASN has no heavy atom "HD21".'],
    ['that leaves', ['L', 0, 'O1'], '"O1" of NAG leaves when the component is bonded.'],
    [
      'of a ligand whose order is not known',
      ['U', 0, 'PA'],
      'The gateway does not know the index of "PA" in this residue. Give atomIndex1. Heavy atoms count from 0',
    ],
    ['of a SMILES', ['S', 0, 'C1'], 'Give atomIndex1. It has 0 C, 1 C, 2 C, 3 O, 4 N'],
    ['of an unknown modified residue', ['M', 3, 'OG'], 'The gateway does not know the index of "OG"'],
    [
      'that a modified residue does not have',
      ['M', 1, 'SG'],
      'SEP has no heavy atom "SG". It has 0 N, 1 CA, 2 CB',
    ],
    ['that leaves a cofactor', ['P', 0, 'O4A'], '"O4A" of PLP leaves when the component is bonded.'],
  ])('is a mistake by a name %s', async (_, end, text) => {
    const found = await check(toInput([end, ['A', 2, 'NZ']]));
    const [issue, ...more] = listAt(found, 'issues');
    expect(more).toEqual([]);
    expect(issue).toMatchObject({ path: 'items.0.covalentBonds.0.atomName1', code: 'UNKNOWN_ATOM' });
    expect(`${at(issue, 'message')} ${at(issue, 'hint')}`).toContain(text);
  });

  it('is a mistake by name in a chain that the service names, and one mistake outside its chain', async () => {
    const chains = [...CHAINS, { protein: { sequence: 'GNK' } }];
    const found = (end: End) =>
      check({ items: [{ chains, covalentBonds: [toBond([end, ['A', 2, 'NZ']])] }] });
    expect(listAt(await found(['Q', 1, 'ND2']), 'issues')).toMatchObject([
      { code: 'UNKNOWN_ATOM', hint: 'Give the chain an id, or give atomIndex1.' },
    ]);
    expect(listAt(await found(['A', 99, 'ND2']), 'issues')).toMatchObject([
      { path: 'items.0.covalentBonds.0.residueIndex1', code: 'RESIDUE_OUT_OF_RANGE' },
    ]);
  });

  it('is a mistake without index and name, and with two that differ', async () => {
    const missing = await check(
      toInput([
        ['A', 2, 'NZ'],
        ['A', 1, null],
      ]),
    );
    expect(listAt(missing, 'issues')).toMatchObject([
      {
        path: 'items.0.covalentBonds.0',
        code: 'ATOM_MISSING',
        message: 'The bond has neither atomIndex2 nor atomName2.',
      },
    ]);
    const [bond] = [
      toBond([
        ['A', 2, 'NZ'],
        ['A', 3, 'CG'],
      ]),
    ];
    const both = (atomIndex1: number) =>
      check({ items: [{ chains: CHAINS, covalentBonds: [{ ...bond, atomIndex1 }] }] });
    expect(at(await both(8), 'ok')).toBe(true);
    expect(listAt(await both(7), 'issues')).toMatchObject([
      { code: 'UNKNOWN_ATOM', message: '"NZ" of LYS is atom 8, and atomIndex1 is 7.' },
    ]);
  });

  it.each<[string, End, string]>([
    ['beyond those of its residue', ['A', 1, 8], 'ATOM_OUT_OF_RANGE'],
    ['beyond those of its sugar when it is bonded', ['L', 0, 14], 'ATOM_OUT_OF_RANGE'],
    ['beyond those of its SMILES', ['S', 0, 11], 'ATOM_OUT_OF_RANGE'],
    ['that has all its bonds in the backbone', ['A', 1, 'C'], 'CANNOT_BOND'],
    ['that has all its bonds in a ring', ['A', 6, 5], 'CANNOT_BOND'],
  ])('is a warning %s', async (_, end, code) => {
    const found = await check(toInput([end, ['A', 2, 'NZ']]));
    expect(at(found, 'ok')).toBe(true);
    const codes = listAt(found, 'warnings').map((one) => at(one, 'code'));
    // Nothing joins the sugars of chain L here.
    expect(codes).toEqual(['UNBONDED_COMPONENTS', code]);
  });

  const VALENCES = [
    { protein: { ids: ['A'], sequence: 'MPNKAWCH' } },
    { dna: { ids: ['D'], sequence: 'GC' } },
    { ligand: { ids: ['L'], ccd: ['NAG'] } },
    { ligand: { ids: ['Z'], ccd: ['ZN'] } },
    { ligand: { ids: ['P'], ccd: ['PLP'] } },
    { ligand: { ids: ['G'], ccd: ['GLU'] } },
    { protein: { ids: ['X'], sequence: 'GSG', modifications: [{ position: 1, ccd: 'DHA' }] } },
  ];
  const checkValence = async (one: End, two: End) => {
    const items = [{ chains: VALENCES, covalentBonds: [toBond([one, two])] }];
    const found = await check({ items });
    expect([at(found, 'ok'), at(found, 'issues')]).toEqual([true, []]);
    return listAt(found, 'warnings').map((warning) => [at(warning, 'code'), at(warning, 'message')]);
  };
  const SUGAR: End = ['L', 0, 'C1'];

  it.each<[string, End, End, string]>([
    [
      'of a methyl group',
      ['A', 0, 'CE'],
      SUGAR,
      'Atom 7 (CE of MET) has no free valence for a bond to C1 of NAG.',
    ],
    [
      'of a thioether',
      ['A', 0, 'SD'],
      SUGAR,
      'Atom 6 (SD of MET) has no free valence for a bond to C1 of NAG.',
    ],
    [
      'of an amide',
      ['A', 2, 'OD1'],
      SUGAR,
      'Atom 6 (OD1 of ASN) has no free valence for a bond to C1 of NAG.',
    ],
    [
      'of a peptide bond',
      ['A', 3, 'O'],
      SUGAR,
      'Atom 3 (O of LYS) has no free valence for a bond to C1 of NAG.',
    ],
    [
      'of proline in a chain',
      ['A', 1, 'N'],
      SUGAR,
      'Atom 0 (N of PRO) has no free valence for a bond to C1 of NAG.',
    ],
    [
      'of a ribose',
      ['D', 0, "C3'"],
      SUGAR,
      "Atom 7 (C3' of DG) has no free valence for a bond to C1 of NAG.",
    ],
    [
      'inside a strand',
      ['D', 0, "O3'"],
      SUGAR,
      "Atom 8 (O3' of DG) has no free valence for a bond to C1 of NAG.",
    ],
    [
      'of a sugar ring',
      ['L', 0, 'C4'],
      ['A', 2, 'ND2'],
      'Atom 3 (C4 of NAG) has no free valence for a bond to ND2 of ASN.',
    ],
  ])('is a warning without a free valence: %s', async (_, one, two, message) => {
    expect(await checkValence(one, two)).toEqual([['CANNOT_BOND', message]]);
    expect(await checkValence(two, one)).toEqual([['CANNOT_BOND', message]]);
  });

  it.each<[string, End, End]>([
    ['a metal on a thioether', ['A', 0, 'SD'], ['Z', 0, 'ZN']],
    ['a metal on a peptide', ['A', 3, 'O'], ['Z', 0, 'ZN']],
    ['a thioether of a sactipeptide', ['A', 6, 'SG'], ['A', 4, 'CA']],
    ['mannosylated tryptophan', ['A', 5, 'CD1'], SUGAR],
    ['a methylated guanine', ['D', 0, 'O6'], SUGAR],
    ['cysteine on cytosine', ['D', 1, 'C6'], ['A', 6, 'SG']],
    ['an aldehyde of a cofactor', ['P', 0, 'C4A'], ['A', 3, 'NZ']],
    ['dehydroalanine', ['X', 1, 'CB'], SUGAR],
    ['a free amino acid', ['G', 0, 'C'], ['A', 3, 'NZ']],
    ['a ring closed by both ends', ['A', 0, 'N'], ['A', 7, 'C']],
  ])('has no warning for %s', async (_, one, two) => {
    expect(await checkValence(one, two)).toEqual([]);
  });

  it('has no warning for bonds that chemists make', async () => {
    const found = await check(
      toInput(
        [
          ['A', 2, 'NZ'],
          ['A', 3, 'CG'],
        ],
        [
          ['A', 0, 'N'],
          ['A', 6, 'C'],
        ],
        [
          ['A', 1, 'ND2'],
          ['L', 0, 'C1'],
        ],
        [
          ['L', 0, 'O4'],
          ['L', 1, 'C1'],
        ],
        [
          ['L', 1, 'O4'],
          ['L', 2, 'C1'],
        ],
        [
          ['A', 4, 'SG'],
          ['S', 0, 0],
        ],
        [
          ['A', 5, 'NE2'],
          ['Z', 0, 'ZN'],
        ],
      ),
    );
    expect(found).toMatchObject({ ok: true, warnings: [] });
  });
});

const SUBMIT = `mutation ($input: SubmitFoldInput!) { submitFold(input: $input) {
  ... on FoldSubmitted { batch { batchId } replayed } } }`;

it('is sent by its index, and a name is the same input as its index', async () => {
  world.forget();
  const token = { authorization: 'Bearer bonds' };
  const submit = async (...ends: readonly [End, End]) => {
    const input = { ...toInput(ends), idempotencyKey: 'glycan' };
    return (await world.query(SUBMIT, { input }, token)).data;
  };
  const first = await submit(['A', 1, 'ND2'], ['L', 0, 'C1']);
  const second = await submit(['A', 1, 7], ['L', 0, 0]);
  expect(at(second, 'submitFold.batch.batchId')).toBe(at(first, 'submitFold.batch.batchId'));
  expect(at(second, 'submitFold.replayed')).toBe(true);
  const sent = world.calls
    .filter(({ operation }) => operation === 'submit')
    .map(({ body }) => JSON.parse(body));
  expect(sent).toMatchObject([
    {
      payload: [
        {
          all_atom_input: {
            covalent_bonds: [
              { chain_id1: 'A', res_idx1: 1, atom_idx1: 7, chain_id2: 'L', res_idx2: 0, atom_idx2: 0 },
            ],
          },
        },
      ],
    },
  ]);
});

it('elements of a SMILES are those of its heavy atoms', () => {
  expect(listElements('[2H]C([H])c1c[nH]c[se]1.[Na+].Cl[*:1]')).toEqual([
    'C',
    'C',
    'C',
    'N',
    'C',
    'Se',
    'Na',
    'Cl',
    '*',
  ]);
  expect(listElements('C'.repeat(10_001))).toBeUndefined();
});
