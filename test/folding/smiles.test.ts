// SMILES: the syntax is read by a reader of our own, the chemistry by openchemlib in a thread.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { scanSmiles, writtenAtoms } from '../../src/submission/smiles.ts';
import { at, listAt, openWorld, type World } from '../support.ts';
import { READABLE, UNREADABLE } from './smiles-lists.ts';

it.each([
  ['C1CC', 'its ring bond 1 is not closed'],
  ['C%12CC', 'its ring bond 12 is not closed'],
  ['C1CCC2CC1', 'its ring bond 2 is not closed'],
  ['C11', 'ring bond 1 at 2 joins an atom to itself'],
  ['C1C1', 'ring bond 1 at 3 joins two atoms that are bonded already'],
  ['C1(C1)C', 'ring bond 1 at 4 joins two atoms that are bonded already'],
  ['C12CC12', 'ring bond 2 at 6 joins two atoms that are bonded already'],
  ['1CC1', 'the ring bond at 0 follows no atom'],
  ['C%C', 'no number of two digits follows "%" at 1'],
  ['CC=', 'nothing follows its last bond'],
  ['C/C=C/', 'nothing follows its last bond'],
  ['N->', 'nothing follows its last bond'],
  ['=C', 'no atom stands before the bond at 0'],
  ['C==C', 'two bonds stand at 1'],
  ['C/=C', 'two bonds stand at 1'],
  ['C(C=)C', 'no atom follows "=" at 3'],
  ['C=(C)C', 'the bond at 1 stands before a branch: write it inside'],
  ['()C', 'the branch at 0 follows no atom'],
  ['C((C))C', 'the branch at 2 follows no atom'],
  ['C()C', 'the branch at 1 is empty'],
  ['C)C', 'its parentheses do not pair'],
  ['C(C', 'its parentheses do not pair'],
  ['.C', 'no atom stands before the dot at 0'],
  ['C..C', 'no atom stands before the dot at 2'],
  ['C(.)C', 'no atom follows "." at 2'],
  ['C.', 'no atom follows its last dot'],
  ['', 'it names no atom'],
  ['CXC', '"X" at 1 is not an atom, or only in square brackets'],
  ['lC', '"l" at 0 is not an atom, or only in square brackets'],
  ['NH4+', '"H" at 1 is not an atom, or only in square brackets'],
  ['N+', '"+" at 1 stands outside square brackets'],
  ['CC{', '"{" at 2 is not a character of SMILES'],
  ['C−C', '"−" at 1 is not a character of SMILES'],
  ['CC>>CO', '">" at 2 belongs to a reaction; a ligand is a molecule'],
  ['CCO ethanol', 'it holds white space'],
  ['C]', 'its square brackets do not pair'],
  ['[C[N]]', 'its square brackets do not pair'],
  ['C[]', 'the square brackets at 1 are empty'],
  ['[R1]CCO', '"[R1]" at 0 names no element'],
  ['C[Me]', '"[Me]" at 1 names no element'],
  ['[ZN+2]', '"[ZN+2]" at 0 names no element: write [Zn+2]'],
  [
    '[Fe2+]',
    '"[Fe2+]" at 0 is no atom: isotope, element, chirality, hydrogens, charge stand in this order, as in [13CH3-]',
  ],
])('%s is refused: %s', (smiles, fault) => {
  expect(scanSmiles(smiles)).toMatchObject({ fault });
});

it.each([
  ['CC(=O)Oc1ccccc1C(=O)O', 13, 1],
  ['C[C@@H](C(=O)O)N', 6, 1],
  ['F/C=C/Cl.[Na+].[Cl-].Br', 7, 4],
  ['C1CC1C1CC1', 6, 1],
  ['C%12CC%12', 3, 1],
  ['C1CC%01', 3, 1],
  ['C1.C2.C12', 3, 1],
  ['C(.O)C', 3, 2],
  ['N->[Pt](Cl)(Cl)<-N', 5, 1],
  ['C12CC1C2', 4, 1],
  ['[2H]O[2H]', 1, 1],
])('%s is read: %i heavy atoms, %i molecules', (smiles, heavyAtoms, moleculeCount) => {
  expect(scanSmiles(smiles)).toEqual({ moleculeCount, fault: undefined });
  expect(writtenAtoms(smiles)).toHaveLength(heavyAtoms);
});

const list = Object.entries(READABLE).flatMap(([kind, all]) => all.map((smiles) => [kind, smiles] as const));

it('reads 66 SMILES of every kind, and none of those that no toolkit reads', () => {
  expect(new Set(list.map(([, smiles]) => smiles)).size).toBe(66);
  expect(list.filter(([, smiles]) => scanSmiles(smiles).fault !== undefined)).toEqual([]);
  expect(UNREADABLE.filter((smiles) => scanSmiles(smiles).fault === undefined)).toEqual([]);
});

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

const CHECK = `query ($input: SubmitFoldInput!) { checkFold(input: $input) {
  ok issues { path code message } warnings { path code message hint } } }`;

