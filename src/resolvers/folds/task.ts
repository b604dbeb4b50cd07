// Resolvers of Task: batch, name and chains from the ledger, result and artifacts from Status.
import type { GatewayContext } from '../../context.ts';
import { Batch, type BatchShape } from '../../schema/batch.ts';
import { builder } from '../../schema/builder.ts';
import { nonNull } from '../../schema/field-options.ts';
import { scaleArg, scalePlddt } from '../../schema/plddt.ts';
import type { FieldCost } from '../../schema/query-cost.ts';
import {
  Artifact,
  type ArtifactShape,
  InputChain,
  Task,
  TaskError,
  type TaskShape,
  TaskStatus,
} from '../../schema/task.ts';
import type { TaskScores } from '../../store/ledger/ledger.ts';
import { asError, UpstreamError } from '../../upstream/errors.ts';
import { signedUrl } from '../../upstream/http/download.ts';
import { validate } from '../../upstream/http/validate-response.ts';
import { artifacts as artifactUrls } from '../../upstream/wire.ts';
import { loadBatch, toBatch } from './batch.ts';
import { FoldResult } from './fold-result.ts';
import { ChainPairIptm, chainProteinField } from './folded-chain.ts';
import { loadMeanPlddt, loadScores } from './load-fold.ts';
import { hasResult, loadStatus, loadTask, loadTaskError, readStatus } from './load-task.ts';
import { findInput, findTaskName } from './task-shape.ts';

/** Fields that share one Status call. */
const STATUS: FieldCost = { shared: { status: 1 } };

async function findBatch(ctx: GatewayContext, { batchId }: TaskShape): Promise<BatchShape | null> {
  if (batchId === null) return null;
  // A batch in the ledger exists. Any other id was derived from the task's; List proves it.
  const submitted = await ctx.submissions.batch(batchId);
  return submitted === null ? loadBatch(ctx, batchId) : toBatch(ctx, batchId);
}

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

async function loadArtifacts(
  ctx: GatewayContext,
  { taskId, state, result }: TaskShape,
): Promise<ArtifactShape[]> {
  if (state !== 'DONE' || result === 'expired') return [];
  const status = await readStatus(ctx, taskId);
  if (status === null || status instanceof UpstreamError) return [];
  const { artifacts, artifacts_expire_in: seconds } = status.data;
  const expiresAt = seconds == null ? null : new Date(Date.now() + seconds * 1000);
  const urls = artifacts == null ? {} : validate('status', artifactUrls, artifacts);
  return Object.entries(urls).map(([name, url]) => ({
    name,
    url: signedUrl(ctx.upstream, url).href,
    expiresAt,
  }));
}

/** Warnings of Status, which is not called for a queued task. */
async function loadWarnings(
  ctx: GatewayContext,
  { taskId, state, warnings }: TaskShape,
): Promise<readonly string[]> {
  if (warnings !== null || state === 'QUEUED') return warnings ?? [];
  const status = await readStatus(ctx, taskId);
  return status === null || status instanceof UpstreamError ? [] : status.warnings;
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
      type: [ChainPairIptm],
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

builder.objectFields(Task, (t) => ({
  batch: t.field({
    type: Batch,
    cost: 1,
    description: 'The batch it belongs to; null when that is unknown.',
    resolve: (task, _, ctx) => findBatch(ctx, task),
  }),
  inputIndex: t.int({
    description: 'Position of its item in the submission, 0-based; null for a batch not submitted here.',
    resolve: async (task, _, ctx) => (await findInput(ctx, task))?.inputIndex,
  }),
  repeatIndex: t.int({
    description: 'Which repeat of its item it is, 0-based; null for a batch not submitted here.',
    resolve: async (task, _, ctx) => (await findInput(ctx, task))?.repeatIndex,
  }),
  name: t.string({
    description: 'Your name for its item, such as "insulin-dimer".',
    resolve: (task, _, ctx) => findTaskName(ctx, task),
  }),
  inputChains: t.field({
    type: [InputChain],
    nullable: { list: true, items: false },
    description: 'The submitted chains; null for batches that were not submitted through this gateway.',
    resolve: async (task, _, ctx) => (await findInput(ctx, task))?.item?.chains,
  }),
  status: t.field({
    ...nonNull('Where the task is and whether its result can be read.'),
    type: TaskStatus,
    cost: STATUS,
    resolve: (task, _, ctx) => loadStatus(ctx, task),
  }),
  error: t.field({
    type: TaskError,
    cost: STATUS,
    description:
      'Why it failed, or what the upstream says beside another state; null where there is nothing to ' +
      'say. Costs one Status call where List does not say.',
    resolve: (task, _, ctx) => loadTaskError(ctx, task),
  }),
  result: t.field({
    type: FoldResult,
    cost: STATUS,
    description: 'The prediction. Null unless `status` is DONE.',
    resolve: async (task, _, ctx) => ((await hasResult(ctx, task)) ? task : null),
  }),
  scores: t.field({
    type: FoldScores,
    cost: { shared: { status: 1, download: 1 } },
    description:
      'The scores. The gateway stores them when they are first read: ranking again downloads ' +
      'nothing, and they outlive the result.',
    resolve: (task, _, ctx) => findScores(ctx, task),
  }),
  warnings: t.stringList({
    nullable: { list: true, items: false },
    cost: STATUS,
    semanticNonNull: true,
    description:
      'Warnings of the upstream about this task; `Batch.warnings` has those about the batch. One Status ' +
      'call for a task that has started; null only with an error.',
    resolve: (task, _, ctx) => loadWarnings(ctx, task),
  }),
  artifacts: t.field({
    semanticNonNull: true,
    description: 'Additional outputs. One Status call for a done task; null only with an error.',
    type: [Artifact],
    cost: STATUS,
    resolve: (task, _, ctx) => loadArtifacts(ctx, task),
  }),
}));

builder.objectField(InputChain, 'protein', (t) => t.field(chainProteinField));

builder.queryFields((t) => ({
  task: t.field({
    type: Task,
    // List has the state of a task whose result has expired.
    cost: 3,
    description:
      'A task by its id; null when the upstream has none with this id for your token. One Status call.',
    args: { taskId: t.arg.id({ required: true, description: 'The `taskId` of a task of a batch.' }) },
    resolve: (_, { taskId }, ctx) => loadTask(ctx, taskId),
  }),
}));
