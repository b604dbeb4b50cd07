// Batch ownership when several callers share one key of the upstream: a caller owns what the ledger
// records of that caller, and nothing else.
import type { Submissions } from '../../store/ledger/submissions.ts';
import { UpstreamError } from '../errors.ts';

/** What one caller may read and cancel. Without a shared key everything: the upstream decides. */
export interface BatchOwnership {
  /** @throws UpstreamError UPSTREAM_UNAVAILABLE when the ledger does not answer */
  batch(batchId: string): Promise<boolean>;
  /** @throws UpstreamError as `batch` */
  task(taskId: string): Promise<boolean>;
}

const undecided = (cause: unknown): never => {
  throw new UpstreamError(
    'The gateway cannot look up at present whose batch this is. Try again in a moment.',
    { operation: 'ledger', code: 'UPSTREAM_UNAVAILABLE', retryable: true },
    { cause },
  );
};

/** What the caller of these submissions may read and cancel. */
export function createBatchOwnership(submissions: Submissions): BatchOwnership {
  if (!submissions.keyIsShared) return { batch: async () => true, task: async () => true };
  const has = async (batchId: string | undefined): Promise<boolean> =>
    batchId !== undefined && (await submissions.batch(batchId)) !== null;
  return {
    batch: (batchId) => has(batchId).catch(undecided),
    task: (taskId) =>
      submissions
        .placeOf(taskId)
        .then((place) => has(place?.batchId))
        .catch(undecided),
  };
}
