// How many tasks a cancellation ended. Where the answer of the service does not say, the states
// before and after show it.
import type { GatewayContext } from '../../../context.ts';
import {
  readCounts,
  type TaskCounts,
  type TaskStateName,
  toTaskState,
} from '../../../upstream/folds/batch-states.ts';
import { drifted } from '../../../upstream/http/validate-response.ts';

export interface CancelTarget {
  readonly what: 'batch' | 'task';
  readonly id: string;
}

/** Counts of a batch or state of a task; null when the service did not know it. */
export type StateBefore = TaskCounts | TaskStateName | null;

const unknownCount = (what: string): Error =>
  drifted('cancel', '$.cancelled', `it is missing, and ${what}, so that the count is not known`);

/** Reads the state before a cancellation: one call. */
export async function readStateBefore(
  { batches }: GatewayContext,
  { what, id }: CancelTarget,
): Promise<StateBefore> {
  if (what === 'batch') {
    const page = await batches.batch(id);
    return page && readCounts(page.counts);
  }
  const status = await batches.status(id);
  return status && toTaskState(status.data.status);
}

/**
 * Counts the tasks that a cancellation ended. One List call for a batch.
 *
 * @param before - undefined when it was not read
 * @throws UpstreamError UPSTREAM_DRIFT when the states do not show it
 */
export async function countCancelled(
  { batches }: GatewayContext,
  { what, id }: CancelTarget,
  before: StateBefore | undefined,
): Promise<number> {
  if (before === undefined) throw unknownCount('the states before were not read');
  if (before === null) throw unknownCount(`the service did not know the ${what} before`);
  if (typeof before === 'string') {
    if (before === 'CANCELLED') return 0;
    if (before === 'QUEUED') return 1;
    throw unknownCount(`the task was ${before} before`);
  }
  if (before.queued === 0) return 0;
  const page = await batches.batch(id);
  if (page === null) throw unknownCount('List does not know the batch any more');
  const after = readCounts(page.counts);
  const count = after.cancelled - before.cancelled;
  if (after.queued > 0 || count < 0) throw unknownCount('the counts of the batch do not tell');
  return count;
}
