// cancelBatch and cancelTask: what they did, told from the answer and from the counts after it.
import { builder } from '../builder.ts';
import type { GatewayContext } from '../context.ts';
import { Batch, type BatchShape } from '../schema/batch.ts';
import {
  type CancelEndingShape,
  Cancelled,
  CancelResult,
  type CancelTarget,
  NothingToCancel,
} from '../schema/cancel.ts';
import { Task, type TaskShape } from '../schema/task.ts';
import { type CancelEnding, cancel } from '../upstream/batch.ts';
import { batchById, loadBatch } from './batch.ts';
import { asRefusal } from './refusals.ts';
import { loadTask } from './task.ts';

/** The batch that the target is or belongs to. */
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

/** Cancelled tasks by the answer, or by the counts of the batch when the answer does not say. */
async function countOf(
  ctx: GatewayContext,
  target: CancelTarget,
  told: number | null | undefined,
): Promise<number> {
  if (told != null) return told;
  if ('taskId' in target) return 1;
  return (await batchById(ctx, target.batchId).read()).counts.cancelled;
}

/** Whoever watches the batch sees what became of it at once. */
async function tellWatchers(ctx: GatewayContext, target: CancelTarget): Promise<void> {
  const batchId =
    'batchId' in target ? target.batchId : (await ctx.submissions.placeOf(target.taskId))?.batchId;
  if (batchId !== undefined) await ctx.services.live.nudge(ctx.principal, batchId);
}

const notFound = (message: string, upstreamRequestId: string | null): CancelEndingShape => ({
  kind: 'NotFound',
  message,
  hint: 'Check the id; it must belong to this key.',
  upstreamRequestId,
});

const mayCancel = ({ owned }: GatewayContext, target: CancelTarget): Promise<boolean> =>
  'batchId' in target ? owned.batch(target.batchId) : owned.task(target.taskId);

async function cancelTarget(ctx: GatewayContext, target: CancelTarget): Promise<CancelEndingShape> {
  if (!(await mayCancel(ctx, target)))
    return notFound(`There is no such ${'batchId' in target ? 'batch' : 'task'} of this caller.`, null);
  let ending: CancelEnding;
  try {
    ending = await cancel(
      ctx.upstream,
      'batchId' in target ? { batch_id: target.batchId } : { task_id: target.taskId },
    );
  } catch (error) {
    const refused = asRefusal(error);
    if (refused === null || refused.reason === 'UNREACHABLE') throw error;
    return refused;
  }
  ctx.batches.forgetAll();
  await tellWatchers(ctx, target);
  if (ending.kind === 'cancelled') {
    const cancelledCount = await countOf(ctx, target, ending.answer.data.cancelled);
    return { kind: 'Cancelled', target, cancelledCount };
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
    : notFound(message, upstreamRequestId);
}

builder.objectFields(Cancelled, (t) => ({
  batch: t.field({
    type: Batch,
    cost: 1,
    description: 'The batch as it is now.',
    resolve: ({ target }, _, ctx) => batchOf(ctx, target),
  }),
  task: t.field({
    type: Task,
    cost: 1,
    description: 'The task as it is now; null when a whole batch was cancelled.',
    resolve: ({ target }, _, ctx) => taskOf(ctx, target),
  }),
  stillRunningCount: t.int({
    cost: 1,
    description: 'Tasks of the batch that run on and are charged. One List call.',
    resolve: ({ target }, _, ctx) => stillRunning(ctx, target),
  }),
}));

builder.objectFields(NothingToCancel, (t) => ({
  batch: t.field({
    type: Batch,
    cost: 1,
    description: 'The batch as it is now.',
    resolve: ({ target }, _, ctx) => batchOf(ctx, target),
  }),
}));

builder.mutationFields((t) => ({
  cancelBatch: t.field({
    type: CancelResult,
    nullable: false,
    // The counts after it tell how many were cancelled where the answer does not.
    cost: 2,
    description: 'Cancels every queued task of a batch, free of charge. Running tasks go on and are charged.',
    args: { batchId: t.arg.id({ required: true, description: 'As submitFold gave it.' }) },
    resolve: (_, { batchId }, ctx) => cancelTarget(ctx, { batchId }),
  }),
  cancelTask: t.field({
    type: CancelResult,
    nullable: false,
    // The counts after it tell how many were cancelled where the answer does not.
    cost: 2,
    description: 'Cancels one task if it is still queued, free of charge.',
    args: { taskId: t.arg.id({ required: true, description: 'As the tasks of a batch give it.' }) },
    resolve: (_, { taskId }, ctx) => cancelTarget(ctx, { taskId }),
  }),
}));
