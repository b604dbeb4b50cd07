// Arbitrary submissions for property tests: right ones, small, with every kind of chain and
// reference.
import fc from 'fast-check';
import type { SubmissionInput } from '../../src/submission/input.ts';

const letters = (alphabet: string, maxLength = 30) =>
  fc.array(fc.constantFrom(...alphabet), { minLength: 2, maxLength }).map((list) => list.join(''));

type Item = SubmissionInput['items'][number];
type Chain = Item['chains'][number];

const polymer = (alphabet: string, code: string) =>
  letters(alphabet).chain((sequence) =>
    fc.record({
      sequence: fc.constant(sequence),
      modifications: fc.option(
        fc
          .uniqueArray(fc.nat(sequence.length - 1), { maxLength: 3 })
          .map((positions) => positions.map((position) => ({ position, ccd: code }))),
      ),
    }),
  );

const nameless: fc.Arbitrary<(ids: string[]) => Chain> = fc.oneof(
  polymer('ACDEFGHIKLMNPQRSTVWY', 'ZZZ').map((p) => (ids: string[]) => ({ protein: { ...p, ids } })),
  polymer('ACGU', 'ZZZ').map((p) => (ids: string[]) => ({ rna: { ...p, ids } })),
  polymer('ACGT', 'ZZZ').map((p) => (ids: string[]) => ({ dna: { ...p, ids } })),
  fc
    .constantFrom<{ ccd?: string[]; smiles?: string }[]>(
      { ccd: ['ATP'] },
      { ccd: ['NAG', 'NAG'] },
      { smiles: 'CC(=O)O' },
    )
    .map((ligand) => (ids: string[]) => ({ ligand: { ...ligand, ids } })),
);

/** Items whose chains all have ids: C0.0, C0.1 for the copies of the first, and so on. */
const rightItem: fc.Arbitrary<Item> = fc
  .array(fc.tuple(nameless, fc.integer({ min: 1, max: 3 })), { minLength: 1, maxLength: 4 })
  .map((parts) =>
    parts.map(([make, copies], c) => make(Array.from({ length: copies }, (_, i) => `C${c}.${i}`))),
  )
  .chain((chains) =>
    fc.record({
      chains: fc.constant(chains),
      name: fc.option(fc.string({ maxLength: 20 })),
      includePae: fc.boolean(),
      covalentBonds: fc.constantFrom(
        undefined,
        chains.length < 2
          ? []
          : [
              {
                ...{ chainId1: 'C0.0', residueIndex1: 0, atomIndex1: 0 },
                ...{ chainId2: 'C1.0', residueIndex2: 0, atomIndex2: 1 },
              },
            ],
      ),
      pocket: fc.constantFrom(undefined, {
        binderChainId: 'C0.0',
        contacts: [{ chainId: `C${chains.length - 1}.0`, residueIndex: 0 }],
      }),
    }),
  );

export const rightInput: fc.Arbitrary<SubmissionInput> = fc.record({
  items: fc.array(rightItem, { minLength: 1, maxLength: 5 }),
  repeat: fc.option(fc.integer({ min: 1, max: 50 })),
  label: fc.option(fc.string({ maxLength: 20 })),
});
