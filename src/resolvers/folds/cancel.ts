// cancelBatch and cancelTask. Where the answer does not say what was cancelled, the states before
// and after do.
import type { GraphQLResolveInfo } from 'graphql';
import type { GatewayContext } from '../../context.ts';
import { Batch, type BatchShape } from '../../schema/batch.ts';
import { builder } from '../../schema/builder.ts';
import {
  Cancelled,
  CancelResult,
  type CancelResultShape,
  type CancelTarget,
  NothingToCancel,
} from '../../schema/cancel.ts';
import { notFound } from '../../schema/problem.ts';
import { Task, type TaskShape } from '../../schema/task.ts';
import { type CancelEnding, cancel } from '../../upstream/batch.ts';
import {
  readCounts,
  type TaskCounts,
  type TaskStateName,
  taskState,
} from '../../upstream/folds/batch-states.ts';
import { drifted } from '../../upstream/http/validate-response.ts';
import { selectedFields } from '../selection.ts';
import { batchById, loadBatch } from './batch.ts';
import { loadTask } from './task.ts';
import { toRefusedProblem } from './upstream-refusals.ts';

/** The batch of the target. */
async function batchOf(ctx: GatewayContext, target: CancelTarget): Promise<BatchShape | null> {
  if ('batchId' in target) return batchById(ctx, target.batchId);
  const place = await ctx.submissions.placeOf(target.taskId);
  return place === null ? null : loadBatch(ctx, place.batchId);
}

const taskOf = (ctx: GatewayContext, target: CancelTarget): Promise<TaskShape | null> | null =>
  'taskId' in target ? loadTask(ctx, target.taskId) : null;

async function stillRunning(ctx: GatewayContext, target: CancelTarget): Promise<number | null> {
  const batch = await batchOf(ctx, target);
  return batch === null ? null : (await batch.read()).counts.inProgress;
}

/**
 * The target in List or Status before the cancellation; null where the service does not know it.
 */
type StateBefore = { readonly counts: TaskCounts | null } | { readonly task: TaskStateName | null };

async function readBefore(ctx: GatewayContext, target: CancelTarget): Promise<StateBefore> {
  if ('batchId' in target) {
    const page = await ctx.batches.batch(target.batchId);
    return { counts: page === null ? null : readCounts(page.counts) };
  }
  const status = await ctx.batches.status(target.taskId);
  return { task: status === null ? null : taskState(status.data.status) };
}

const unknownCount = (what: string): Error =>
  drifted('cancel', '$.cancelled', `it is missing, and ${what}, so that the count is not known`);

/**
 * Number of tasks that a successful cancellation cancelled, where its answer does not say.
 *
 * @throws UpstreamError UPSTREAM_DRIFT when the states before and after do not show it
 */
async function countFromStates(
  ctx: GatewayContext,
  target: CancelTarget,
  before: StateBefore,
): Promise<number> {
  if ('task' in before) {
    if (before.task === 'CANCELLED') return 0;
    if (before.task === 'QUEUED') return 1;
    throw unknownCount(`the task was ${before.task ?? 'not known'} before`);
  }
  if (before.counts === null) throw unknownCount('List did not know the batch before');
  if (before.counts.queued === 0) return 0;
  const after = 'batchId' in target ? await ctx.batches.batch(target.batchId) : null;
  if (after === null) throw unknownCount('List does not know the batch any more');
  const { queued, cancelled } = readCounts(after.counts);
  const count = cancelled - before.counts.cancelled;
  if (queued > 0 || count < 0) throw unknownCount('the counts of the batch do not tell');
  return count;
}

/** The fields that need the state before. */
const COUNT_FIELDS = new Set(['cancelledCount', 'alreadyCancelled']);

const selectsCount = (info: GraphQLResolveInfo): boolean =>
  selectedFields(info, 'Cancelled').some(({ name }) => COUNT_FIELDS.has(name));

/** Has the poller read the batch now, so that subscribers see the result at once. */
async function refreshProgress(ctx: GatewayContext, target: CancelTarget): Promise<void> {
  const batchId =
    'batchId' in target ? target.batchId : (await ctx.submissions.placeOf(target.taskId))?.batchId;
  if (batchId !== undefined) await ctx.services.live.nudge(ctx.principal, batchId);
}

