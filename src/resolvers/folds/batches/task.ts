// Resolvers of Task: batch, name and chains from the ledger, result and artifacts from Status.
import type { GatewayContext } from '../../../context.ts';
import { Batch, type BatchShape } from '../../../schema/batch.ts';
import { builder } from '../../../schema/builder.ts';
import { nonNull } from '../../../schema/field-options.ts';
import type { FieldCost } from '../../../schema/query-cost.ts';
import {
  Artifact,
  type ArtifactShape,
  InputChain,
  Task,
  TaskError,
  type TaskShape,
  TaskStatus,
} from '../../../schema/task.ts';
import { readFileAddress } from '../../../upstream/http/file-address.ts';
import { validate } from '../../../upstream/http/validate-response.ts';
import { artifacts as artifactUrls } from '../../../upstream/wire.ts';
import { FoldResult } from '../results/fold-result.ts';
import { chainProteinField } from '../results/folded-chain.ts';
import { findStatus, hasResult, loadStatus, loadTask, loadTaskError } from '../tasks/load-task.ts';
import { findInput, findTaskName } from '../tasks/task-shape.ts';
import { loadBatch, toBatch } from './batch.ts';

/** Fields that share one Status call. */
const STATUS: FieldCost = { shared: { status: 1 } };

async function findBatch(ctx: GatewayContext, { batchId }: TaskShape): Promise<BatchShape | null> {
  if (batchId === null) return null;
  // A batch in the ledger exists. Any other id was derived from the task's; List proves it.
  const submitted = await ctx.submissions.batch(batchId);
  return submitted === null ? loadBatch(ctx, batchId) : toBatch(ctx, batchId);
}

async function loadArtifacts(
  ctx: GatewayContext,
  { taskId, state, result }: TaskShape,
): Promise<ArtifactShape[]> {
  if (state !== 'DONE' || result === 'expired') return [];
  const status = await findStatus(ctx, taskId);
  if (status === null) return [];
  const { artifacts, artifacts_expire_in: seconds } = status.data;
  const expiresAt = seconds == null ? null : new Date(Date.now() + seconds * 1000);
  const urls = artifacts == null ? {} : validate('status', artifactUrls, artifacts);
  return Object.entries(urls).map(([name, url]) => ({
    name,
    url: readFileAddress(ctx.upstream.settings, url).href,
    expiresAt,
  }));
}

/** Warnings of Status, which is not called for a queued task. */
async function loadWarnings(
  ctx: GatewayContext,
  { taskId, state, warnings }: TaskShape,
): Promise<readonly string[]> {
  if (warnings !== null || state === 'QUEUED') return warnings ?? [];
  return (await findStatus(ctx, taskId))?.warnings ?? [];
}

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

builder.queryField('task', (t) =>
  t.field({
    type: Task,
    // List has the state of a task whose result has expired.
    cost: 3,
    description:
      'A task by its id; null when the upstream has none with this id for your token. One Status call.',
    args: { taskId: t.arg.id({ required: true, description: 'The `taskId` of a task of a batch.' }) },
    resolve: (_, { taskId }, ctx) => loadTask(ctx, taskId),
  }),
);
