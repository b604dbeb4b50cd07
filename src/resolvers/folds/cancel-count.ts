// Counts cancelled tasks by the states before and after, for a service whose answer does not say.
import type { GatewayContext } from '../../context.ts';
import { readCounts, toTaskState } from '../../upstream/folds/batch-states.ts';
import { drifted } from '../../upstream/http/validate-response.ts';

export interface CancelTarget {
  readonly what: 'batch' | 'task';
  readonly id: string;
}

/** The error of a count that cannot be told. */
export const toUnknownCount = (what: string): Error =>
  drifted('cancel', '$.cancelled', `it is missing, and ${what}, so that the count is not known`);

/**
 * Reads the states before a cancellation. The function that it returns gives the number of tasks
 * cancelled, and throws UPSTREAM_DRIFT when the states before and after do not show it.
 */
export type CancelCounter = (ctx: GatewayContext, id: string) => Promise<() => Promise<number>>;

export const COUNTERS: Readonly<Record<CancelTarget['what'], CancelCounter>> = {
  batch: async (ctx, batchId) => {
    const page = await ctx.batches.batch(batchId);
    return async () => {
      if (page === null) throw toUnknownCount('List did not know the batch before');
      const before = readCounts(page.counts);
      if (before.queued === 0) return 0;
      const after = await ctx.batches.batch(batchId);
      if (after === null) throw toUnknownCount('List does not know the batch any more');
      const { queued, cancelled } = readCounts(after.counts);
      const count = cancelled - before.cancelled;
      if (queued > 0 || count < 0) throw toUnknownCount('the counts of the batch do not tell');
      return count;
    };
  },
  task: async (ctx, taskId) => {
    const status = await ctx.batches.status(taskId);
    return async () => {
      const before = status === null ? null : toTaskState(status.data.status);
      if (before === 'CANCELLED') return 0;
      if (before === 'QUEUED') return 1;
      throw toUnknownCount(`the task was ${before ?? 'not known'} before`);
    };
  },
};
