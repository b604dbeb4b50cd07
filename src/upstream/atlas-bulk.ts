// Bulk look-ups of the Atlas API: the lookup itself and its jobs.
import { archiveLimits } from './archive/archive-limits.ts';
import { get, MiB, segment } from './atlas.ts';
import { UpstreamError } from './errors.ts';
import { discard, headerValue } from './http/response-body.ts';
import { call, callOrNull, type StreamedResponse, type Upstream } from './http/upstream-client.ts';
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

/** The answer to a bulk look-up: an archive to read, or a job to poll. */
export type BulkAnswer =
  | { readonly kind: 'zip'; readonly answer: StreamedResponse }
  | { readonly kind: 'job'; readonly jobId: string };

const jobHandle = wire.bulkJob.extend({ job_id: id });

/** The handle of a job, in place of an archive, whose limit it would have. */
async function readJobHandle(up: Upstream, answer: StreamedResponse) {
  const call = { ...answer.call, maxBytes: MiB };
  return (await readJson(up, { ...answer, call }, jobHandle, 'bulkJob')).record;
}

/** POST /proteins/batch: a zip for few proteins, a job for many. */
export async function bulk(up: Upstream, q: BulkQuery): Promise<BulkAnswer> {
  const { bytes: maxBytes } = archiveLimits({
    proteins: q.hashes.length,
    perResidue: q.residueFeatures,
  });
  const answer = await call(up, {
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
  });
  const isJson = /\bjson\b/i.test(headerValue(answer.headers['content-type']) ?? '');
  if (answer.status === 202 || isJson)
    return { kind: 'job', jobId: (await readJobHandle(up, answer)).job_id };
  return { kind: 'zip', answer };
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

/** GET /proteins/batch/jobs/{id}. @throws UpstreamError RESULT_EXPIRED (410) when it is too old */
export async function bulkJob(up: Upstream, jobId: string): Promise<wire.BulkJob> {
  const answer = await call(up, get('bulkJob', `/proteins/batch/jobs/${segment('bulkJob', jobId)}`));
  const { record: job } = await readJson(up, answer, wire.bulkJob);
  const isComplete =
    FINISHED.has(job.status ?? '') || (answer.status === 200 && !KNOWN_ENDS.has(job.status ?? ''));
  if (isComplete && job.download_url == null)
    throw drifted('bulkJob', '$.download_url', 'the job is complete, and there is no address');
  // The archive of a job that is not complete lacks proteins, which would prove that there are
  // none.
  return isComplete || answer.status !== 202 ? job : { ...job, download_url: undefined };
}

/** DELETE /proteins/batch/jobs/{id}. @returns false when the job is unknown */
export async function deleteBulkJob(up: Upstream, jobId: string): Promise<boolean> {
  const answer = await callOrNull(up, {
    ...get('bulkJobDelete', `/proteins/batch/jobs/${segment('bulkJobDelete', jobId)}`),
    method: 'DELETE',
  });
  if (answer !== null) discard(answer);
  return answer !== null;
}
