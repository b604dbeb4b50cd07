// Resolvers of Task: batch, name and chains from the ledger, result and artifacts from Status. Also
// finds a task.
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
  type TaskErrorShape,
  type TaskShape,
  TaskStatus,
} from '../../schema/task.ts';
import type { TaskScores } from '../../store/ledger/ledger.ts';
import type { TaskPosition } from '../../store/ledger/submissions.ts';
import { listPages } from '../../upstream/batch.ts';
import { asError, UpstreamError } from '../../upstream/errors.ts';
import { missingResult } from '../../upstream/folds/fold-errors.ts';
import { signedUrl } from '../../upstream/http/download.ts';
import { validate } from '../../upstream/http/validate-response.ts';
import { artifacts as artifactUrls } from '../../upstream/wire.ts';
import { parseTime } from '../../upstream/wire-values.ts';
import { batchById, loadBatch } from './batch.ts';
import { FoldResult } from './fold-result.ts';
import { chainProteinField } from './folded-chain.ts';
import { loadMeanPlddt, loadScores } from './load-fold.ts';
import { inputOf, nameOfTask, taskOf, tasksOf } from './task-shape.ts';
import { readStatus, taskStatus } from './task-status.ts';

/** Fields that share one Status call. */
const STATUS: FieldCost = { shared: { status: 1 } };

/** Finds a task in its batch: List has the state of tasks whose results have expired. */
async function findListed(
  ctx: GatewayContext,
  taskId: string,
  { batchId }: TaskPosition,
): Promise<TaskShape | null> {
  for await (const { page, items } of listPages((request) => ctx.batches.page(batchId, request))) {
    const item = items.find(({ task_id }) => task_id === taskId);
    if (page !== null && item !== undefined) return tasksOf(batchId, page, [item])[0] ?? null;
  }
  return null;
}

/** A task whose place cannot be looked up at present: only what needs the place fails. */
function taskWithoutPlace(task: TaskShape, failure: Error): TaskShape {
  const fail = (): never => {
    throw failure;
  };
  return Object.defineProperties({ ...task }, { batchId: { get: fail }, index: { get: fail } });
}

/** A task of this caller; null when there is none. One Status call; after expiry also List. */
export async function loadTask(ctx: GatewayContext, taskId: string): Promise<TaskShape | null> {
  const place = await ctx.submissions.placeOf(taskId).catch(asError);
  const status = await readStatus(ctx, taskId);
  if (status === null) return null;
  if (place instanceof Error) {
    if (status instanceof UpstreamError) throw place;
    return taskWithoutPlace(taskOf(taskId, null, status.data, 'none', status.warnings), place);
  }
  if (!(status instanceof UpstreamError)) return taskOf(taskId, place, status.data, 'none', status.warnings);
  // Status says no more than that the result has expired.
  const listed = place === null ? null : await findListed(ctx, taskId, place);
  const { resultsExpireAt } = status.failure;
  return {
    ...(listed ?? taskOf(taskId, place, {}, 'none')),
    resultsExpireAt: parseTime(resultsExpireAt) ?? listed?.resultsExpireAt ?? null,
    result: 'expired',
  };
}

/** List and Status give reasons for as long as they give results. */
const EXPIRED_REASON: TaskErrorShape = {
  code: null,
  message: 'The task failed; its reason has expired with the results of the batch.',
  raw: null,
};

/** Why a task failed: by Status where List, which need not say, does not. */
export async function errorOfTask(ctx: GatewayContext, task: TaskShape): Promise<TaskErrorShape | null> {
  if (task.state !== 'FAILED' || task.record.error != null) return task.error;
  const status = task.result === 'ask' ? await readStatus(ctx, task.taskId) : null;
  if (task.result === 'expired' || status instanceof UpstreamError) return EXPIRED_REASON;
  if (status === null) return task.error;
  return taskOf(task.taskId, null, status.data, 'none').error ?? task.error;
}

async function batchOf(ctx: GatewayContext, { batchId }: TaskShape): Promise<BatchShape | null> {
  if (batchId === null) return null;
  // A batch in the ledger exists. Any other id was derived from the task's; List proves it.
  return (await ctx.submissions.batch(batchId)) === null ? loadBatch(ctx, batchId) : batchById(ctx, batchId);
}

/**
 * Whether a task has a result. Reads Status only for a done task of which List does not say so.
 *
 * @throws UpstreamError UPSTREAM_DRIFT for a done task with neither a result nor an expiry
 */
async function hasResult(ctx: GatewayContext, { taskId, state, result }: TaskShape): Promise<boolean> {
  if (state !== 'DONE' || result === 'expired') return false;
  if (result === 'here') return true;
  const status = result === 'ask' ? await readStatus(ctx, taskId) : null;
  if (status instanceof UpstreamError) return false;
  if (status?.data.response == null) throw missingResult();
  return true;
}

interface FoldScoresShape extends TaskScores {
  readonly task: TaskShape;
}

