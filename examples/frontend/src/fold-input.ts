// What the fold form holds, and the same as the schema's input.

import type { CheckFold } from './fold-page.tsx';
import type { VariablesOf } from './graphql.ts';

export const KINDS = {
  protein: 'Protein',
  rna: 'RNA',
  dna: 'DNA',
  ccd: 'Ligand (CCD code)',
  smiles: 'Ligand (SMILES)',
};
export type Kind = keyof typeof KINDS;

export interface ChainDraft {
  key: number;
  kind: Kind;
  text: string;
  copies: number;
}

export interface FoldDraft {
  label: string;
  model: string;
  repeat: number;
  chains: ChainDraft[];
  includePae: boolean;
  includePairChainsIptm: boolean;
  includeEmbeddings: boolean;
}

export const emptyFold = (sequence: string): FoldDraft => ({
  label: '',
  model: '',
  repeat: 3,
  chains: [{ key: 0, kind: 'protein', text: sequence, copies: 1 }],
  includePae: true,
  includePairChainsIptm: true,
  includeEmbeddings: false,
});

export type FoldInput = VariablesOf<typeof CheckFold>['input'];

/** Chain ids in the order of the form: A, B, … Z, A1, B1, … */
const chainId = (n: number): string =>
  String.fromCharCode(65 + (n % 26)) + (n < 26 ? '' : Math.floor(n / 26));

export function foldInput({ label, model, repeat, chains, ...flags }: FoldDraft): FoldInput {
  let named = 0;
  return {
    label: label.trim() || null,
    model: model.trim() || null,
    repeat,
    items: [
      {
        name: label.trim() || null,
        ...flags,
        chains: chains.map(({ kind, text, copies }) => {
          const ids = Array.from({ length: copies }, () => chainId(named++));
          if (kind === 'ccd') return { ligand: { ids, ccd: text.split(/[\s,]+/).filter(Boolean) } };
          if (kind === 'smiles') return { ligand: { ids, smiles: text.trim() } };
          if (kind === 'rna') return { rna: { ids, sequence: text } };
          return kind === 'dna' ? { dna: { ids, sequence: text } } : { protein: { ids, sequence: text } };
        }),
      },
    ],
  };
}
