// The weight of an input: letters of sequences and SMILES, and list entries in letters. The cost of
// a check follows from it. A list that a document gives at many places, as a variable, is measured
// once.
import { memoize1 } from '@graphql-tools/utils';
import type { SubmissionInput } from './submission.ts';

/** Letters that weigh as much as a list entry, as a chain, and as a cell of a distogram. */
const ENTRY = 256;
const CHAIN = 4 * ENTRY;
const CELL = 4;

type ItemInput = SubmissionInput['items'][number];

const chainsWeight = memoize1((chains: ItemInput['chains']): number => {
  let weight = 0;
  for (const { protein, rna, dna, ligand } of chains) {
    const polymer = protein ?? rna ?? dna;
    const lists = [polymer?.ids, polymer?.modifications, ligand?.ids, ligand?.ccd];
    const entryCount = lists.reduce((sum, list) => sum + (list?.length ?? 0), 0);
    weight += CHAIN + ENTRY * entryCount + (polymer?.sequence.length ?? 0) + (ligand?.smiles?.length ?? 0);
  }
  return weight;
});

const matrixWeight = memoize1((rows: readonly (readonly number[])[]): number =>
  rows.reduce((sum, row) => sum + CELL * (1 + row.length), 0),
);

const itemsWeight = memoize1((items: readonly ItemInput[]): number => {
  let weight = 0;
  for (const { chains, covalentBonds, pocket, distogramConditioning } of items) {
    const entryCount = 1 + (covalentBonds?.length ?? 0) + (pocket?.contacts.length ?? 0);
    weight += chainsWeight(chains) + ENTRY * entryCount;
    for (const { distogram } of distogramConditioning ?? []) weight += matrixWeight(distogram);
  }
  return weight;
});

export const inputWeight = ({ items }: SubmissionInput): number => itemsWeight(items);
