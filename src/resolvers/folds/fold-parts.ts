// Parts of a fold result: its chains and their proteins in the Atlas, the predicted aligned error,
// and the shapes of the embeddings.
import type { GraphQLResolveInfo } from 'graphql';
import type { GatewayContext } from '../../context.ts';
import { builder } from '../../schema/builder.ts';
import { nonNull } from '../../schema/field-options.ts';
import { scaleArg, scalePlddt } from '../../schema/plddt.ts';
import { Protein } from '../../schema/protein.ts';
import { badInput } from '../../schema/scalars.ts';
import { ChainKind } from '../../schema/task.ts';
import type { FoldedChain as FoldedChainRecord } from '../../structure/fold/chains.ts';
import type { ChainPair, PaeBlock as PaeBlockRecord } from '../../structure/fold/pae.ts';
import { missingResult } from '../../upstream/folds/fold-results.ts';
import { checkedPart, type FoldResultHandle } from '../../upstream/folds/open-fold-result.ts';
import { requiredPartsOf } from '../atlas/load-protein.ts';
import { findProtein } from '../atlas/protein.ts';
import { proteinLink } from '../costs.ts';

export const proteinOfChain = {
  type: Protein,
  cost: proteinLink,
  description:
    'Its protein in the Atlas; null when the Atlas does not have it, and for other kinds of chains.',
  resolve: (
    { proteinHash }: { readonly proteinHash: string | null },
    _: object,
    ctx: GatewayContext,
    info: GraphQLResolveInfo,
  ) => (proteinHash === null ? null : findProtein(ctx, proteinHash, requiredPartsOf(info))),
} as const;

interface FoldedChainShape extends FoldedChainRecord {
  /** Why no pLDDT of the result can be trusted; null when it can. */
  readonly plddtMisfit: string | null;
}

const KINDS = { protein: 'PROTEIN', rna: 'RNA', dna: 'DNA', ligand: 'LIGAND' } as const;

export const FoldedChain = builder.objectRef<FoldedChainShape>('FoldedChain').implement({
  description:
    'One chain of the folded complex. A token is a residue, a nucleotide, or a component of a ligand.',
  fields: (t) => ({
    id: t.exposeString('id', nonNull('Chain id, such as "A".')),
    kind: t.field({
      ...nonNull('What it is made of.'),
      type: ChainKind,
      resolve: ({ kind }) => KINDS[kind],
    }),
    tokenStart: t.exposeInt('tokenStart', nonNull('First token, 0-based over the whole complex.')),
    tokenEnd: t.exposeInt('tokenEnd', nonNull('The token after the last one.')),
    sequence: t.exposeString('sequence', {
      description: 'One-letter sequence of a polymer, modified residues as their parents; null for a ligand.',
    }),
    meanPlddt: t.float({
      description: 'Mean pLDDT over its tokens, 0 to 100 unless another scale is asked for.',
      args: { scale: t.arg(scaleArg) },
      resolve: ({ meanPlddt, plddtMisfit }, { scale }) =>
        scalePlddt(checkedPart(meanPlddt, plddtMisfit), scale),
    }),
    proteinHash: t.expose('proteinHash', {
      type: 'ProteinHash',
      description: 'MD5 of the sequence of a protein, its id in the Atlas; null for other kinds.',
    }),
    protein: t.field(proteinOfChain),
  }),
});

export const ChainPairIptm = builder.objectRef<ChainPair>('ChainPairIptm').implement({
  description: 'How sure the model is of how two chains lie to each other.',
  fields: (t) => ({
    a: t.exposeString('a', nonNull('Id of the first chain, such as "A".')),
    b: t.exposeString('b', nonNull('Id of the second chain, such as "B".')),
    iptm: t.exposeFloat('value', nonNull('ipTM of the pair, 0 to 1, such as 0.62.')),
  }),
});

interface EmbeddingsShape {
  readonly sequenceShape: readonly number[] | null;
  readonly pairShape: readonly number[] | null;
  readonly url: string;
  signedUrl(): Promise<string | null>;
}

export const FoldEmbeddings = builder.objectRef<EmbeddingsShape>('FoldEmbeddings').implement({
  description:
    'The embeddings of a fold: their shapes, and the address to download them. One row for each token; ' +
    'the gateway averages several rows of a token.',
  fields: (t) => ({
    sequenceShape: t.exposeIntList('sequenceShape', {
      nullable: { list: true, items: false },
      description: 'Tokens and channels, such as [142, 1536]; null when there is none.',
    }),
    pairShape: t.exposeIntList('pairShape', {
      nullable: { list: true, items: false },
      description:
        'Tokens and channels of the pooled pair embedding, such as [142, 256]; null when there is none.',
    }),
    url: t.expose('url', {
      ...nonNull('Address of the NumPy archive (.npz) at the gateway. Needs your token.'),
      type: 'URL',
    }),
    signedUrl: t.field({
      type: 'URL',
      description: 'The same for 15 minutes without a token, as `FoldResult.signedUrl`.',
      resolve: (embeddings) => embeddings.signedUrl(),
    }),
  }),
});