const noTarget = (target: CancelTarget, upstreamRequestId: string | null = null): CancelResultShape =>
  'batchId' in target
    ? notFound('batch', target.batchId, upstreamRequestId)
    : notFound('task', target.taskId, upstreamRequestId);

const mayCancel = ({ owned }: GatewayContext, target: CancelTarget): Promise<boolean> =>
  'batchId' in target ? owned.batch(target.batchId) : owned.task(target.taskId);

async function cancelTarget(
  ctx: GatewayContext,
  info: GraphQLResolveInfo,
  target: CancelTarget,
): Promise<CancelResultShape> {
  if (!(await mayCancel(ctx, target))) return noTarget(target);
  // A failed read fails the count, not the cancellation.
  const reading = selectsCount(info) ? Promise.allSettled([readBefore(ctx, target)]) : undefined;
  const before = (await reading)?.[0];
  let ending: CancelEnding;
  try {
    ending = await cancel(
      ctx.upstream,
      'batchId' in target ? { batch_id: target.batchId } : { task_id: target.taskId },
    );
  } catch (error) {
    const refused = toRefusedProblem(error);
    if (refused === null || refused.reason === 'UNREACHABLE') throw error;
    return refused;
  }
  ctx.batches.forgetAll();
  await refreshProgress(ctx, target);
  if (ending.kind === 'cancelled') {
    const told = ending.answer.data.cancelled;
    return {
      kind: 'Cancelled',
      target,
      cancelledCount: async () => {
        if (told != null) return told;
        if (before === undefined) throw unknownCount('the states before were not read');
        if (before.status === 'rejected') throw before.reason;
        return countFromStates(ctx, target, before.value);
      },
    };
  }
  const { message, failure } = ending.error;
  const upstreamRequestId = failure.requestId ?? null;
  return ending.kind === 'nothing'
    ? {
        kind: 'NothingToCancel',
        message,
        hint: 'Running tasks cannot be stopped.',
        upstreamRequestId,
        target,
      }
    : noTarget(target, upstreamRequestId);
}

builder.objectFields(Cancelled, (t) => ({
  batch: t.field({
    type: Batch,
    cost: 1,
    description: 'The present state of the batch.',
    resolve: ({ target }, _, ctx) => batchOf(ctx, target),
  }),
  task: t.field({
    type: Task,
    cost: 1,
    description: 'The present state of the task; null when a whole batch was cancelled.',
    resolve: ({ target }, _, ctx) => taskOf(ctx, target),
  }),
  stillRunningCount: t.int({
    cost: 1,
    description: 'Tasks of the batch that continue and are charged. One List call.',
    resolve: ({ target }, _, ctx) => stillRunning(ctx, target),
  }),
}));

builder.objectFields(NothingToCancel, (t) => ({
  batch: t.field({
    type: Batch,
    cost: 1,
    description: 'The present state of the batch.',
    resolve: ({ target }, _, ctx) => batchOf(ctx, target),
  }),
}));

builder.mutationFields((t) => ({
  cancelBatch: t.field({
    type: CancelResult,
    nullable: false,
    // Counts before and after, where the answer does not say how many were cancelled.
    cost: 3,
    description:
      'Cancels every queued task of a batch, free of charge. Running tasks continue and are charged.',
    args: { batchId: t.arg.id({ required: true, description: 'The `batchId` from submitFold.' }) },
    resolve: (_, { batchId }, ctx, info) => cancelTarget(ctx, info, { batchId }),
  }),
  cancelTask: t.field({
    type: CancelResult,
    nullable: false,
    // Its state before, where the answer does not say whether it was cancelled now.
    cost: 2,
    description: 'Cancels one task if it is still queued, free of charge.',
    args: { taskId: t.arg.id({ required: true, description: 'The `taskId` of a task of a batch.' }) },
    resolve: (_, { taskId }, ctx, info) => cancelTarget(ctx, info, { taskId }),
  }),
}));
