// A submitted chain as a noun: what is left of an input when its sequence is not kept. It calls nothing.

import type { ChainSummary } from '../submission/measure.ts';
import { builder } from './builder.ts';

export const ChainKind = builder.enumType('ChainKind', {
  description: 'What a chain is made of.',
  values: {
    PROTEIN: { description: 'Amino acids.' },
    RNA: { description: 'Ribonucleotides.' },
    DNA: { description: 'Deoxyribonucleotides.' },
    LIGAND: { description: 'Small molecules and ions.' },
  } as const,
});

export const InputChain = builder.objectRef<ChainSummary>('InputChain').implement({
  description: 'A chain as it was submitted. No sequence is kept, only its hash.',
  fields: (t) => ({
    ids: t.stringList({
      nullable: { list: false, items: false },
      description: 'One id for each copy, such as ["A", "B"]; empty when the upstream was left to name it.',
      resolve: ({ ids }) => ids,
    }),
    kind: t.expose('kind', { type: ChainKind, nullable: false, description: 'What it is made of.' }),
    length: t.exposeInt('length', {
      nullable: false,
      description: 'Residues or nucleotides of one copy; 0 for a ligand.',
    }),
    proteinHash: t.expose('proteinHash', {
      type: 'ProteinHash',
      description: 'Hash of the sequence of a protein, by which the Atlas knows it; null for other kinds.',
    }),
  }),
});
