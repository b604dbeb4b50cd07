// Task.scores: the scalar scores of a fold, which the ledger stores longer than the service stores
// the result.
import type { GatewayContext } from '../../../context.ts';
import { builder } from '../../../schema/builder.ts';
import { nonNull } from '../../../schema/field-options.ts';
import { scaleArg, scalePlddt } from '../../../schema/plddt.ts';
import { Task, type TaskShape } from '../../../schema/task.ts';
import type { TaskScores } from '../../../store/ledger/ledger.ts';
import { asError } from '../../../upstream/errors.ts';
import { ChainPair } from '../results/folded-chain.ts';
import { loadMeanPlddt, loadScores } from '../results/load-fold.ts';
import { hasResult } from '../tasks/load-task.ts';

interface FoldScoresShape extends TaskScores {
  readonly task: TaskShape;
}

async function findScores(ctx: GatewayContext, task: TaskShape): Promise<FoldScoresShape | null> {
  const stored = await ctx.submissions.scores(task.taskId).catch(asError);
  if (stored !== null && !(stored instanceof Error)) return { ...stored, task };
  if (await hasResult(ctx, task)) return { ...(await loadScores(ctx, task)), task };
  // Only the ledger may have the scores of an expired result.
  if (stored !== null && task.state === 'DONE') throw stored;
  return null;
}

const FoldScores = builder.objectRef<FoldScoresShape>('FoldScores').implement({
  description: 'The scores of a fold. The gateway stores them longer than the upstream stores the result.',
  fields: (t) => ({
    ptm: t.exposeFloat('ptm', { description: 'Predicted TM-score of the whole complex, 0 to 1.' }),
    iptm: t.exposeFloat('iptm', {
      description: 'Predicted TM-score between chains, 0 to 1; null for a single chain.',
    }),
    ipsae: t.float({
      description:
        'Largest ipSAE of any two chains, 0 to 1, such as 0.71; null for a single chain and without ' +
        'includePae.',
      resolve: ({ chainPairs: [best] }) => best?.ipsaeMax,
    }),
    chainPairs: t.field({
      ...nonNull('Scores of the ordered pairs of chains, best ipSAE first, then best pDockQ; at most 210.'),
      type: [ChainPair],
      resolve: ({ chainPairs }) => chainPairs.map((pair) => ({ ...pair, paeMisfit: null })),
    }),
    meanPlddt: t.float({
      description: 'Mean pLDDT over all tokens, 0 to 100 unless another scale is asked for.',
      args: { scale: t.arg(scaleArg) },
      resolve: async ({ task, ...scores }, { scale }, ctx) => {
        const canSayWhy = scores.meanPlddt === null && (await hasResult(ctx, task));
        return scalePlddt(canSayWhy ? await loadMeanPlddt(ctx, task, scores) : scores.meanPlddt, scale);
      },
    }),
  }),
});

builder.objectField(Task, 'scores', (t) =>
  t.field({
    type: FoldScores,
    cost: { shared: { status: 1, download: 1 } },
    description:
      'The scores. The gateway stores them when they are first read: ranking again downloads ' +
      'nothing, and they outlive the result.',
    resolve: (task, _, ctx) => findScores(ctx, task),
  }),
);
