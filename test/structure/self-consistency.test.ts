// A folding result that contradicts itself is drift at what the contradiction concerns, and at
// nothing else. Each list and matrix is walked once.
import { describe, expect, it } from 'vitest';
import { type FoldMisfits, readFoldingResult } from '../../src/structure/fold/result.ts';
import { expectLinear, GROWTH } from '../cpu-time.ts';
import { largeFold, smallFold } from './fold.ts';

type Fold = ReturnType<typeof smallFold>;
type Part = keyof FoldMisfits;

const listMisfits = (value: object): [Part, string][] =>
  Object.entries(readFoldingResult(value).misfits).flatMap(([part, misfit]) =>
    misfit === null ? [] : [[part as Part, String(misfit)]],
  );

const withComplex = (change: (complex: Fold['complex']) => object): object => {
  const fold = smallFold();
  return { ...fold, complex: { ...fold.complex, ...change(fold.complex) } };
};
const withPae = (toCell: (value: number, row: number, column: number) => unknown): object => {
  const fold = smallFold();
  return { ...fold, pae: fold.pae.map((row, r) => row.map((cell, c) => toCell(cell, r, c))) };
};
/** The pLDDT with the null of the first break at another place. */
const shifted = (places: number) => {
  const { plddt } = smallFold();
  const at = plddt.indexOf(null);
  const values = plddt.toSpliced(at, 1);
  return { ...smallFold(), plddt: values.toSpliced(at + places, 0, null) };
};
const range = (token: number, start: unknown, end: unknown) =>
  withComplex(({ token_to_atoms }) => ({
    token_to_atoms: token_to_atoms.with(token, [start, end] as number[]),
  }));

const CASES: readonly (readonly [string, object, readonly Part[], RegExp])[] = [
  [
    'a null one place after its break',
    shifted(1),
    ['plddt'],
    /\$\.plddt: expected null at each of the 5 breaks/,
  ],
  ['a null one place before its break', shifted(-1), ['plddt'], /\$\.plddt: expected null at each/],
  [
    'a pLDDT that is no list',
    { ...smallFold(), complex: { ...smallFold().complex, plddt: null }, plddt: 'high' },
    ['plddt'],
    /\$\.plddt: expected a list of numbers, seen "high"/,
  ],
  [
    'a pLDDT of the structure that is short, and no other',
    { ...withComplex(({ plddt }) => ({ plddt: plddt.slice(1) })), plddt: null },
    ['plddt'],
    /expected one row for each of the 11 tokens.*saw 10 rows/,
  ],
  [
    'an error below 0',
    withPae((cell, r, c) => (r === 3 && c === 4 ? -0.5 : cell)),
    ['pae'],
    /\$\.pae: expected numbers from 0 to 10000 ångström, seen -0.5/,
  ],
  ['an error of 1e9', withPae((cell, r) => (r === 3 ? 1e9 : cell)), ['pae'], /\$\.pae: .* seen 1000000000/],
  ['errors that are texts', withPae(String), ['pae'], /\$\.pae/],
  [
    'errors of fewer columns',
    withPae((cell) => cell) && { ...smallFold(), pae: smallFold().pae.map((row) => row.slice(1)) },
    ['pae'],
    /\$\.pae: .*saw 11 rows/,
  ],
  [
    'errors of fewer tokens',
    {
      ...smallFold(),
      pae: smallFold()
        .pae.slice(1)
        .map((row) => row.slice(1)),
    },
    ['pae'],
    /\$\.pae: .*saw 10 rows/,
  ],
  [
    'errors that are no rows',
    { ...smallFold(), pae: { rows: 11 } },
    ['pae'],
    /\$\.pae: expected rows of numbers, seen \{"rows":11\}/,
  ],
  [
    'embeddings that are no rows',
    { ...smallFold(), output_embedding_sequence: 'none' },
    ['embeddings'],
    /\$\.output_embedding_sequence: expected rows of numbers/,
  ],
  [
    'atoms of two tokens',
    range(1, 3, 8),
    ['structure'],
    /\$\.complex\.token_to_atoms\.1: expected atoms of no other token, seen \[3,8\]/,
  ],
  [
    'atoms of two tokens, in another order',
    withComplex(({ token_to_atoms }) => ({ token_to_atoms: [...token_to_atoms.slice(1), [5, 6]] })),
    ['structure'],
    /token_to_atoms\.10: expected atoms of no other token/,
  ],
  [
    'atoms beyond the last one',
    range(10, 30, 99),
    ['structure'],
    /token_to_atoms\.10: expected a range of the 32 atoms, seen \[30,99\]/,
  ],
  ['atoms before the first one', range(0, -1, 4), ['structure'], /token_to_atoms\.0: .*seen \[-1,4\]/],
  ['half an atom', range(0, 0, 3.5), ['structure'], /token_to_atoms\.0: .*seen \[0,3\.5\]/],
  ['a range that runs backwards', range(0, 4, 0), ['structure'], /token_to_atoms\.0: .*seen \[4,0\]/],
  [
    'a position that cannot be',
    withComplex(({ atom_positions }) => ({ atom_positions: atom_positions.with(2, [1e9, 0, 0]) })),
    ['structure'],
    /atom_positions\.2: expected three coordinates of at most 100000/,
  ],
  [
    'fewer elements than atoms',
    withComplex(({ atom_elements }) => ({ atom_elements: atom_elements.slice(1) })),
    ['structure'],
    /atom_elements: expected one for each of the 32 atoms, seen 31/,
  ],
  [
    'fewer hetero flags than atoms',
    withComplex(({ atom_hetero }) => ({ atom_hetero: atom_hetero.slice(1) })),
    ['structure'],
    /atom_hetero: expected one for each/,
  ],
  [
    'a token without a name',
    withComplex(({ sequence }) => ({ sequence: sequence.with(2, '') })),
    ['chains', 'chainPairs', 'structure'],
    /complex\.sequence\.2: expected the name of a token, seen ""/,
  ],
  [
    'a structure that is a text',
    { ...smallFold(), complex: 'HEADER', pae: null, plddt: null },
    ['chains', 'chainPairs', 'structure'],
    /\$\.complex: expected a structure, seen "HEADER"/,
  ],
  [
    'two chains of one name',
    withComplex(({ metadata }) => ({
      metadata: { ...metadata, chain_lookup: { ...metadata.chain_lookup, '1': 'A' } },
    })),
    ['chains', 'chainPairs', 'structure'],
    /chain_lookup: expected one name for each chain.*seen "A" twice/,
  ],
  [
    'tokens of a chain in two places',
    withComplex(({ chain_id }) => ({ chain_id: chain_id.with(4, 0) })),
    ['chains', 'chainPairs', 'structure'],
    /seen "A" twice/,
  ],
  ['a pTM of 1.2', { ...smallFold(), ptm: 1.2 }, ['ptm'], /\$\.ptm: expected numbers from 0 to 1, seen 1.2/],
];

