// Converts tasks of List and Status to the Task of the schema, and finds their items in the ledger.
import type { GatewayContext } from '../../../context.ts';
import type { TaskErrorShape, TaskShape } from '../../../schema/task.ts';
import type { LedgerItem } from '../../../store/ledger/ledger.ts';
import { indexInBatch } from '../../../store/ledger/submissions.ts';
import type { DeclaredBond } from '../../../structure/fold/declared-bonds.ts';
import { readCounts, type TaskStateName, toTaskState } from '../../../upstream/folds/batch-states.ts';
import type { BatchPage, ListItem, TaskErrorRecord } from '../../../upstream/wire.ts';
import { parseTime } from '../../../upstream/wire-values.ts';

function toTaskError(state: TaskStateName, error: TaskErrorRecord | null | undefined): TaskErrorShape | null {
  if (error) return { code: error.code ?? null, message: error.message, raw: error.raw };
  return state === 'FAILED'
    ? { code: null, message: 'The task failed; the upstream gives no reason.', raw: null }
    : null;
}

type Times = Pick<TaskShape, 'queueDeadline' | 'resultsExpireAt'>;

const readTimes = ({ expires_at, results_expire_at }: TaskShape['record']): Times => ({
  queueDeadline: parseTime(expires_at),
  resultsExpireAt: parseTime(results_expire_at),
});

interface ToTaskOptions {
  /** Its batch and position, if known. */
  readonly place: { readonly batchId: string; readonly index: number | null } | null;
  /** Known facts about a result that the record does not have; none by default. */
  readonly result?: 'none' | 'ask';
  readonly warnings?: readonly string[];
  /** The times in the record by default. */
  readonly times?: Times;
}

/** Converts a task by the keys that List and Status share. */
export function toTask(
  taskId: string,
  record: TaskShape['record'],
  { place, result = 'none', warnings, times = readTimes(record) }: ToTaskOptions,
): TaskShape {
  const state = toTaskState(record.status ?? '');
  const isHere = record.response_available === true || record.response != null;
  const isExpired = times.resultsExpireAt !== null && times.resultsExpireAt.getTime() <= Date.now();
  return {
    taskId,
    batchId: place?.batchId ?? null,
    index: place?.index ?? null,
    state,
    error: toTaskError(state, record.error),
    ...times,
    warnings: warnings ?? null,
    result: isHere ? 'here' : isExpired ? 'expired' : result,
    record,
  };
}

/**
 * Converts tasks of a page of List, which gives the times of the batch for all of them. List may
 * not say whether there is a result; then only Status can.
 */
export function toTasks(batchId: string, page: BatchPage, items: readonly ListItem[]): TaskShape[] {
  const { counts, expires_at, results_expire_at } = page;
  const times = readTimes(page);
  const onlyIndex = readCounts(counts).total === 1 ? 0 : null;
  return items.map((item) => {
    const index = indexInBatch(item.task_id, batchId) ?? onlyIndex;
    const record = { expires_at, results_expire_at, ...item };
    return toTask(item.task_id, record, { place: { batchId, index }, result: 'ask', times });
  });
}

type TaskPlace = Pick<TaskShape, 'batchId' | 'index'>;

/** Where a task comes from in its submission. */
export interface TaskInput {
  readonly inputIndex: number;
  readonly repeatIndex: number;
  readonly item: LedgerItem | null;
}

/** Finds the item of a task; null for a batch that was not submitted here. */
export async function findInput(
  { submissions }: GatewayContext,
  { batchId, index }: TaskPlace,
): Promise<TaskInput | null> {
  if (batchId === null || index === null) return null;
  const batch = await submissions.batch(batchId);
  if (batch === null) return null;
  const inputIndex = index % batch.itemCount;
  const repeatIndex = Math.floor(index / batch.itemCount);
  return { inputIndex, repeatIndex, item: await submissions.item(batchId, inputIndex) };
}

/** Finds the name of a task's item; null when it has none or was not submitted here. */
export async function findTaskName(ctx: GatewayContext, task: TaskPlace): Promise<string | null> {
  const input = await findInput(ctx, task);
  return input?.item?.name ?? null;
}

/** The item of a task; null also while the store is away. */
export const findItem = (ctx: GatewayContext, task: TaskPlace): Promise<LedgerItem | null> =>
  findInput(ctx, task).then(
    (input) => input?.item ?? null,
    () => null,
  );

/** The bonds that an item declares. */
export const listDeclaredBonds = (item: LedgerItem | null): readonly DeclaredBond[] =>
  item?.chains.flatMap(({ bonds = [] }) => bonds) ?? [];
