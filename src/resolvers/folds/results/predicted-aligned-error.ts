// PredictedAlignedError: blocks of the matrix of a fold result.
import type { GatewayContext } from '../../../context.ts';
import { builder } from '../../../schema/builder.ts';
import { nonNull } from '../../../schema/field-options.ts';
import { badInput } from '../../../schema/scalars.ts';
import type { TaskShape } from '../../../schema/task.ts';
import type { Matrix } from '../../../structure/fold/matrix.ts';
import { type PaeBlock as PaeBlockRecord, type PaeRange, paeBlock } from '../../../structure/fold/pae.ts';
import { checkPart } from '../../../upstream/folds/fold-errors.ts';
import { loadFold } from './load-fold.ts';

const MAX_POINTS = 1_000_000;
const DEFAULT_POINTS = 10_000;

function readBlock(pae: Matrix, range: PaeRange): PaeBlockRecord {
  if ((range.maxPoints ?? 1) > MAX_POINTS) throw badInput(`\`maxPoints\` is at most ${MAX_POINTS}.`);
  try {
    return paeBlock(pae, range);
  } catch (error) {
    throw error instanceof RangeError ? badInput(error.message) : error;
  }
}

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

export const PredictedAlignedError = builder.objectRef<Matrix>('PredictedAlignedError').implement({
  description:
    'Predicted aligned error: how far off, in ångström, a token (column) may be when the structure is ' +
    'aligned on another one (row). Where the upstream has a row for each atom of a ligand or modified ' +
    'residue, the value of the token is their mean.',
  fields: (t) => ({
    size: t.int({
      ...nonNull('Rows of the square matrix: tokens of the complex.'),
      resolve: ({ rowCount }) => rowCount,
    }),
    max: t.float({ description: 'Largest error, in ångström.', resolve: ({ max }) => max }),
    block: t.field({
      ...nonNull('A block of the matrix, averaged down to at most `maxPoints` values.'),
      type: PaeBlock,
      cost: ({ maxPoints }) => {
        const values = Math.max(0, maxPoints ?? DEFAULT_POINTS);
        return { calls: values / DEFAULT_POINTS, values };
      },
      args: {
        rowStart: t.arg.int({ defaultValue: 0, description: 'First row, 0-based, such as 0.' }),
        rowEnd: t.arg.int({ description: 'Row after the last one; the size of the matrix when left out.' }),
        columnStart: t.arg.int({ defaultValue: 0, description: 'First column, 0-based, such as 0.' }),
        columnEnd: t.arg.int({
          description: 'Column after the last one; the size of the matrix when left out.',
        }),
        maxPoints: t.arg.int({
          defaultValue: DEFAULT_POINTS,
          description: 'Largest number of values to return, 1 to 1,000,000.',
        }),
      },
      resolve: readBlock,
    }),
  }),
});

/** Null without a PAE. @throws UpstreamError UPSTREAM_DRIFT when its rows fit no token */
export async function loadPae(ctx: GatewayContext, task: TaskShape): Promise<Matrix | null> {
  const fold = await loadFold(ctx, task);
  return checkPart(fold.pae, fold.misfits.pae);
}
