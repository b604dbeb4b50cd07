// The status of a task: the service's own word for its state, or EXPIRED once its result is gone.
import type { GatewayContext } from '../../context.ts';
import type { TaskShape, TaskStatusName } from '../../schema/task.ts';
import type { Enveloped } from '../../upstream/batch.ts';
import { UpstreamError } from '../../upstream/errors.ts';
import type { TaskStatus as StatusAnswer } from '../../upstream/wire.ts';

/** Status of a task; null for an unknown one, and the error of an expired result. */
export async function readStatus(
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

/**
 * The status of a task. List omits what it knows of results after they expired; where it gives no
 * time either, Status of one task tells it for the batch. A Status that fails leaves List's word.
 */
export async function taskStatus(ctx: GatewayContext, task: TaskShape): Promise<TaskStatusName> {
  const { taskId, state, result } = task;
  // Without a word only Status was read, and it says no more than that the result has expired.
  const isDone = state === 'DONE' || task.record.status === undefined;
  if (!isDone || result === 'here' || result === 'none') return state;
  if (result === 'expired') return 'EXPIRED';
  return (await ctx.batches.hasExpired(task.batchId ?? taskId, taskId)) ? 'EXPIRED' : state;
}
