// SMILES that the gateway refuses, beside a toolkit of chemistry: it must refuse none that chemists can read.
import fc from 'fast-check';
import { Molecule } from 'openchemlib';
import { expect, it } from 'vitest';
import { scanSmiles } from '../../src/submission/smiles.ts';
import { runs } from '../property-runs.ts';

/** Why the toolkit cannot read it; undefined when it can. */
function faultOf(smiles: string): unknown {
  try {
    return Molecule.fromSmiles(smiles).getAllAtoms() > 0 ? undefined : 'no atom';
  } catch (error) {
    return error;
  }
}

const scan = async (smiles: string) => scanSmiles(smiles);

it.each([
  ['C1CC', 'its ring bond 1 is not closed'],
  ['C%12CC', 'its ring bond 12 is not closed'],
  ['C1CCC2CC1', 'its ring bond 2 is not closed'],
  ['CC=', 'nothing follows its last bond'],
  ['C/C=C/', 'nothing follows its last bond'],
  ['N->', 'nothing follows its last bond'],
  ['CXC', '"X" at 1 is not an atom, or only in square brackets'],
  ['lC', '"l" at 0 is not an atom, or only in square brackets'],
  ['NH4+', '"H" at 1 is not an atom, or only in square brackets'],
  ['N+', '"+" at 1 stands outside square brackets'],
  ['CC{', '"{" at 2 is not a character of SMILES'],
  ['C]', 'its square brackets do not pair'],
  ['[C[N]]', 'its square brackets do not pair'],
])('%s is refused: %s', async (smiles, fault) => {
  expect(await scan(smiles)).toMatchObject({ fault });
  expect(faultOf(smiles)).toBeDefined();
});

it('% needs a number', async () => {
  // The toolkit takes it for no bond at all.
  expect(await scan('C%C')).toMatchObject({ fault: 'no number of a ring bond follows "%" at 1' });
});

it.each([
  ['CC(=O)Oc1ccccc1C(=O)O', 13],
  ['C[C@@H](C(=O)O)N', 6],
  ['F/C=C/Cl.[Na+].[Cl-].Br', 7],
  ['C1CC1C1CC1', 6],
  ['C%12CC%12', 3],
  ['C1CC%01', 3],
  ['N->[Pt](Cl)(Cl)<-N', 5],
  ['C12CC1C2', 4],
  ['[2H]O[2H]', 1],
])('%s is read, with its heavy atoms', async (smiles, heavyAtoms) => {
  expect(await scan(smiles)).toEqual({ heavyAtoms, fault: undefined });
  expect(faultOf(smiles)).toBeUndefined();
});

const atom = fc.constantFrom(
  ...['C', 'c', 'N', 'n', 'O', 'o', 'S', 'Cl', 'Br', 'F', 'I', 'B', 'P', '*', '[NH4+]', '[13C]', '[H]'],
  ...['[C@H]', 'X', ']', 'l'],
);
// The toolkit reads over ring bonds that follow no atom, and over branches that are not closed.
const ringBond = fc.constantFrom('', '', '1', '2', '12', '%10');
const piece = fc.oneof(
  { weight: 3, arbitrary: fc.tuple(atom, ringBond).map(([name, ring]) => name + ring) },
  { weight: 1, arbitrary: fc.constantFrom('(', ')', '=', '#', '-', '.', '/', '\\', ':', '+') },
);

it('whatever is refused, the toolkit refuses too', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 12 }), async (pieces) => {
      const smiles = `C${pieces.join('')}`;
      const { fault } = await scan(smiles);
      if (fault !== undefined && !fault.includes('parentheses'))
        expect(faultOf(smiles), `${smiles}: ${fault}`).toBeDefined();
    }),
    { numRuns: runs(2000) },
  );
});
