// The result of a fold as nouns: chains, errors between tokens, scores. It calls nothing; the mathematics is in
// structure/fold, and everything that needs the downloaded result is a link in resolvers/folds/fold-result.ts.

import type { TaskScores } from '../store/ledger/ledger.ts';
import type { FoldedChain as FoldedChainRecord } from '../structure/fold/chains.ts';
import type { ChainPair, PaeBlock as PaeBlockRecord } from '../structure/fold/pae.ts';
import { builder } from './builder.ts';
import { ChainKind } from './input-chain.ts';
import { scaleArg, scalePlddt } from './plddt.ts';
import type { TaskShape } from './task.ts';

/** The result of a task that has one; nothing of it is downloaded yet. */
export interface FoldResultShape {
  readonly task: TaskShape;
}
export const FoldResult = builder.objectRef<FoldResultShape>('FoldResult').implement({
  description: 'What was folded: scores, confidences, structure.',
});

export const FoldScores = builder.objectRef<TaskScores>('FoldScores').implement({
  description: 'The scalar scores of a fold. They are kept by the gateway and outlive the result.',
  fields: (t) => ({
    ptm: t.exposeFloat('ptm', { description: 'Predicted TM-score of the whole complex, 0 to 1.' }),
    iptm: t.exposeFloat('iptm', {
      description: 'Predicted TM-score between chains, 0 to 1; null for a single chain.',
    }),
    meanPlddt: t.float({
      description: 'Mean pLDDT over all tokens, 0 to 100 unless another scale is asked for.',
      args: { scale: t.arg(scaleArg) },
      resolve: ({ meanPlddt }, { scale }) => scalePlddt(meanPlddt, scale),
    }),
  }),
});

const KINDS = { protein: 'PROTEIN', rna: 'RNA', dna: 'DNA', ligand: 'LIGAND' } as const;

export const FoldedChain = builder.objectRef<FoldedChainRecord>('FoldedChain').implement({
  description:
    'One chain of the folded complex. A token is a residue, a nucleotide, or a component of a ligand.',
  fields: (t) => ({
    id: t.exposeString('id', { nullable: false, description: 'Chain id, such as "A".' }),
    kind: t.field({
      type: ChainKind,
      nullable: false,
      description: 'What it is made of.',
      resolve: ({ kind }) => KINDS[kind],
    }),
    tokenStart: t.exposeInt('tokenStart', {
      nullable: false,
      description: 'First token, 0-based over the whole complex.',
    }),
    tokenEnd: t.exposeInt('tokenEnd', { nullable: false, description: 'The token after the last one.' }),
    sequence: t.exposeString('sequence', {
      description: 'One-letter sequence of a polymer, modified residues as their parents; null for a ligand.',
    }),
    meanPlddt: t.float({
      description: 'Mean pLDDT over its tokens, 0 to 100 unless another scale is asked for.',
      args: { scale: t.arg(scaleArg) },
      resolve: ({ meanPlddt }, { scale }) => scalePlddt(meanPlddt, scale),
    }),
    proteinHash: t.expose('proteinHash', {
      type: 'ProteinHash',
      description: 'Hash of the sequence of a protein, by which the Atlas knows it; null for other kinds.',
    }),
  }),
});

export const ChainPairScore = builder.objectRef<ChainPair>('ChainPairScore').implement({
  description: 'A score of a pair of chains: ipTM under FoldResult, mean PAE under PredictedAlignedError.',
  fields: (t) => ({
    a: t.exposeString('a', { nullable: false, description: 'Id of the first chain.' }),
    b: t.exposeString('b', { nullable: false, description: 'Id of the second chain.' }),
    value: t.exposeFloat('value', { nullable: false, description: 'ipTM, 0 to 1, or mean PAE in ångström.' }),
  }),
});

export const PaeBlock = builder.objectRef<PaeBlockRecord>('PaeBlock').implement({
  description: 'A part of the matrix, each value the mean over `step` times `step` tokens.',
  fields: (t) => ({
    rowStart: t.exposeInt('rowStart', { nullable: false, description: 'First row, 0-based.' }),
    rowEnd: t.exposeInt('rowEnd', { nullable: false, description: 'Row after the last one.' }),
    columnStart: t.exposeInt('columnStart', { nullable: false, description: 'First column, 0-based.' }),
    columnEnd: t.exposeInt('columnEnd', { nullable: false, description: 'Column after the last one.' }),
    step: t.exposeInt('step', {
      nullable: false,
      description: 'Tokens in one value, along rows and columns.',
    }),
    values: t.field({
      type: t.listRef(t.listRef('Float', { nullable: true }), { nullable: false }),
      nullable: false,
      description: 'Row by row, in ångström.',
      resolve: ({ values }) => values.map((row) => [...row]),
    }),
  }),
});

/** What is known of a result's PAE without the matrix. */
export interface PaeShape {
  readonly taskId: string;
  /** Rows of the matrix. */
  readonly size: number;
  /** Ångström; null for a matrix without numbers. */
  readonly max: number | null;
}

export const PredictedAlignedError = builder.objectRef<PaeShape>('PredictedAlignedError').implement({
  description:
    'How far off, in ångström, a token (column) may be when the structure is aligned on another one (row). Where the upstream has a row for each atom of a ligand or modified residue, their means stand for the token.',
  fields: (t) => ({
    size: t.exposeInt('size', {
      nullable: false,
      description: 'Rows of the square matrix: tokens of the complex.',
    }),
    max: t.exposeFloat('max', { description: 'Largest error, in ångström.' }),
  }),
});

export interface EmbeddingsShape {
  readonly sequenceShape: readonly number[] | null;
  readonly pairShape: readonly number[] | null;
  readonly url: string;
}

export const FoldEmbeddings = builder.objectRef<EmbeddingsShape>('FoldEmbeddings').implement({
  description:
    'The embeddings of a fold: too large for an answer, so here are their shapes and where they are. One row for each token; several rows of a token are averaged.',
  fields: (t) => ({
    sequenceShape: t.intList({
      nullable: { list: true, items: false },
      description: 'Tokens and channels, such as [142, 1536]; null when there is none.',
      resolve: ({ sequenceShape }) => sequenceShape,
    }),
    pairShape: t.intList({
      nullable: { list: true, items: false },
      description:
        'Tokens and channels of the pooled pair embedding, such as [142, 256]; null when there is none.',
      resolve: ({ pairShape }) => pairShape,
    }),
    url: t.expose('url', {
      type: 'URL',
      nullable: false,
      description: "Where the gateway serves them as a NumPy archive (.npz). Needs the caller's token.",
    }),
  }),
});
