// PredictedAlignedError: blocks of the matrix, and means over pairs of chains, from the result that a
// request downloads once.
import { builder } from '../../schema/builder.ts';
import { badInput } from '../../schema/scalars.ts';
import type { ChainPair, PaeBlock as PaeBlockRecord } from '../../structure/fold/pae.ts';
import { missingResult } from '../../upstream/folds/fold-results.ts';
import type { FoldResultHandle } from '../../upstream/folds/open-fold-result.ts';

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
    a: t.exposeString('a', { nullable: false, description: 'Id of the chain that is aligned, such as "A".' }),
    b: t.exposeString('b', {
      nullable: false,
      description: 'Id of the chain whose error it is, such as "B".',
    }),
    meanPae: t.exposeFloat('value', {
      nullable: false,
      description: 'Mean error of the tokens of `b`, in ångström, such as 7.4.',
    }),
    value: t.exposeFloat('value', {
      nullable: false,
      deprecationReason: 'Use `meanPae`. Removed after 2027-05-31.',
      description: 'Mean error of the tokens of `b`, in ångström.',
    }),
  }),
});

const PaeBlock = builder.objectRef<PaeBlockRecord>('PaeBlock').implement({
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

/** The PAE of a result without the matrix. */
interface PaeShape {
  readonly fold: FoldResultHandle;
  /** Rows of the matrix. */
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
    size: t.exposeInt('size', {
      nullable: false,
      description: 'Rows of the square matrix: tokens of the complex.',
    }),
    max: t.exposeFloat('max', { description: 'Largest error, in ångström.' }),
    block: t.field({
      type: PaeBlock,
      nullable: false,
      cost: ({ maxPoints }) => ({ calls: Math.max(0, maxPoints ?? USUAL_POINTS) / USUAL_POINTS }),
      description: 'A block of the matrix, averaged down to at most `maxPoints` values.',
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
      resolve: async ({ fold }) => [...(await fold.paeChainPairs())],
    }),
  }),
});
