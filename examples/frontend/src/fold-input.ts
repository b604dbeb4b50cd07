// The state of the fold form, and the schema's input made from it.

import type { CheckFold } from './fold-page.tsx';
import type { VariablesOf } from './graphql.ts';

/** Each kind of chain, and what can be typed for it. */
export const KINDS = {
  protein: {
    name: 'Protein',
    text: 'Sequence or FASTA',
    hint: 'One-letter codes, such as GIVEQCCTSICSLYQLENYCN. Several FASTA records are several designs, each folded with the other chains.',
  },
  rna: { name: 'RNA', text: 'Sequence or FASTA', hint: 'The letters A, C, G and U.' },
  dna: { name: 'DNA', text: 'Sequence or FASTA', hint: 'The letters A, C, G and T, one strand a chain.' },
  ccd: {
    name: 'Ligand (CCD code)',
    text: 'Code',
    hint: 'A code of the Chemical Component Dictionary, such as ATP or HEM.',
  },
  smiles: { name: 'Ligand (SMILES)', text: 'SMILES', hint: 'Such as CC(=O)Oc1ccccc1C(=O)O.' },
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
  repeat: 1,
  chains: [{ key: 0, kind: 'protein', text: sequence, copies: 1 }],
  includePae: true,
  includePairChainsIptm: true,
  includeEmbeddings: false,
});

export type FoldInput = VariablesOf<typeof CheckFold>['input'];

/** Chain ids in the order of the form: A, B, … Z, A1, B1, … */
const chainId = (n: number): string =>
  String.fromCharCode(65 + (n % 26)) + (n < 26 ? '' : Math.floor(n / 26));

/** The records of a FASTA text, each with its header; a text without headers is one record. */
const splitRecords = (text: string): string[] =>
  text.split(/^(?=>)/m).filter((record) => record.trim() !== '');

function chainInput({ kind, text, copies }: ChainDraft, first: number) {
  const ids = Array.from({ length: copies }, (_, i) => chainId(first + i));
  if (kind === 'ccd') return { ligand: { ids, ccd: text.split(/[\s,]+/).filter(Boolean) } };
  if (kind === 'smiles') return { ligand: { ids, smiles: text.trim() } };
  if (kind === 'rna') return { rna: { ids, sequence: text } };
  return kind === 'dna' ? { dna: { ids, sequence: text } } : { protein: { ids, sequence: text } };
}

/** The input of the form: one item, or one for each record of the chain that holds several. */
export function foldInput({ label, model, repeat, chains, ...flags }: FoldDraft): FoldInput {
  const varied = chains.findIndex(({ text }) => splitRecords(text).length > 1);
  const designs = splitRecords(chains[varied]?.text ?? '');
  const item = (name: string, design?: string) => {
    let named = 0;
    return {
      name: name || null,
      ...flags,
      chains: chains.map((chain, i) => {
        named += chain.copies;
        const text = i === varied && design !== undefined ? design : chain.text;
        return chainInput({ ...chain, text }, named - chain.copies);
      }),
    };
  };
  return {
    label: label.trim() || null,
    model: model.trim() || null,
    repeat,
    items:
      designs.length === 0
        ? [item(label.trim())]
        : designs.map((design) => item(/^>\s*(\S+)/.exec(design)?.[1] ?? '', design)),
  };
}

// The input of a batch is needed to submit parts of it again. The gateway keeps no sequences,
// so this tab does.
const storageKey = (batchId: string): string => `input of ${batchId}`;

/** Keeps the input of a batch until the tab is closed. */
export function keepInput(batchId: string, { idempotencyKey: _, ...input }: FoldInput): void {
  sessionStorage.setItem(storageKey(batchId), JSON.stringify(input));
}

/** The input of a batch that this tab has submitted. */
export function keptInput(batchId: string): FoldInput | undefined {
  const text = sessionStorage.getItem(storageKey(batchId));
  return text === null ? undefined : (JSON.parse(text) as FoldInput);
}
