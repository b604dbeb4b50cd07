// Answers Cancel, from a read body to the `data`.
import { type BatchParts, findBatch, findTask, readState } from './lookup.ts';
import { Refusal } from './refusal.ts';
import type { Caller } from './tokens.ts';

/** Cancel: queued tasks only. @throws Refusal 404, 409 */
export async function cancel(
  parts: BatchParts,
  caller: Caller,
  target: { task_id: string } | { batch_id: string },
) {
  const answer = await cancelled(parts, caller, target);
  return parts.conventions.has('cancelAnswer') ? answer : {};
}

async function cancelled(
  { store, queue }: BatchParts,
  caller: Caller,
  target: { task_id: string } | { batch_id: string },
) {
  await queue.settled();
  if ('task_id' in target) {
    const { task } = findTask(store, caller, target.task_id);
    const cancelled = store.cancelTask(task.taskId) ? 1 : 0;
    if (cancelled === 0 && task.state !== 'cancelled')
      throw new Refusal(409, `Task ${task.taskId} is ${task.state}; only a queued task can be cancelled.`);
    const message = cancelled === 1 ? 'The task is cancelled.' : 'The task was cancelled already.';
    return { message, task_id: task.taskId, batch_id: task.batchId, cancelled };
  }
  const batch = findBatch(store, caller, target.batch_id);
  const cancelled = store.cancelQueued(batch.batchId);
  const { counts, status: state } = readState(store, batch);
  if (cancelled === 0 && state !== 'cancelled')
    throw new Refusal(
      409,
      `Batch ${batch.batchId} has no cancellable work; only queued tasks can be cancelled.`,
    );
  const running = counts.in_progress ?? 0;
  const message =
    cancelled === 0
      ? 'The batch was cancelled already.'
      : `${cancelled} queued ${cancelled === 1 ? 'task is' : 'tasks are'} cancelled${running > 0 ? `; ${running} already running go on` : ''}.`;
  return { message, batch_id: batch.batchId, cancelled };
}
