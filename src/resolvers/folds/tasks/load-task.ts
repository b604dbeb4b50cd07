// Finds a task by its id, and asks Status for what List does not say of one.
import type { GatewayContext } from '../../../context.ts';
import type { TaskErrorShape, TaskShape, TaskStatusName } from '../../../schema/task.ts';
import type { TaskPosition } from '../../../store/ledger/submissions.ts';
import { type Enveloped, listPages } from '../../../upstream/batch.ts';
import { asError, UpstreamError } from '../../../upstream/errors.ts';
import { missingResult } from '../../../upstream/folds/fold-errors.ts';
import type { TaskStatus as StatusAnswer } from '../../../upstream/wire.ts';
import { parseTime } from '../../../upstream/wire-values.ts';
import { toTask, toTasks } from './task-shape.ts';

/** Reads Status of a task; null for an unknown one, and the error of an expired result. */
async function readStatus(
  ctx: GatewayContext,
  taskId: string,
): Promise<Enveloped<StatusAnswer> | UpstreamError | null> {
  try {
    return await ctx.batches.status(taskId);
  } catch (error) {
    if (error instanceof UpstreamError && error.failure.code === 'RESULT_EXPIRED') return error;
    throw error;
  }
}

/** Reads Status of a task; null for an unknown one, and for an expired result. */
export async function findStatus(
  ctx: GatewayContext,
  taskId: string,
): Promise<Enveloped<StatusAnswer> | null> {
  const status = await readStatus(ctx, taskId);
  return status instanceof UpstreamError ? null : status;
}

/** Finds a task in its batch: List has the state of tasks whose results have expired. */
async function findInList(
  ctx: GatewayContext,
  taskId: string,
  { batchId }: TaskPosition,
): Promise<TaskShape | null> {
  for await (const { page, items } of listPages((request) => ctx.batches.page(batchId, request))) {
    const item = items.find(({ task_id }) => task_id === taskId);
    if (page !== null && item !== undefined) return toTasks(batchId, page, [item])[0] ?? null;
  }
  return null;
}

/** A task whose place cannot be looked up at present: only fields that need the place fail. */
function withoutPlace(task: TaskShape, failure: Error): TaskShape {
  const fail = (): never => {
    throw failure;
  };
  return Object.defineProperties({ ...task }, { batchId: { get: fail }, index: { get: fail } });
}

/** A task of this caller; null when there is none. One Status call; after expiry also List. */
export async function loadTask(ctx: GatewayContext, taskId: string): Promise<TaskShape | null> {
  const place = await ctx.submissions.findTask(taskId).catch(asError);
  const status = await readStatus(ctx, taskId);
  if (status === null) return null;
  if (status instanceof UpstreamError) {
    if (place instanceof Error) throw place;
    return loadExpired(ctx, taskId, place, status);
  }
  const { data, warnings } = status;
  return place instanceof Error
    ? withoutPlace(toTask(taskId, data, { place: null, warnings }), place)
    : toTask(taskId, data, { place, warnings });
}

/** After expiry Status says no more than the time. */
async function loadExpired(
  ctx: GatewayContext,
  taskId: string,
  place: TaskPosition | null,
  { failure }: UpstreamError,
): Promise<TaskShape> {
  const listed = place === null ? null : await findInList(ctx, taskId, place);
  return {
    ...(listed ?? toTask(taskId, {}, { place })),
    resultsExpireAt: parseTime(failure.resultsExpireAt) ?? listed?.resultsExpireAt ?? null,
    result: 'expired',
  };
}

/**
 * The service's word for the state, or EXPIRED. List omits what it knows of results after they
 * expired; when it gives no time either, Status of one task tells it for the batch. A Status that
 * fails leaves the word of List.
 */
export async function loadStatus(ctx: GatewayContext, task: TaskShape): Promise<TaskStatusName> {
  const { taskId, state, result } = task;
  // Without a word only Status was read, and it says no more than that the result has expired.
  const isDone = state === 'DONE' || task.record.status === undefined;
  if (!isDone || result === 'here' || result === 'none') return state;
  if (result === 'expired') return 'EXPIRED';
  return (await ctx.batches.hasExpired(task.batchId ?? taskId, taskId)) ? 'EXPIRED' : state;
}

/** List and Status give reasons for as long as they give results. */
const EXPIRED_REASON: TaskErrorShape = {
  code: null,
  message: 'The task failed; its reason has expired with the results of the batch.',
  raw: null,
};

/** Why a task failed: by Status when List does not say. */
export async function loadTaskError(ctx: GatewayContext, task: TaskShape): Promise<TaskErrorShape | null> {
  if (task.state !== 'FAILED' || task.record.error != null) return task.error;
  const status = task.result === 'ask' ? await readStatus(ctx, task.taskId) : null;
  if (task.result === 'expired' || status instanceof UpstreamError) return EXPIRED_REASON;
  if (status === null) return task.error;
  return toTask(task.taskId, status.data, { place: null }).error ?? task.error;
}

/**
 * Whether a task has a result. Reads Status only for a done task of which List does not say so.
 *
 * @throws UpstreamError UPSTREAM_DRIFT for a done task with neither a result nor an expiry
 */
export async function hasResult(ctx: GatewayContext, { taskId, state, result }: TaskShape): Promise<boolean> {
  if (state !== 'DONE' || result === 'expired') return false;
  if (result === 'here') return true;
  const status = result === 'ask' ? await readStatus(ctx, taskId) : null;
  if (status instanceof UpstreamError) return false;
  if (status?.data.response == null) throw missingResult();
  return true;
}
