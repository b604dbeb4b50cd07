// One bulk look-up from the question to the parts: posts it, follows the job where the upstream makes one of it, reads the
// archive as it arrives. It knows nothing of who asked for which part.
import { setTimeout as sleep } from 'node:timers/promises';
import { type BulkParts, readBulkArchive } from './archive/bulk.ts';
import * as atlas from './atlas.ts';
import { type Downloads, download } from './download.ts';
import { UpstreamError } from './errors.ts';
import { type Answer, networkFailure, type Upstream } from './http.ts';
import type { ProteinNeeds } from './protein-needs.ts';

const FIRST_POLL = 100;
const SLOWEST_POLL = 2_000;

const failed = (message: string): UpstreamError =>
  new UpstreamError(message, { operation: 'bulkJob', code: 'UPSTREAM_UNAVAILABLE', retryable: true });

/** Polls a job until it has an archive to offer. @returns its signed URL */
async function finishedJob(up: Upstream, jobId: string): Promise<string> {
  for (let pause = FIRST_POLL; ; pause = Math.min(pause * 1.6, SLOWEST_POLL)) {
    const job = await atlas.bulkJob(up, jobId);
    const state = (job.status ?? '').toLowerCase();
    if (job.download_url != null && !['pending', 'failed', 'expired'].includes(state))
      return job.download_url;
    if (['failed', 'cancelled', 'expired'].includes(state)) {
      throw failed(`The upstream's bulk job ${jobId} ended as ${state}. Try again.`);
    }
    if (up.signal?.aborted === true) {
      throw new UpstreamError(
        `The upstream's bulk job ${jobId} did not finish within this request's time. Ask for fewer proteins at once.`,
        { operation: 'bulkJob', code: 'UPSTREAM_TIMEOUT', retryable: true },
      );
    }
    await sleep(pause, undefined, { signal: up.signal }).catch(() => undefined);
  }
}

/** The archive of a finished job; its URL is asked for once more when it has expired. */
async function jobArchive(up: Upstream, downloads: Downloads, jobId: string): Promise<Answer> {
  for (const last of [false, true]) {
    const answer = await download(up, downloads, await finishedJob(up, jobId));
    if (answer !== null) return answer;
    if (last) break;
  }
  throw failed(
    `The archive of the upstream's bulk job ${jobId} could not be downloaded: its address had expired twice.`,
  );
}

/**
 * Looks up at most 500 proteins with exactly the members that are needed.
 *
 * @throws UpstreamError when no archive came
 */
export async function fetchBulk(
  up: Upstream,
  downloads: Downloads,
  hashes: readonly string[],
  needs: ProteinNeeds,
): Promise<BulkParts> {
  const started = await atlas.bulk(up, {
    hashes,
    top: needs.features ?? 1,
    structure: needs.structure === true,
    cluster: needs.cluster === true,
    sequence: needs.sequence === true,
    proteinFeatures: needs.features !== undefined,
    residueFeatures: false,
  });
  const answer = started.kind === 'zip' ? started.answer : await jobArchive(up, downloads, started.jobId);
  try {
    return await readBulkArchive(answer.body);
  } catch (error) {
    throw networkFailure('bulk', error, up.signal);
  }
}
