// Bulk look-ups: a stored list of the service's jobs. The state of a part is read from the service
// whenever a client asks for it; nothing works on a look-up in between.
import { randomBytes } from 'node:crypto';
import pLimit from 'p-limit';
import type { LeasedDocumentStore } from '../store/documents/leased-documents.ts';
import { type BulkQuery, bulk, bulkJob, deleteBulkJob, isJobGone } from '../upstream/atlas-bulk.ts';
import { UpstreamError } from '../upstream/errors.ts';
import { discard } from '../upstream/http/response-body.ts';
import type { Upstream } from '../upstream/http/upstream-client.ts';
import type { BulkJob } from '../upstream/wire.ts';

export type BulkLookupState =
  | 'PENDING'
  | 'COMPLETE'
  | 'CANCEL_REQUESTED'
  | 'CANCELLED'
  | 'FAILED'
  | 'EXPIRED'
  | 'UNKNOWN';

export type BulkOptions = Omit<BulkQuery, 'hashes'>;

/** At most 500 hashes of a look-up, as they are stored. */
export interface StoredPart {
  readonly requestedCount: number;
  /** The service's job; null where the service answered at once, or did not accept the part. */
  readonly jobId: string | null;
  /** Of a part that was answered at once: each download asks for its archive again. */
  readonly hashes?: readonly string[];
  /** Why the service did not accept the part. */
  readonly problem?: string;
}

export interface BulkLookup {
  readonly lookupId: string;
  readonly requestedCount: number;
  readonly options: BulkOptions;
  readonly cancelRequested: boolean;
  readonly parts: readonly StoredPart[];
}

/** What the service says of a part now. */
export interface PartStatus {
  readonly state: BulkLookupState;
  readonly completedCount: number | null;
  readonly problem: string | null;
  /** Signed; null where there is nothing to download, and where there is no job. */
  readonly downloadUrl: string | null;
  /** Set where the service could not be asked. */
  readonly error?: UpstreamError;
}

/** Spec, section Limits. */
const PART_SIZE = 500;
export const MAX_LOOKUP_HASHES = 50_000;
export const MAX_LOOKUP_PARTS = MAX_LOOKUP_HASHES / PART_SIZE;
const RETENTION_MS = 3 * 24 * 3_600_000;
/** How long a look-up is stored before the service has accepted it. */
const RESERVATION_MS = 120_000;
/** Parts of one look-up that are sent at the same time. */
const PARTS_IN_FLIGHT = 4;

/** The different hashes in order of first appearance, in parts of 500. Hashes must be normalised. */
export function splitHashes(hashes: readonly string[]): string[][] {
  const unique = [...new Set(hashes)];
  return Array.from({ length: Math.ceil(unique.length / PART_SIZE) }, (_, part) =>
    unique.slice(part * PART_SIZE, (part + 1) * PART_SIZE),
  );
}

const IN_PROGRESS = new Set([
  '',
  'pending',
  'queued',
  'running',
  'processing',
  'in_progress',
  'completed',
  'complete',
]);
const JOB_FAILED = 'The service could not finish this job. Look up its hashes again.';

/** Reads a job. The words for its state differ between deployments; the download URL decides. */
export function readJob(job: BulkJob, requestedCount: number, cancelRequested: boolean): PartStatus {
  const word = (job.status ?? '').toLowerCase();
  const downloadUrl = job.download_url ?? null;
  const completedCount = job.completed_count == null ? null : Math.min(job.completed_count, requestedCount);
  const status = { completedCount, problem: null, downloadUrl: null };
  if (word === 'failed') return { ...status, state: 'FAILED', problem: JOB_FAILED };
  if (word === 'expired') return { ...status, state: 'EXPIRED' };
  if (word === 'cancelled' || word === 'canceled') return { ...status, state: 'CANCELLED', downloadUrl };
  if (downloadUrl !== null && word !== 'pending')
    return { ...status, state: 'COMPLETE', completedCount: requestedCount, downloadUrl };
  if (cancelRequested) return { ...status, state: 'CANCEL_REQUESTED' };
  return { ...status, state: IN_PROGRESS.has(word) ? 'PENDING' : 'UNKNOWN' };
}

