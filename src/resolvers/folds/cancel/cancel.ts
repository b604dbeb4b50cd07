// cancelBatch and cancelTask.
import type { GraphQLResolveInfo } from 'graphql';
import type { GatewayContext } from '../../../context.ts';
import { Batch, type BatchShape } from '../../../schema/batch.ts';
import { builder } from '../../../schema/builder.ts';
import { nonNull } from '../../../schema/field-options.ts';
import { NotFound, notFound, Problem, type ProblemShape, Refused } from '../../../schema/problem.ts';
import { Task } from '../../../schema/task.ts';
import { type CancelEnding, cancel } from '../../../upstream/batch.ts';
import { asError, UpstreamError } from '../../../upstream/errors.ts';
import { readCounts } from '../../../upstream/folds/batch-states.ts';
import { selectedFields } from '../../selection.ts';
import { loadBatch, toBatch } from '../batches/batch.ts';
import { toRefusedProblem } from '../refusal.ts';
import { loadTask } from '../tasks/load-task.ts';
import { type CancelTarget, countCancelled, readStateBefore, type StateBefore } from './cancel-count.ts';

interface CancelledShape {
  readonly kind: 'Cancelled';
  readonly target: CancelTarget;
  /** Tasks that it ended, by the answer of the service; null where it does not say. */
  readonly count: number | null;
  /** The state before, where a selected field needs it, or why it could not be read. */
  readonly before: StateBefore | Error | undefined;
  readonly warnings: readonly string[];
}

interface NothingToCancelShape extends ProblemShape<'NothingToCancel'> {
  readonly target: CancelTarget;
}

/** The id of the batch of a target; undefined where it is unknown. */
const findBatchId = async ({ submissions }: GatewayContext, { what, id }: CancelTarget) =>
  what === 'batch' ? id : (await submissions.findTask(id))?.batchId;

/** The batch of a target. One that took a Cancel exists, and needs no List call. */
async function findBatch(ctx: GatewayContext, target: CancelTarget): Promise<BatchShape | null> {
  const batchId = await findBatchId(ctx, target);
  if (batchId === undefined) return null;
  return target.what === 'batch' ? toBatch(ctx, batchId) : loadBatch(ctx, batchId);
}

async function countRunning(ctx: GatewayContext, target: CancelTarget): Promise<number | null> {
  const batch = await findBatch(ctx, target);
  return batch && readCounts((await batch.read()).counts).inProgress;
}

async function cancelledCount(ctx: GatewayContext, { target, count, before }: CancelledShape) {
  if (count !== null) return count;
  if (before instanceof Error) throw before;
  return countCancelled(ctx, target, before);
}

const batchField = {
  type: Batch,
  cost: 1,
  description: 'The present state of the batch.',
  resolve: ({ target }: { readonly target: CancelTarget }, _: object, ctx: GatewayContext) =>
    findBatch(ctx, target),
} as const;

const Cancelled = builder.objectRef<CancelledShape>('Cancelled').implement({
  description: 'Everything that could be cancelled is cancelled. Running tasks continue and are charged.',
  fields: (t) => ({
    cancelledCount: t.int({
      ...nonNull('Tasks that were queued and are now cancelled, free of charge, such as 12.'),
      resolve: (cancelled, _, ctx) => cancelledCount(ctx, cancelled),
    }),
    alreadyCancelled: t.boolean({
      ...nonNull('True when it was cancelled before and this call changed nothing.'),
      resolve: async (cancelled, _, ctx) => (await cancelledCount(ctx, cancelled)) === 0,
    }),
    batch: t.field(batchField),
    task: t.field({
      type: Task,
      cost: 1,
      description: 'The present state of the task; null when a whole batch was cancelled.',
      resolve: ({ target: { what, id } }, _, ctx) => (what === 'task' ? loadTask(ctx, id) : null),
    }),
    stillRunningCount: t.int({
      cost: 1,
      description: 'Tasks of the batch that continue and are charged. One List call.',
      resolve: ({ target }, _, ctx) => countRunning(ctx, target),
    }),
    warnings: t.exposeStringList('warnings', nonNull("The upstream's warnings about the cancellation.")),
  }),
});