describe('a result with', () => {
  it.each(CASES)('%s is drift there, and at nothing else', (_, value, parts, reason) => {
    const found = listMisfits(value);
    expect(found.map(([part]) => part).sort(), JSON.stringify(found)).toEqual([...parts].sort());
    for (const [, misfit] of found) expect(misfit).toMatch(reason);
  });

  it.each<[string, object]>([
    ['nothing wrong', smallFold()],
    ['no null slots at breaks', { ...smallFold(), plddt: smallFold().plddt.filter((one) => one !== null) }],
    ['a missing value', { ...smallFold(), plddt: smallFold().plddt.with(0, null) }],
    [
      'numbers that are not finite',
      JSON.parse(JSON.stringify(smallFold()).replace('"ptm":0.8123', '"ptm":1e999')),
    ],
    [
      'atoms of no token',
      withComplex(({ token_to_atoms }) => ({ token_to_atoms: token_to_atoms.with(0, [1, 4]) })),
    ],
    [
      'atoms in another order than tokens',
      withComplex(({ token_to_atoms }) => ({
        token_to_atoms: token_to_atoms.with(0, [4, 8]).with(1, [0, 4]),
      })),
    ],
    [
      'tokens without atoms',
      withComplex(({ token_to_atoms }) => ({ token_to_atoms: token_to_atoms.with(0, [4, 4]) })),
    ],
    ['no elements and no flags', withComplex(() => ({ atom_elements: [], atom_hetero: null }))],
  ])('%s is read', (_, value) => {
    expect(listMisfits(value)).toEqual([]);
  });
});

it('takes time by the numbers of its error matrix', async () => {
  const [small, large] = [largeFold(120), largeFold(Math.round(120 * Math.sqrt(GROWTH)))];
  await expectLinear(
    () => readFoldingResult(small),
    () => readFoldingResult(large),
  );
});