const MOST_POINTS = 1_000_000;
const USUAL_POINTS = 10_000;

interface BlockArgs {
  readonly rowStart?: number | null | undefined;
  readonly rowEnd?: number | null | undefined;
  readonly columnStart?: number | null | undefined;
  readonly columnEnd?: number | null | undefined;
  readonly maxPoints?: number | null | undefined;
}

async function blockOf(fold: FoldResultHandle, args: BlockArgs): Promise<PaeBlockRecord> {
  if ((args.maxPoints ?? 1) > MOST_POINTS) throw badInput(`\`maxPoints\` is at most ${MOST_POINTS}.`);
  const range = Object.fromEntries(Object.entries(args).filter(([, value]) => value != null));
  try {
    const block = await fold.paeBlock(range);
    if (block === null) throw missingResult();
    return block;
  } catch (error) {
    throw error instanceof RangeError ? badInput(error.message) : error;
  }
}

const ChainPairPae = builder.objectRef<ChainPair>('ChainPairPae').implement({
  description: 'The predicted aligned error between two chains.',
  fields: (t) => ({
    a: t.exposeString('a', nonNull('Id of the chain that is aligned, such as "A".')),
    b: t.exposeString('b', nonNull('Id of the chain whose error it is, such as "B".')),
    meanPae: t.exposeFloat('value', nonNull('Mean error of the tokens of `b`, in ångström, such as 7.4.')),
  }),
});

const PaeBlock = builder.objectRef<PaeBlockRecord>('PaeBlock').implement({
  description: 'A part of the matrix, each value the mean over `step` times `step` tokens.',
  fields: (t) => ({
    rowStart: t.exposeInt('rowStart', nonNull('First row, 0-based.')),
    rowEnd: t.exposeInt('rowEnd', nonNull('Row after the last one.')),
    columnStart: t.exposeInt('columnStart', nonNull('First column, 0-based.')),
    columnEnd: t.exposeInt('columnEnd', nonNull('Column after the last one.')),
    step: t.exposeInt('step', nonNull('Tokens in one value, along rows and columns.')),
    values: t.field({
      ...nonNull('Row by row, in ångström.'),
      type: t.listRef(t.listRef('Float', { nullable: true }), { nullable: false }),
      resolve: ({ values }) => values.map((row) => [...row]),
    }),
  }),
});

/** The PAE of a result without the matrix. */
interface PaeShape {
  readonly fold: FoldResultHandle;
  readonly size: number;
  /** Ångström; null for a matrix without numbers. */
  readonly max: number | null;
}

export const PredictedAlignedError = builder.objectRef<PaeShape>('PredictedAlignedError').implement({
  description:
    'Predicted aligned error: how far off, in ångström, a token (column) may be when the structure is ' +
    'aligned on another one (row). Where the upstream has a row for each atom of a ligand or modified ' +
    'residue, the value of the token is their mean.',
  fields: (t) => ({
    size: t.exposeInt('size', nonNull('Rows of the square matrix: tokens of the complex.')),
    max: t.exposeFloat('max', { description: 'Largest error, in ångström.' }),
    block: t.field({
      ...nonNull('A block of the matrix, averaged down to at most `maxPoints` values.'),
      type: PaeBlock,
      cost: ({ maxPoints }) => ({ calls: Math.max(0, maxPoints ?? USUAL_POINTS) / USUAL_POINTS }),
      args: {
        rowStart: t.arg.int({ defaultValue: 0, description: 'First row, 0-based, such as 0.' }),
        rowEnd: t.arg.int({ description: 'Row after the last one; the size of the matrix when left out.' }),
        columnStart: t.arg.int({ defaultValue: 0, description: 'First column, 0-based, such as 0.' }),
        columnEnd: t.arg.int({
          description: 'Column after the last one; the size of the matrix when left out.',
        }),
        maxPoints: t.arg.int({
          defaultValue: USUAL_POINTS,
          description: 'Largest number of values to return, 1 to 1,000,000.',
        }),
      },
      resolve: ({ fold }, args) => blockOf(fold, args),
    }),
    chainPairs: t.field({
      type: [ChainPairPae],
      nullable: false,
      description:
        'Mean error, in ångström, of the tokens of `b` when the structure is aligned on those of `a`.',
      resolve: async ({ fold }) => [...checkedPart(await fold.paeChainPairs(), fold.summary.misfits.chains)],
    }),
  }),
});
