// A submitted chain. The gateway stores the hash of its sequence, not the sequence.

import type { ChainSummary } from '../submission/check.ts';
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
  description: 'A chain as it was submitted. The gateway stores the hash of its sequence, not the sequence.',
  fields: (t) => ({
    ids: t.stringList({
      nullable: false,
      description:
        'One id for each copy, such as ["A", "B"]; empty when you left the naming to the upstream.',
      resolve: ({ ids }) => ids,
    }),
    kind: t.expose('kind', { type: ChainKind, nullable: false, description: 'What it is made of.' }),
    length: t.exposeInt('length', {
      nullable: false,
      description: 'Residues or nucleotides of one copy; 0 for a ligand.',
    }),
    proteinHash: t.expose('proteinHash', {
      type: 'ProteinHash',
      description: 'MD5 of the sequence of a protein, its id in the Atlas; null for other kinds.',
    }),
  }),
});