const NothingToCancel = builder.objectRef<NothingToCancelShape>('NothingToCancel').implement({
  description: 'Nothing could be cancelled: every task is running or has ended.',
  interfaces: [Problem],
  fields: (t) => ({ batch: t.field(batchField) }),
});

const CancelResult = builder.unionType('CancelResult', {
  description: 'Result of a cancellation.',
  types: [Cancelled, NothingToCancel, NotFound, Refused],
  resolveType: ({ kind }) => kind,
});

/** Whether a field is selected that may need the state before. */
const selectsCount = (info: GraphQLResolveInfo): boolean =>
  selectedFields(info, 'Cancelled').some(
    ({ name }) => name === 'cancelledCount' || name === 'alreadyCancelled',
  );

/** Has the poller read the batch now, so that subscribers see the result at once. */
async function refreshProgress(ctx: GatewayContext, target: CancelTarget): Promise<void> {
  const { live, storeFailed } = ctx.services;
  try {
    const batchId = await findBatchId(ctx, target);
    if (batchId !== undefined) await live.pollNow(ctx.principal, batchId);
  } catch (error) {
    // A ledger that does not know the batch does not undo the cancellation.
    storeFailed('ledger', error, ctx.requestId);
  }
}

async function cancelTarget(
  ctx: GatewayContext,
  info: GraphQLResolveInfo,
  target: CancelTarget,
): Promise<typeof CancelResult.$inferType> {
  const { what, id } = target;
  if (!(await ctx.owned[what](id))) return notFound(what, id);
  // A failed read fails the count, not the cancellation.
  const before = selectsCount(info) ? await readStateBefore(ctx, target).catch(asError) : undefined;
  let ending: CancelEnding;
  try {
    ending = await cancel(ctx.upstream, what === 'batch' ? { batch_id: id } : { task_id: id });
  } catch (error) {
    const refused = toRefusedProblem(error);
    if (refused === null || refused.reason === 'UNREACHABLE') throw error;
    if (error instanceof UpstreamError) ctx.upstream.onFailure?.(error);
    return refused;
  } finally {
    // Also one that failed may have cancelled tasks.
    ctx.batches.forgetAll();
  }
  await refreshProgress(ctx, target);
  if (ending.kind === 'unknown') return notFound(what, id);
  if (ending.kind === 'nothing') {
    const { message } = ending.error;
    return { kind: 'NothingToCancel', message, hint: 'Running tasks cannot be stopped.', target };
  }
  const { data, warnings } = ending.answer;
  return { kind: 'Cancelled', target, count: data.cancelled ?? null, before, warnings };
}

builder.mutationFields((t) => ({
  cancelBatch: t.field({
    type: CancelResult,
    // Counts before and after, where the answer does not say how many were cancelled.
    cost: 3,
    semanticNonNull: true,
    description:
      'Cancels every queued task of a batch, free of charge; running tasks continue and are charged. Null ' +
      'only with an error.',
    args: { batchId: t.arg.id({ required: true, description: 'The `batchId` from submitFold.' }) },
    resolve: (_, { batchId }, ctx, info) => cancelTarget(ctx, info, { what: 'batch', id: batchId }),
  }),
  cancelTask: t.field({
    type: CancelResult,
    // Its state before, where the answer does not say whether it was cancelled now.
    cost: 2,
    semanticNonNull: true,
    description: 'Cancels one task if it is still queued, free of charge. Null only with an error.',
    args: { taskId: t.arg.id({ required: true, description: 'The `taskId` of a task of a batch.' }) },
    resolve: (_, { taskId }, ctx, info) => cancelTarget(ctx, info, { what: 'task', id: taskId }),
  }),
}));
