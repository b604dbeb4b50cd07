// A bulk look-up as it is remembered: what was asked, and how far each part has come. Pure: it calls nobody and keeps
// nothing; it knows the upstream's job record.
import { parseTime } from '../upstream/time.ts';
import type { BulkJob } from '../upstream/wire.ts';

/** Where a part or a whole look-up is. */
export type BulkState =
  | 'PENDING'
  | 'COMPLETE'
  | 'CANCEL_REQUESTED'
  | 'CANCELLED'
  | 'FAILED'
  | 'EXPIRED'
  | 'UNKNOWN';

/** What to look up of each protein. */
export interface BulkOptions {
  /** How many top features, 1 to 100. */
  readonly top: number;
  readonly structure: boolean;
  readonly cluster: boolean;
  readonly sequence: boolean;
  readonly proteinFeatures: boolean;
  readonly residueFeatures: boolean;
}

/** What was asked; it never changes. */
export interface BulkRequest {
  /** In the order asked, duplicates kept. */
  readonly hashes: readonly string[];
  readonly options: BulkOptions;
}

/** One part of at most 500 hashes. */
export interface BulkPart {
  readonly state: BulkState;
  /** The upstream's job; null before it is sent, and when the upstream answered at once. */
  readonly jobId: string | null;
  readonly requested: number;
  readonly completed: number;
  /** How often it was sent: a job that the upstream lost is sent again. */
  readonly sent: number;
  /** Of a cancelled part: whether its job gave an address for what was finished before. */
  readonly offersArchive?: boolean;
  /** When the upstream drops the archive, where it says so. Milliseconds since the epoch. */
  readonly expiresAt?: number | null;
  /** Why it failed; null unless it did. */
  readonly problem: { readonly code: string; readonly message: string } | null;
}

/** How far a look-up has come. */
export interface BulkLookup {
  readonly lookupId: string;
  /** Whose limits it is counted against; absent in those of earlier versions. */
  readonly account?: string;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  readonly requestedCount: number;
  readonly duplicateCount: number;
  readonly cancelRequested: boolean;
  readonly parts: readonly BulkPart[];
}

/** How long a look-up is remembered after its start. */
export const RETENTION_MS = 7 * 24 * 3_600_000;
/** After this long an unfinished part is given up. */
export const DEADLINE_MS = 24 * 3_600_000;

const ENDS: ReadonlySet<BulkState> = new Set(['COMPLETE', 'CANCELLED', 'FAILED', 'EXPIRED']);

/** Whether nothing will change any more. */
export const hasEnded = (state: BulkState): boolean => ENDS.has(state);

/** Whether the upstream has an archive of it: also of what was finished of a cancelled part, where the job says so. */
export const hasArchive = ({ state, offersArchive }: BulkPart): boolean =>
  state === 'COMPLETE' || (state === 'CANCELLED' && offersArchive === true);

/** A part that was not sent yet. */
export const newPart = (requested: number): BulkPart => ({
  state: 'PENDING',
  jobId: null,
  requested,
  completed: 0,
  sent: 0,
  problem: null,
});

/** Proteins that the upstream is through with. */
export const completedCount = ({ parts }: BulkLookup): number =>
  parts.reduce((sum, part) => sum + part.completed, 0);

/**
 * The state of the whole, from its parts: what was cancelled, failed or expired shows, and a cancel that came too late
 * for every part leaves the look-up complete.
 */
export function stateOf({ parts, cancelRequested }: BulkLookup): BulkState {
  const states = new Set(parts.map((part) => part.state));
  if (![...states].every(hasEnded)) {
    if (cancelRequested) return 'CANCEL_REQUESTED';
    return states.has('PENDING') ? 'PENDING' : 'UNKNOWN';
  }
  return (['CANCELLED', 'FAILED', 'EXPIRED'] as const).find((state) => states.has(state)) ?? 'COMPLETE';
}

/** What an answer of the job says: where the part is, or that the job is lost and has to be sent again. */
export type JobReading = Pick<BulkPart, 'state' | 'completed' | 'expiresAt' | 'offersArchive'> | 'lost';

const RUNNING = new Set([
  '',
  'pending',
  'queued',
  'running',
  'processing',
  'in_progress',
  'completed',
  'complete',
]);

/** Reads a job's answer (wire contract: the state words differ between deployments, the download URL decides). */
export function readJob(part: BulkPart, job: BulkJob, cancelRequested: boolean): JobReading {
  const word = (job.status ?? '').toLowerCase();
  const completed = Math.min(job.completed_count ?? part.completed, part.requested);
  if (word === 'failed' || word === 'expired') return 'lost';
  if (word === 'cancelled' || word === 'canceled')
    return { state: 'CANCELLED', completed, offersArchive: job.download_url != null };
  if (job.download_url != null && word !== 'pending') {
    const expiresAt = parseTime(job.expires_at)?.getTime() ?? null;
    return { state: 'COMPLETE', completed: part.requested, expiresAt };
  }
  if (cancelRequested) return { state: 'CANCEL_REQUESTED', completed };
  return { state: RUNNING.has(word) ? 'PENDING' : 'UNKNOWN', completed };
}
