// Bulk look-ups: a stored list of the service's jobs. Archives are streamed through.
import { randomBytes } from 'node:crypto';
import { createConcurrencyLimit } from '../async/concurrency-limit.ts';
import type { DocumentStore } from '../store/documents.ts';
import { archiveLimits } from '../upstream/archive/archive-limits.ts';
import { type BulkQuery, deleteBulkJob, openBulk } from '../upstream/atlas-bulk.ts';
import { UpstreamError } from '../upstream/errors.ts';
import type { StreamedResponse, Upstream } from '../upstream/http/call.ts';
import { openDownload } from '../upstream/http/download.ts';
import { discard } from '../upstream/http/response-body.ts';
import { type PartStatus, readPart, type StoredPart } from './bulk-part.ts';

export type BulkLookupOptions = Omit<BulkQuery, 'hashes'>;

export interface BulkLookup {
  readonly lookupId: string;
  readonly requestedCount: number;
  readonly options: BulkLookupOptions;
  readonly cancelRequested: boolean;
  readonly parts: readonly StoredPart[];
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

/**
 * The different hashes in order of first appearance, in parts of 500. Hashes must be normalised.
 */
export function splitHashes(hashes: readonly string[]): string[][] {
  const different = [...new Set(hashes)];
  const partCount = Math.ceil(different.length / PART_SIZE);
  return Array.from({ length: partCount }, (_, i) => different.slice(i * PART_SIZE, (i + 1) * PART_SIZE));
}

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
    const again = await openBulk(up, { hashes: part.hashes, ...options });
    if (again.kind === 'zip') return again.answer;
    throw noArchive();
  }
  const limits = archiveLimits({ proteins: part.requestedCount, perResidue: options.residueFeatures });
  // The second try is for a URL that expired before it was used.
  for (let tries = 0; tries < 2; tries += 1) {
    const status = await readPart(up, part, lookup.cancelRequested);
    if (status.error !== undefined) throw status.error;
    if (status.downloadUrl === null) return status;
    const maxBytes = limits.bytes;
    const answer = await openDownload(up, status.downloadUrl, { headers, maxBytes });
    if (answer !== null) return answer;
  }
  throw noArchive();
}

/** Sends a part. @throws UpstreamError when the service does not accept it */
async function sendPart(
  up: Upstream,
  hashes: readonly string[],
  options: BulkLookupOptions,
): Promise<StoredPart> {
  const requestedCount = hashes.length;
  const answer = await openBulk(up, { hashes, ...options });
  if (answer.kind === 'job') return { requestedCount, jobId: answer.jobId };
  discard(answer.answer);
  return { requestedCount, jobId: null, hashes };
}

/**
 * Sends all parts, four at a time.
 *
 * @throws UpstreamError of the first part when none is accepted
 */
async function sendParts(
  up: Upstream,
  parts: readonly (readonly string[])[],
  options: BulkLookupOptions,
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
  start(up: Upstream, hashes: readonly string[], options: BulkLookupOptions): Promise<BulkLookup>;
  /** Null when there is none, or no more. */
  get(lookupId: string): Promise<BulkLookup | null>;
  /** Cancels all jobs; those that have finished keep their results. @throws UpstreamError */
  cancel(up: Upstream, lookup: BulkLookup): Promise<BulkLookup>;
}

/** @param onError - receives the failure of a store that a cancellation does not wait for */
export function createBulkLookups(documents: DocumentStore, onError: (error: unknown) => void): BulkLookups {
  const key = (lookupId: string): string => `lookup/1/${lookupId}`;
  async function save(lookup: BulkLookup, lifetimeMs = RETENTION_MS): Promise<BulkLookup> {
    await documents.put(key(lookup.lookupId), JSON.stringify(lookup), { lifetimeMs });
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
