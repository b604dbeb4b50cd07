// One bulk look-up: posts it, polls the job if the service starts one, and reads the archive.
import { setTimeout as sleep } from 'node:timers/promises';
import type { SharedCall } from '../../async/single-flight.ts';
import { type ArchiveError, archiveLimits } from '../archive/archive-limits.ts';
import { type BulkParts, readBulkArchive } from '../archive/bulk.ts';
import * as atlas from '../atlas-bulk.ts';
import { UpstreamError } from '../errors.ts';
import type { Upstream } from '../http/call.ts';
import { download } from '../http/download.ts';
import type { BulkCall } from './plan.ts';
import { needsCluster, needsRows, needsStructure, topFeatureCount } from './required-parts.ts';

const MIN_POLL_INTERVAL_MS = 100;
const MAX_POLL_INTERVAL_MS = 2_000;
/**
 * By how much the pause between polls grows: slower where the service says that the job is nearly
 * done.
 */
const POLL_GROWTH = { underWay: 1.25, nearlyDone: 1.06 };
const NEARLY_DONE = 0.95;

const failed = (message: string, status?: number): UpstreamError =>
  new UpstreamError(message, { operation: 'bulkJob', code: 'UPSTREAM_UNAVAILABLE', status, retryable: true });

const tooLate = (jobId: string): UpstreamError =>
  new UpstreamError(
    `The upstream's bulk job ${jobId} did not finish within this request's time. ` +
      'Ask for fewer proteins at once, or use startBulkLookup, which waits as long as it takes.',
    { operation: 'bulkJob', code: 'UPSTREAM_TIMEOUT', retryable: true },
  );

/** Polls a job until it has an archive to offer. @returns its signed URL */
async function finishedJob(up: Upstream, jobId: string): Promise<string> {
  for (let pause = MIN_POLL_INTERVAL_MS; ; ) {
    const job = await atlas.bulkJob(up, jobId).catch((error: unknown) => {
      if (!atlas.isJobGone(error)) throw error;
      // The same question again starts another.
      const { status } = error.failure;
      throw failed(`The upstream's bulk job ${jobId} is gone (HTTP ${status}). Try again.`, status);
    });
    const state = (job.status ?? '').toLowerCase();
    // The archive of a cancelled job is whole but holds only some proteins: it proves nothing of
    // the others.
    if (['failed', 'cancelled', 'canceled', 'expired'].includes(state)) {
      throw failed(`The upstream's bulk job ${jobId} ended as ${state}. Try again.`);
    }
    if (job.download_url != null && state !== 'pending') return job.download_url;
    await sleep(pause, undefined, { signal: up.signal });
    const { completed_count: completed, total_count: total } = job;
    const isNearlyDone = completed != null && total != null && completed >= total * NEARLY_DONE;
    pause *= isNearlyDone ? POLL_GROWTH.nearlyDone : POLL_GROWTH.underWay;
    pause = Math.min(pause, MAX_POLL_INTERVAL_MS);
  }
}

/** The archive of a finished job; an expired URL is requested once more. */
async function jobArchive(up: Upstream, jobId: string, maxBytes: number): Promise<Uint8Array> {
  for (const last of [false, true]) {
    const archive = await download(up, await finishedJob(up, jobId), maxBytes);
    if (archive !== null) return archive;
    if (last) break;
  }
  throw failed(
    `The archive of the upstream's bulk job ${jobId} could not be downloaded: its address had expired twice.`,
  );
}

/** Why parts of a damaged archive were lost; single records may have them. */
export const damagedArchive = (problem: ArchiveError): UpstreamError =>
  new UpstreamError(
    `The upstream's bulk archive cannot be read: ${problem.message}`,
    {
      operation: 'bulk',
      code: problem.isTruncated ? 'UPSTREAM_UNAVAILABLE' : 'UPSTREAM_DRIFT',
      status: 200,
      retryable: problem.isTruncated,
    },
    { cause: problem },
  );

/**
 * Looks up at most 500 proteins with exactly the needed members. The sequences are always included:
 * only they prove which of the proteins exist.
 *
 * @throws UpstreamError without an archive; it names a job that still runs when the time is up
 */
export async function fetchArchive(
  up: Upstream,
  { needs, each }: BulkCall,
  run: Pick<SharedCall, 'onAbort'>,
): Promise<BulkParts> {
  const hashes = new Set(each.keys());
  const perResidue = needsRows(needs);
  const started = await atlas.bulk(up, {
    hashes: [...hashes],
    top: topFeatureCount(needs),
    structure: needsStructure(needs),
    cluster: needsCluster(needs),
    sequence: true,
    proteinFeatures: needs.features !== undefined || needs.level === true || needs.residues !== undefined,
    residueFeatures: perResidue,
  });
  if (started.kind === 'job') run.onAbort(() => tooLate(started.jobId));
  const limits = archiveLimits({ proteins: each.size, perResidue });
  const archive =
    started.kind === 'zip' ? started.archive : await jobArchive(up, started.jobId, limits.bytes);
  const rows = perResidue ? { top: needs.residues ?? 0, indices: needs.rows ?? [] } : undefined;
  return readBulkArchive(archive, { hashes, level: needs.level === true, rows, limits });
}