/** Asks the service about the job of a part. Its failure stands in the status. */
export async function readPart(up: Upstream, lookup: BulkLookup, part: StoredPart): Promise<PartStatus> {
  const { jobId, requestedCount, problem = null } = part;
  const status = { completedCount: null, problem, downloadUrl: null };
  if (problem !== null) return { ...status, state: 'FAILED' };
  if (jobId === null) return { ...status, state: 'COMPLETE', completedCount: requestedCount };
  try {
    return readJob(await bulkJob(up, jobId), requestedCount, lookup.cancelRequested);
  } catch (error) {
    if (!(error instanceof UpstreamError)) throw error;
    // A service may forget a job that was cancelled.
    const isForgotten = lookup.cancelRequested && error.failure.status === 404;
    const { message, failure } = error;
    if (isJobGone(error)) return { ...status, state: isForgotten ? 'CANCELLED' : 'EXPIRED' };
    return failure.retryable
      ? { ...status, state: 'UNKNOWN', problem: message, error }
      : { ...status, state: 'FAILED', problem: message };
  }
}

const ENDED: ReadonlySet<BulkLookupState> = new Set(['COMPLETE', 'CANCELLED', 'FAILED', 'EXPIRED']);

/**
 * The state of the whole, from its parts. A cancelled, failed or expired part shows; a look-up whose
 * parts all finished before the cancellation is complete.
 */
export function combineStates(states: readonly BulkLookupState[]): BulkLookupState {
  const unfinished = states.filter((state) => !ENDED.has(state));
  const present = new Set(unfinished.length > 0 ? unfinished : states);
  const order = ['CANCEL_REQUESTED', 'PENDING', 'UNKNOWN', 'CANCELLED', 'FAILED', 'EXPIRED'] as const;
  return order.find((state) => present.has(state)) ?? 'COMPLETE';
}

/** Sends one part. A refusal stands in the part, beside its error. */
async function sendPart(
  up: Upstream,
  hashes: readonly string[],
  options: BulkOptions,
): Promise<{ readonly part: StoredPart; readonly error?: UpstreamError }> {
  const requestedCount = hashes.length;
  try {
    const answer = await bulk(up, { hashes, ...options });
    if (answer.kind === 'job') return { part: { requestedCount, jobId: answer.jobId } };
    discard(answer.answer);
    return { part: { requestedCount, jobId: null, hashes } };
  } catch (error) {
    if (!(error instanceof UpstreamError)) throw error;
    return { part: { requestedCount, jobId: null, problem: error.message }, error };
  }
}

export interface BulkLookups {
  /**
   * Sends the parts and stores their jobs. A part that the service does not accept has a `problem`.
   *
   * @param hashes - 1 to 50,000, normalised; repeated ones are sent once
   * @throws UpstreamError of the first part when the service accepts none
   * @throws Error before anything is sent when the store accepts no writes
   */
  start(up: Upstream, hashes: readonly string[], options: BulkOptions): Promise<BulkLookup>;
  /** Null when there is none, or no more. */
  get(lookupId: string): Promise<BulkLookup | null>;
  /** Cancels all jobs; those that have finished keep their results. @throws UpstreamError */
  cancel(up: Upstream, lookup: BulkLookup): Promise<BulkLookup>;
}

/** @param onError - receives the failure of a store that a cancellation does not wait for */
export function createBulkLookups(
  documents: LeasedDocumentStore,
  onError: (error: unknown) => void,
): BulkLookups {
  const key = (lookupId: string): string => `lookup/1/${lookupId}`;
  async function save(lookup: BulkLookup, milliseconds = RETENTION_MS): Promise<BulkLookup> {
    const expiresAt = Date.now() + milliseconds;
    await documents.put(key(lookup.lookupId), JSON.stringify(lookup), { expiresAt });
    return lookup;
  }
  return {
    async start(up, hashes, options) {
      const chunks = splitHashes(hashes);
      const lookup = {
        lookupId: randomBytes(18).toString('base64url'),
        requestedCount: chunks.flat().length,
        options,
        cancelRequested: false,
        parts: [],
      };
      await save(lookup, RESERVATION_MS);
      const limit = pLimit(PARTS_IN_FLIGHT);
      const sent = await Promise.all(chunks.map((chunk) => limit(() => sendPart(up, chunk, options))));
      const error = sent.every((one) => one.error !== undefined) ? sent[0]?.error : undefined;
      if (error !== undefined) throw error;
      return save({ ...lookup, parts: sent.map(({ part }) => part) });
    },
    async get(lookupId) {
      const stored = await documents.get(key(lookupId));
      return stored === null || stored === 'same' ? null : (JSON.parse(stored.text) as BulkLookup);
    },
    async cancel(up, lookup) {
      const jobIds = lookup.parts.flatMap(({ jobId }) => jobId ?? []);
      await Promise.all(jobIds.map((jobId) => deleteBulkJob(up, jobId)));
      const cancelled = { ...lookup, cancelRequested: true };
      await save(cancelled).catch(onError);
      return cancelled;
    },
  };
}
