// Resolvers of PredictedAlignedError: blocks of the matrix, and means over pairs of chains, from the
// result that a request downloads once.
import type { GatewayContext } from '../../context.ts';
import { builder } from '../../schema/builder.ts';
import { ChainPairPae, PaeBlock, PredictedAlignedError } from '../../schema/fold-result.ts';
import { badInput } from '../../schema/scalars.ts';
import type { PaeBlock as PaeBlockRecord } from '../../structure/fold/pae.ts';
import { foldOf, gone } from './fold-result.ts';

const MOST_POINTS = 1_000_000;
const USUAL_POINTS = 10_000;

interface BlockArgs {
  readonly rowStart?: number | null | undefined;
  readonly rowEnd?: number | null | undefined;
  readonly columnStart?: number | null | undefined;
  readonly columnEnd?: number | null | undefined;
  readonly maxPoints?: number | null | undefined;
}

async function blockOf(ctx: GatewayContext, taskId: string, args: BlockArgs): Promise<PaeBlockRecord> {
  if ((args.maxPoints ?? 1) > MOST_POINTS) throw badInput(`\`maxPoints\` is at most ${MOST_POINTS}.`);
  const range = Object.fromEntries(Object.entries(args).filter(([, value]) => value != null));
  try {
    const block = await (await foldOf(ctx, taskId)).paeBlock(range);
    if (block === null) throw gone();
    return block;
  } catch (error) {
    throw error instanceof RangeError ? badInput(error.message) : error;
  }
}

builder.objectFields(PredictedAlignedError, (t) => ({
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
    resolve: ({ taskId }, args, ctx) => blockOf(ctx, taskId, args),
  }),
  chainPairs: t.field({
    type: [ChainPairPae],
    nullable: { list: false, items: false },
    description:
      'Mean error, in ångström, of the tokens of `b` when the structure is aligned on those of `a`.',
    resolve: async ({ taskId }, _, ctx) => [...(await (await foldOf(ctx, taskId)).paeChainPairs())],
  }),
}));
