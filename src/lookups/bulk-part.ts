// A part of a bulk look-up: its job as it is stored, and its state as the service reports it.
import { bulkJob, isJobGone } from '../upstream/atlas-bulk.ts';
import { UpstreamError } from '../upstream/errors.ts';
import type { Upstream } from '../upstream/http/call.ts';
import type { BulkJob } from '../upstream/wire.ts';

export type BulkLookupState =
  | 'PENDING'
  | 'COMPLETE'
  | 'CANCEL_REQUESTED'
  | 'CANCELLED'
  | 'FAILED'
  | 'EXPIRED'
  | 'UNKNOWN';

/** At most 500 hashes of a look-up, as they are stored. */
export interface StoredPart {
  readonly requestedCount: number;
  /** The service's job; null where the service answered at once, or did not accept the part. */
  readonly jobId: string | null;
  /** The part was answered at once: each download asks for its archive again. */
  readonly hashes?: readonly string[];
  /** Why the service did not accept the part. */
  readonly problem?: string;
}

/** The state of a part, as the service reports it now. */
export interface PartStatus {
  readonly state: BulkLookupState;
  readonly completedCount: number | null;
  readonly problem: string | null;
  /** Signed; null where there is nothing to download, and where there is no job. */
  readonly downloadUrl: string | null;
  /** Set where the service could not be asked. */
  readonly error?: UpstreamError;
}

/** The words for the state of a job differ between deployments. */
const JOB_STATES: Readonly<Record<string, BulkLookupState>> = {
  '': 'PENDING',
  pending: 'PENDING',
  queued: 'PENDING',
  running: 'PENDING',
  processing: 'PENDING',
  in_progress: 'PENDING',
  complete: 'PENDING',
  completed: 'PENDING',
  failed: 'FAILED',
  expired: 'EXPIRED',
  cancelled: 'CANCELLED',
  canceled: 'CANCELLED',
};
const JOB_FAILED = 'The service could not finish this job. Look up its hashes again.';

/** Reads a job. It is complete when it has a download URL, whatever its state is called. */
export function readJob(job: BulkJob, requestedCount: number, cancelRequested: boolean): PartStatus {
  const word = (job.status ?? '').toLowerCase();
  const url = job.download_url ?? null;
  const completedCount = job.completed_count == null ? null : Math.min(job.completed_count, requestedCount);
  const state = JOB_STATES[word] ?? 'UNKNOWN';
  const status = { state, completedCount, problem: null, downloadUrl: null };
  if (state === 'FAILED') return { ...status, problem: JOB_FAILED };
  if (state === 'CANCELLED') return { ...status, downloadUrl: url };
  if (state === 'EXPIRED') return status;
  if (url !== null && word !== 'pending')
    return { ...status, state: 'COMPLETE', completedCount: requestedCount, downloadUrl: url };
  return cancelRequested ? { ...status, state: 'CANCEL_REQUESTED' } : status;
}

/** Asks the service about the job of a part. Its failure stands in the status. */
export async function readPart(
  up: Upstream,
  part: StoredPart,
  cancelRequested: boolean,
): Promise<PartStatus> {
  const { jobId, requestedCount, problem = null } = part;
  const status = { completedCount: null, problem, downloadUrl: null };
  if (problem !== null) return { ...status, state: 'FAILED' };
  if (jobId === null) return { ...status, state: 'COMPLETE', completedCount: requestedCount };
  try {
    return readJob(await bulkJob(up, jobId), requestedCount, cancelRequested);
  } catch (error) {
    if (!(error instanceof UpstreamError)) throw error;
    const { message, failure } = error;
    // A service may forget a job that was cancelled.
    const isForgotten = cancelRequested && failure.status === 404;
    if (isJobGone(error)) return { ...status, state: isForgotten ? 'CANCELLED' : 'EXPIRED' };
    up.onFailure?.(error);
    // A 404 of no API says nothing of the job.
    return failure.retryable || failure.status === 404
      ? { ...status, state: 'UNKNOWN', problem: message, error }
      : { ...status, state: 'FAILED', problem: message };
  }
}

const UNFINISHED = ['CANCEL_REQUESTED', 'PENDING', 'UNKNOWN'] as const;
const UNSUCCESSFUL = ['CANCELLED', 'FAILED', 'EXPIRED'] as const;

/**
 * The state of the whole: the first of these that one of its parts has. A look-up whose parts all
 * finished before the cancellation is complete.
 */
export const combineStates = (states: readonly BulkLookupState[]): BulkLookupState =>
  [...UNFINISHED, ...UNSUCCESSFUL].find((state) => states.includes(state)) ?? 'COMPLETE';