const check = async (ligands: readonly object[]) => {
  const chains = ligands.map((ligand) => ({ ligand }));
  const { data, errors } = await world.query(CHECK, { input: { items: [{ chains }] } });
  expect(errors).toBeUndefined();
  return data;
};
const checkSmiles = (...smiles: readonly string[]) => check(smiles.map((one) => ({ smiles: one })));

describe('the chemistry of SMILES', () => {
  it('has warnings for valences, aromaticity, salts and wildcards, at their places', async () => {
    const data = await checkSmiles(
      'CCO',
      'CC(C)(C)(C)(C)C',
      'c1cccc1',
      'CC(=O)[O-].[Na+]',
      '*CC(=O)O',
      'c1ccc2c(c1)nc1ccccc12',
      'C[N](C)(C)C',
    );
    expect(at(data, 'checkFold.ok')).toBe(true);
    const warnings = listAt(data, 'checkFold.warnings').map(
      (one) => `${at(one, 'path')} ${at(one, 'code')} ${at(one, 'message')}`,
    );
    const place = (k: number) => `items.0.chains.${k}.ligand.smiles`;
    expect(warnings).toEqual([
      `${place(3)} SEVERAL_MOLECULES This SMILES has 2 molecules, which are folded as one ligand.`,
      `${place(4)} WILDCARD_ATOM This SMILES has an atom * of no element.`,
      `${place(1)} SMILES_VALENCE Atoms have more bonds than usual: C (atom 1) has 6 bonds and at most 4.`,
      `${place(2)} SMILES_AROMATICITY No double bonds fit the aromatic rings: c (atom 4) left over.`,
      expect.stringContaining(`${place(5)} SMILES_AROMATICITY`),
      `${place(6)} SMILES_VALENCE Atoms have more bonds than usual: [N] (atom 1) has 4 bonds and at most 3.`,
    ]);
  });

  it('has no warning for right molecules, but where a bond or an element cannot be checked', async () => {
    const data = await checkSmiles(...list.map(([, smiles]) => smiles));
    expect(at(data, 'checkFold.ok')).toBe(true);
    const found = listAt(data, 'checkFold.warnings').map((one) => {
      const [, k] = /chains\.(\d+)/.exec(String(at(one, 'path'))) ?? [];
      return [String(at(one, 'code')), list[Number(k)]?.[1]];
    });
    expect(found.filter(([code]) => code !== 'SMILES_NOT_CHECKED')).toEqual(
      list.filter(([, smiles]) => smiles.includes('*')).map(([, smiles]) => ['WILDCARD_ATOM', smiles]),
    );
    expect(found.filter(([code]) => code === 'SMILES_NOT_CHECKED').map(([, smiles]) => smiles)).toEqual([
      ...(READABLE.dative ?? []),
      'c1cc[te]c1',
    ]);
  });

  it('is not checked for bonds that the toolkit never ends on', async () => {
    const data = await checkSmiles('n->n');
    expect(listAt(data, 'checkFold.warnings')).toMatchObject([{ code: 'SMILES_NOT_CHECKED' }]);
  });

  it('is checked before it is paid, and submitted with its warnings', async () => {
    world.forget();
    const { data } = await world.query(
      `mutation ($input: SubmitFoldInput!) { submitFold(input: $input) {
        __typename ... on FoldSubmitted { warnings { code } } ... on InvalidInput { issues { path code } } } }`,
      { input: { items: [{ chains: [{ ligand: { smiles: '[R1]CCO' } }] }] } },
    );
    expect(data).toEqual({
      submitFold: {
        __typename: 'InvalidInput',
        issues: [{ path: 'items.0.chains.0.ligand.smiles', code: 'BAD_SMILES' }],
      },
    });
    expect(world.counts()).toEqual({});
  });
});

describe('a code of the component dictionary', () => {
  it.each(['ATP', 'ZN', 'K', '017', 'A1BH3', '00'])('%s is one', async (code) => {
    // No PDB file holds five characters.
    const warnings = code.length > 3 ? [expect.objectContaining({ code: 'NO_PDB_FILE' })] : [];
    expect(await check([{ ccd: [code] }])).toEqual({ checkFold: { ok: true, issues: [], warnings } });
  });

  it.each(['LIG1', 'A1BH', 'A1BH34', 'N-AG', ''])('%s is none', async (code) => {
    const data = await check([{ ccd: [code] }]);
    expect(listAt(data, 'checkFold.issues')).toMatchObject([
      { path: 'items.0.chains.0.ligand.ccd.0', code: 'BAD_CCD' },
    ]);
  });

  it.each([
    'LIG',
    'drg',
    'INH',
    '01',
    '10',
    '99',
    'UNL',
    'UNX',
    'UNK',
    'N',
  ])('%s is set aside, or has no structure: a warning', async (code) => {
    const data = await check([{ ccd: [code] }]);
    expect(at(data, 'checkFold.ok')).toBe(true);
    expect(listAt(data, 'checkFold.warnings')).toMatchObject([
      { path: 'items.0.chains.0.ligand.ccd.0', code: 'RESERVED_CCD' },
    ]);
  });
});
