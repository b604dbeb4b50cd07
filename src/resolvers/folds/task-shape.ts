// Converts tasks of List and Status to the Task of the schema, and finds their items in the ledger.
import type { GatewayContext } from '../../context.ts';
import type { TaskErrorShape, TaskShape } from '../../schema/task.ts';
import type { LedgerItem } from '../../store/ledger/ledger.ts';
import { indexInBatch, type TaskPosition } from '../../store/ledger/submissions.ts';
import type { Enveloped } from '../../upstream/batch.ts';
import {
  type BatchRecord,
  readCounts,
  type TaskStateName,
  taskState,
} from '../../upstream/folds/batch-states.ts';
import type { BatchPage, ListItem, TaskErrorRecord, TaskStatus } from '../../upstream/wire.ts';
import { parseTime } from '../../upstream/wire-values.ts';

const errorOf = (state: TaskStateName, error: TaskErrorRecord | null | undefined): TaskErrorShape | null => {
  if (error) return { code: error.code ?? null, message: error.message, raw: error.raw };
  return state === 'FAILED'
    ? { code: null, message: 'The task failed; the upstream gives no reason any more.', raw: null }
    : null;
};

const isPast = (time: Date | null): boolean => time !== null && time.getTime() <= Date.now();

/** A task of a page of List. List may not say whether there is a result; then only Status can. */
export function taskFromItem(batchId: string, page: BatchPage, item: ListItem): TaskShape {
  const state = taskState(item.status);
  const resultsExpireAt = parseTime(page.results_expire_at);
  const here = item.response_available === true || item.response != null;
  const total = readCounts(page.counts).total;
  return {
    taskId: item.task_id,
    batchId,
    index: indexInBatch(item.task_id, batchId) ?? (total === 1 ? 0 : null),
    state,
    error: errorOf(state, item.error),
    queueDeadline: parseTime(page.expires_at),
    resultsExpireAt,
    warnings: [],
    result: here ? 'here' : isPast(resultsExpireAt) ? 'expired' : 'ask',
    record: item,
  };
}

/** A task that was queued a moment ago. */
export const queuedTask = (
  batchId: string,
  taskId: string,
  index: number,
  batch: BatchRecord,
): TaskShape => ({
  ...{ taskId, batchId, index, state: 'QUEUED', error: null, warnings: [], result: 'none' },
  record: {},
  queueDeadline: batch.queueDeadline,
  resultsExpireAt: batch.resultsExpireAt,
});

/** A task from Status. @param place - its batch and position; null when unknown */
export function taskFromStatus(
  taskId: string,
  place: TaskPosition | null,
  { data: status, warnings }: Enveloped<TaskStatus>,
): TaskShape {
  const state = taskState(status.status);
  const resultsExpireAt = parseTime(status.results_expire_at);
  return {
    taskId,
    batchId: place?.batchId ?? null,
    index: place?.index ?? null,
    state,
    error: errorOf(state, status.error),
    queueDeadline: parseTime(status.expires_at),
    resultsExpireAt,
    warnings,
    result: status.response != null ? 'here' : isPast(resultsExpireAt) ? 'expired' : 'none',
    record: status,
  };
}

/**
 * A task whose result has expired, which is all that Status says; `listed` is the task in List, if
 * it is still there.
 */
export const expiredTask = (
  taskId: string,
  place: TaskPosition | null,
  listed: TaskShape | null,
  resultsExpireAt: string | undefined,
): TaskShape => ({
  taskId,
  batchId: place?.batchId ?? null,
  index: place?.index ?? null,
  state: listed?.state ?? 'UNKNOWN',
  error: listed?.error ?? null,
  queueDeadline: listed?.queueDeadline ?? null,
  resultsExpireAt: parseTime(resultsExpireAt) ?? listed?.resultsExpireAt ?? null,
  warnings: [],
  result: 'expired',
  record: listed?.record ?? {},
});

/** The item of a task and its position; null for a batch that was not submitted here. */
export async function inputOf(
  ctx: GatewayContext,
  { batchId, index }: Pick<TaskShape, 'batchId' | 'index'>,
): Promise<{ inputIndex: number; repeatIndex: number; item: LedgerItem | null } | null> {
  if (batchId === null || index === null) return null;
  const batch = await ctx.submissions.batch(batchId);
  if (batch === null) return null;
  const inputIndex = index % batch.itemCount;
  const repeatIndex = Math.floor(index / batch.itemCount);
  return { inputIndex, repeatIndex, item: await ctx.submissions.item(batchId, inputIndex) };
}

/** The name of a task's item; null when it has none or was not submitted here. */
export const nameOfTask = async (
  ctx: GatewayContext,
  task: Pick<TaskShape, 'batchId' | 'index'>,
): Promise<string | null> => (await inputOf(ctx, task))?.item?.name ?? null;

/** Path of a file of a task at the gateway. */
export const taskFilePath = (taskId: string, file: string): string =>
  `/tasks/${encodeURIComponent(taskId)}/${file}`;
