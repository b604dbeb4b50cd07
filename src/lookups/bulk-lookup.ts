// Bulk look-ups: a stored list of the service's jobs. The state of a part is read from the service
// whenever a client asks for it, and its archive is streamed through.
import { randomBytes } from 'node:crypto';
import { createConcurrencyLimit } from '../async/concurrency-limit.ts';
import type { LeasedDocumentStore } from '../store/documents.ts';
import { archiveLimits } from '../upstream/archive/archive-limits.ts';
import { type BulkQuery, bulk, bulkJob, deleteBulkJob, isJobGone } from '../upstream/atlas-bulk.ts';
import { UpstreamError } from '../upstream/errors.ts';
import { download } from '../upstream/http/download.ts';
import { discard } from '../upstream/http/response-body.ts';
import type { StreamedResponse, Upstream } from '../upstream/http/upstream-client.ts';
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
  const different = [...new Set(hashes)];
  const partCount = Math.ceil(different.length / PART_SIZE);
  return Array.from({ length: partCount }, (_, i) => different.slice(i * PART_SIZE, (i + 1) * PART_SIZE));
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
export async function readPart(up: Upstream, lookup: BulkLookup, part: StoredPart): Promise<PartStatus> {
  const { jobId, requestedCount, problem = null } = part;
  const status = { completedCount: null, problem, downloadUrl: null };
  if (problem !== null) return { ...status, state: 'FAILED' };
  if (jobId === null) return { ...status, state: 'COMPLETE', completedCount: requestedCount };
  try {
    return readJob(await bulkJob(up, jobId), requestedCount, lookup.cancelRequested);
  } catch (error) {
    if (!(error instanceof UpstreamError)) throw error;
    const { message, failure } = error;
    // A service may forget a job that was cancelled.
    const isForgotten = lookup.cancelRequested && failure.status === 404;
    if (isJobGone(error)) return { ...status, state: isForgotten ? 'CANCELLED' : 'EXPIRED' };
    return failure.retryable
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

const noArchive = (): UpstreamError =>
  new UpstreamError(
    'The service did not give the archive of this part, although it is complete. Try again.',
    { operation: 'bulkJob', code: 'UPSTREAM_UNAVAILABLE', retryable: true },
  );

/**
 * Starts to download the archive of a part. The gateway sends a part again, as a whole, where the
 * service had answered at once.
 *
 * @param headers - such as `range`
 * @returns the response with status 200, 206, 304 or 416, its body unread; the status of the part
 *   where it has no archive
 * @throws UpstreamError
 */
export async function openPartArchive(
  up: Upstream,
  lookup: BulkLookup,
  part: StoredPart,
  headers: Readonly<Record<string, string>>,
): Promise<StreamedResponse | PartStatus> {
  const { options } = lookup;
  if (part.hashes !== undefined) {
    const again = await bulk(up, { hashes: part.hashes, ...options });
    if (again.kind === 'zip') return again.answer;
    throw noArchive();
  }
  const limits = archiveLimits({ proteins: part.requestedCount, perResidue: options.residueFeatures });
  // The second try is for a URL that expired before it was used.
  for (let tries = 0; tries < 2; tries += 1) {
    const status = await readPart(up, lookup, part);
    if (status.error !== undefined) throw status.error;
    if (status.downloadUrl === null) return status;
    const maxBytes = limits.bytes;
    const answer = await download(up, status.downloadUrl, { headers, maxBytes });
    if (answer !== null) return answer;
  }
  throw noArchive();
}

/** Sends a part. @throws UpstreamError when the service does not accept it */
async function sendPart(up: Upstream, hashes: readonly string[], options: BulkOptions): Promise<StoredPart> {
  const requestedCount = hashes.length;
  const answer = await bulk(up, { hashes, ...options });
  if (answer.kind === 'job') return { requestedCount, jobId: answer.jobId };
  discard(answer.answer);
  return { requestedCount, jobId: null, hashes };
}

/** Sends all parts, four at a time. @throws UpstreamError of the first part when none is accepted */
async function sendParts(
  up: Upstream,
  parts: readonly (readonly string[])[],
  options: BulkOptions,
): Promise<StoredPart[]> {
  const limited = createConcurrencyLimit(PARTS_IN_FLIGHT);
  const sent = await Promise.allSettled(parts.map((part) => limited(() => sendPart(up, part, options))));
  const isAccepted = sent.some(({ status }) => status === 'fulfilled');
  return sent.map((result, i) => {
    if (result.status === 'fulfilled') return result.value;
    const reason: unknown = result.reason;
    if (!isAccepted || !(reason instanceof UpstreamError)) throw reason;
    return { requestedCount: parts[i]?.length ?? 0, jobId: null, problem: reason.message };
  });
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
      const parts = splitHashes(hashes);
      const lookup = {
        lookupId: randomBytes(18).toString('base64url'),
        requestedCount: parts.flat().length,
        options,
        cancelRequested: false,
        parts: [],
      };
      await save(lookup, RESERVATION_MS);
      return save({ ...lookup, parts: await sendParts(up, parts, options) });
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
