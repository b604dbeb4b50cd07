// Converts tasks of List and Status to the Task of the schema, and finds their items in the ledger.
import type { GatewayContext } from '../../context.ts';
import type { TaskErrorShape, TaskShape } from '../../schema/task.ts';
import type { LedgerItem } from '../../store/ledger/ledger.ts';
import { indexInBatch } from '../../store/ledger/submissions.ts';
import { readCounts, type TaskStateName, taskState } from '../../upstream/folds/batch-states.ts';
import type { BatchPage, ListItem, TaskErrorRecord } from '../../upstream/wire.ts';
import { parseTime } from '../../upstream/wire-values.ts';

const errorOf = (state: TaskStateName, error: TaskErrorRecord | null | undefined): TaskErrorShape | null => {
  if (error) return { code: error.code ?? null, message: error.message, raw: error.raw };
  return state === 'FAILED'
    ? { code: null, message: 'The task failed; the upstream gives no reason.', raw: null }
    : null;
};

type Times = Pick<TaskShape, 'queueDeadline' | 'resultsExpireAt'>;

const timesOf = ({ expires_at, results_expire_at }: TaskShape['record']): Times => ({
  queueDeadline: parseTime(expires_at),
  resultsExpireAt: parseTime(results_expire_at),
});

/** A task by the keys that List and Status share. @param place - its batch and position, if known */
export function taskOf(
  taskId: string,
  place: { readonly batchId: string; readonly index: number | null } | null,
  record: TaskShape['record'],
  result: 'none' | 'ask',
  warnings: TaskShape['warnings'] = null,
  { queueDeadline, resultsExpireAt }: Times = timesOf(record),
): TaskShape {
  const state = taskState(record.status ?? '');
  const isHere = record.response_available === true || record.response != null;
  const isExpired = resultsExpireAt !== null && resultsExpireAt.getTime() <= Date.now();
  return {
    taskId,
    batchId: place?.batchId ?? null,
    index: place?.index ?? null,
    state,
    error: errorOf(state, record.error),
    queueDeadline,
    resultsExpireAt,
    warnings,
    result: isHere ? 'here' : isExpired ? 'expired' : result,
    record,
  };
}

/**
 * Tasks of a page of List, which gives the batch's times for all of them. List may not say whether
 * there is a result; then only Status can.
 */
export function tasksOf(batchId: string, page: BatchPage, items: readonly ListItem[]): TaskShape[] {
  const { counts, expires_at, results_expire_at } = page;
  const times = timesOf(page);
  const onlyIndex = readCounts(counts).total === 1 ? 0 : null;
  return items.map((item) => {
    const index = indexInBatch(item.task_id, batchId) ?? onlyIndex;
    const record = { expires_at, results_expire_at, ...item };
    return taskOf(item.task_id, { batchId, index }, record, 'ask', null, times);
  });
}

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

export const taskFilePath = (taskId: string, file: string): string =>
  `/tasks/${encodeURIComponent(taskId)}/${file}`;