async function scoresOf(ctx: GatewayContext, task: TaskShape): Promise<FoldScoresShape | null> {
  const kept = await ctx.submissions.scores(task.taskId).catch(asError);
  if (kept !== null && !(kept instanceof Error)) return { ...kept, task };
  if (await hasResult(ctx, task)) return { ...(await loadScores(ctx, task)), task };
  // Of an expired result the store alone may have scores.
  if (kept !== null && task.state === 'DONE') throw kept;
  return null;
}

async function artifactsOf(
  ctx: GatewayContext,
  { taskId, state, result }: TaskShape,
): Promise<ArtifactShape[]> {
  if (state !== 'DONE' || result === 'expired') return [];
  const status = await readStatus(ctx, taskId);
  if (status === null || status instanceof UpstreamError) return [];
  const { artifacts, artifacts_expire_in: seconds } = status.data;
  const expiresAt = seconds == null ? null : new Date(Date.now() + seconds * 1000);
  return Object.entries(artifacts == null ? {} : validate('status', artifactUrls, artifacts)).map(
    ([name, url]) => ({ name, url: signedUrl(ctx.upstream, url).href, expiresAt }),
  );
}

/** Warnings about a task: those of Status, which a task that waits in a list is not asked for. */
async function warningsOf(
  ctx: GatewayContext,
  { taskId, state, warnings }: TaskShape,
): Promise<readonly string[]> {
  if (warnings !== null || state === 'QUEUED') return warnings ?? [];
  const status = await readStatus(ctx, taskId);
  return status === null || status instanceof UpstreamError ? [] : status.warnings;
}

const FoldScores = builder.objectRef<FoldScoresShape>('FoldScores').implement({
  description:
    'The scalar scores of a fold. The gateway stores them longer than the upstream stores the result.',
  fields: (t) => ({
    ptm: t.exposeFloat('ptm', { description: 'Predicted TM-score of the whole complex, 0 to 1.' }),
    iptm: t.exposeFloat('iptm', {
      description: 'Predicted TM-score between chains, 0 to 1; null for a single chain.',
    }),
    meanPlddt: t.float({
      description: 'Mean pLDDT over all tokens, 0 to 100 unless another scale is asked for.',
      args: { scale: t.arg(scaleArg) },
      resolve: async ({ task, ...scores }, { scale }, ctx) => {
        const isRead = scores.meanPlddt === null && (await hasResult(ctx, task));
        return scalePlddt(isRead ? await loadMeanPlddt(ctx, task, scores) : scores.meanPlddt, scale);
      },
    }),
  }),
});

builder.objectFields(Task, (t) => ({
  batch: t.field({
    type: Batch,
    cost: 1,
    description: 'The batch it belongs to; null when that is unknown.',
    resolve: (task, _, ctx) => batchOf(ctx, task),
  }),
  inputIndex: t.int({
    description: 'Position of its item in the submission, 0-based; null for a batch not submitted here.',
    resolve: async (task, _, ctx) => (await inputOf(ctx, task))?.inputIndex,
  }),
  repeatIndex: t.int({
    description: 'Which repeat of its item it is, 0-based; null for a batch not submitted here.',
    resolve: async (task, _, ctx) => (await inputOf(ctx, task))?.repeatIndex,
  }),
  name: t.string({
    description: 'Your name for its item, such as "insulin-dimer".',
    resolve: (task, _, ctx) => nameOfTask(ctx, task),
  }),
  inputChains: t.field({
    type: [InputChain],
    nullable: { list: true, items: false },
    description: 'The submitted chains; null for batches that were not submitted through this gateway.',
    resolve: async (task, _, ctx) => (await inputOf(ctx, task))?.item?.chains,
  }),
  status: t.field({
    ...nonNull('Where the task is and whether its result can be read.'),
    type: TaskStatus,
    cost: STATUS,
    resolve: (task, _, ctx) => taskStatus(ctx, task),
  }),
  error: t.field({
    type: TaskError,
    cost: STATUS,
    description:
      'Why it failed, or what the upstream says beside another state; null where there is nothing to ' +
      'say. Costs one Status call where List does not say.',
    resolve: (task, _, ctx) => errorOfTask(ctx, task),
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
      'The scalar scores. The gateway stores them when they are first read: ranking again downloads ' +
      'nothing, and they outlive the result.',
    resolve: (task, _, ctx) => scoresOf(ctx, task),
  }),
  warnings: t.stringList({
    nullable: { list: true, items: false },
    cost: STATUS,
    semanticNonNull: true,
    description:
      'Warnings of the upstream about this task; `Batch.warnings` has those about the batch. One Status ' +
      'call for a task that has started; null only with an error.',
    resolve: async (task, _, ctx) => [...(await warningsOf(ctx, task))],
  }),
  artifacts: t.field({
    semanticNonNull: true,
    description: 'Additional outputs. One Status call for a done task; null only with an error.',
    type: [Artifact],
    cost: STATUS,
    resolve: (task, _, ctx) => artifactsOf(ctx, task),
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
