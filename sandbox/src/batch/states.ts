// The states of tasks and batches (spec: "States and transitions") and how the one follows from the
// other.

export const taskStates = ['queued', 'in_progress', 'done', 'failed', 'cancelled'] as const;
export type TaskState = (typeof taskStates)[number];
type BatchState = 'in_progress' | 'done' | 'failed' | 'cancelled';

/** Items per state; a state without items is left out. */
export type Counts = Partial<Record<TaskState, number>>;

/**
 * The aggregate state. The spec names the four and says that a done batch may hold failed tasks and
 * a cancelled one running tasks; the rule between them is ours:
 *
 * - `cancelled`: the batch was cancelled (by Cancel with its id, or by the 24-hour limit) and at
 *   least one of its tasks with it; or every single task is cancelled. Tasks that were running may
 *   still run.
 * - `in_progress`: else, while a task is queued or running.
 * - `failed`: else, when its Submit broke off with a 500 after some of its tasks were queued.
 * - `done`: else; some or all tasks may have failed.
 */
export function aggregateState(
  counts: Counts,
  { cancelled, brokenOff }: { cancelled: boolean; brokenOff: boolean },
): BatchState {
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
  if (cancelled || counts.cancelled === total) return 'cancelled';
  if (counts.queued || counts.in_progress) return 'in_progress';
  return brokenOff ? 'failed' : 'done';
}
