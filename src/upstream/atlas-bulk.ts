// Bulk look-ups of the Atlas API: the lookup itself and its jobs.
import { archiveLimits } from './archive/archive-limits.ts';
import { get, segment } from './atlas.ts';
import { UpstreamError } from './errors.ts';
import type { Call, StreamedResponse, Upstream, UpstreamResponse } from './http/call.ts';
import { headerValue, readSmall } from './http/response-body.ts';
import { call, callOrNull, openStream } from './http/upstream-client.ts';
import { drifted, readJson } from './http/validate-response.ts';
import * as wire from './wire.ts';
import { id } from './wire-values.ts';

export interface BulkQuery {
  /** At most 500 unique hashes. */
  readonly hashes: readonly string[];
  readonly top: number;
  readonly structure: boolean;
  readonly cluster: boolean;
  readonly sequence: boolean;
  readonly proteinFeatures: boolean;
  readonly residueFeatures: boolean;
}

/** A job to poll, where a bulk look-up is not answered by an archive. */
export interface StartedJob {
  readonly kind: 'job';
  readonly jobId: string;
}

/** The answer that starts a job, which cannot be followed without its id. */
export const jobHandle = wire.bulkJob.extend({ job_id: id });

/** Whether an answer is the handle of a job, in place of an archive. */
const isJob = ({ status, headers }: Pick<UpstreamResponse, 'status' | 'headers'>): boolean =>
  status === 202 || /\bjson\b/i.test(headerValue(headers['content-type']) ?? '');

async function readJob(answer: UpstreamResponse): Promise<StartedJob> {
  return { kind: 'job', jobId: (await readJson(answer, jobHandle, 'bulkJob')).record.job_id };
}

/** POST /proteins/batch: a zip for few proteins, a job for many. */
function bulkCall(q: BulkQuery): Call {
  const { bytes: maxBytes } = archiveLimits({
    proteins: q.hashes.length,
    perResidue: q.residueFeatures,
  });
  return {
    operation: 'bulk',
    api: 'atlas',
    method: 'POST',
    path: '/proteins/batch',
    isRepeatable: true,
    accept: 'application/zip, application/json',
    maxBytes,
    body: {
      protein_hashes: q.hashes,
      topk_features: q.top,
      include_structure: q.structure,
      include_cluster_info: q.cluster,
      include_sequence: q.sequence,
      include_features: { protein_level: q.proteinFeatures, per_residue: q.residueFeatures },
    },
  };
}

/** Looks up proteins and reads their archive. */
export async function bulk(
  up: Upstream,
  q: BulkQuery,
): Promise<StartedJob | { readonly kind: 'zip'; readonly archive: Uint8Array }> {
  const answer = await call(up, bulkCall(q));
  return isJob(answer) ? readJob(answer) : { kind: 'zip', archive: answer.body };
}

/** Looks up proteins; their archive is not read yet. */
export async function openBulk(
  up: Upstream,
  q: BulkQuery,
): Promise<StartedJob | { readonly kind: 'zip'; readonly answer: StreamedResponse }> {
  const answer = await openStream(up, bulkCall(q));
  return isJob(answer) ? readJob({ ...answer, body: await readSmall(answer) }) : { kind: 'zip', answer };
}

const FINISHED = new Set(['completed', 'complete', 'done']);
/** States that a job without an archive can have, whatever the HTTP status. */
const KNOWN_ENDS = new Set([
  'pending',
  'queued',
  'in_progress',
  'running',
  'processing',
  'cancelled',
  'failed',
  'expired',
]);

/** Whether the failure of a call for a job says that the Atlas itself no longer has it. */
export function isJobGone(error: unknown): error is UpstreamError {
  if (!(error instanceof UpstreamError)) return false;
  return error.failure.status === 410 || error.failure.isAbsence === true;
}

/**
 * Checks a job by the HTTP status of its answer. One that is not complete has no archive: it would
 * lack proteins, which would prove that there are none.
 *
 * @throws UpstreamError UPSTREAM_DRIFT for one that is complete and has no archive
 */
export function checkJob(job: wire.BulkJob, httpStatus: number): wire.BulkJob {
  const isComplete =
    FINISHED.has(job.status ?? '') || (httpStatus === 200 && !KNOWN_ENDS.has(job.status ?? ''));
  if (isComplete && job.download_url == null)
    throw drifted('bulkJob', '$.download_url', 'the job is complete, and there is no address');
  return isComplete || httpStatus !== 202 ? job : { ...job, download_url: undefined };
}

/** GET /proteins/batch/jobs/{id}. @throws UpstreamError RESULT_EXPIRED (410) when it is too old */
export async function bulkJob(up: Upstream, jobId: string): Promise<wire.BulkJob> {
  const answer = await call(up, get('bulkJob', `/proteins/batch/jobs/${segment('bulkJob', jobId)}`));
  const { record: job } = await readJson(answer, wire.bulkJob);
  return checkJob(job, answer.status);
}

/** DELETE /proteins/batch/jobs/{id}. @returns false when the job is unknown */
export async function deleteBulkJob(up: Upstream, jobId: string): Promise<boolean> {
  const answer = await callOrNull(up, {
    ...get('bulkJobDelete', `/proteins/batch/jobs/${segment('bulkJobDelete', jobId)}`),
    method: 'DELETE',
  });
  return answer !== null;
}
