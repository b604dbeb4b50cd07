// The doctor's check of a bulk job: it is sent, polled until its archive is ready, and cancelled.
// Free, but slow.
import { setTimeout as sleep } from 'node:timers/promises';
import { type Downloads, download } from '../../upstream/http/download.ts';
import { readBytes } from '../../upstream/http/response-body.ts';
import type { Upstream } from '../../upstream/http/upstream-client.ts';
import { type Check, isProblem } from '../report.ts';
import { archiveDrifts } from './archive.ts';
import { bulkCall, fieldsOf, type Part, unknownFields } from './atlas.ts';
import { finding, type Probe, runProbe, skippedCheck } from './probe.ts';

/** One real protein among unknown hashes: enough for a job, and a small archive. */
const KNOWN_HASH = '12e9c9e4e2835c302e8ba615115edda3';
const asked = [KNOWN_HASH, ...unknownFields(499)];

async function archiveCheck(up: Upstream, downloads: Downloads, url: string): Promise<Check> {
  const started = performance.now();
  try {
    const answer = await download(up, downloads, url);
    if (answer === null) throw new Error('the signed URL is refused');
    const drifts = await archiveDrifts(up, await readBytes(up, answer), KNOWN_HASH);
    return {
      name: 'job, archive',
      operation: 'download',
      status: drifts.some(isProblem) ? 'CHANGED' : 'OK',
      http: answer.status,
      milliseconds: Math.round(performance.now() - started),
      findings: drifts.map((drift) => finding('archive', drift)),
    };
  } catch (error) {
    const note = error instanceof Error ? error.message : String(error);
    return { ...skippedCheck('job, archive', 'download', note), status: 'UNREACHABLE' };
  }
}

/**
 * Sends 500 hashes, polls the job, reads its archive and cancels it.
 *
 * @param patience - milliseconds
 */
export async function examineJob(
  up: Upstream,
  downloads: Downloads,
  patience: number,
  onProgress: (line: string) => void,
): Promise<Part> {
  const sent = await runProbe(up, { name: 'job', call: bulkCall(asked), statuses: [202], answer: 'bulkJob' });
  const checks = [sent.check];
  const { job_id: id } = fieldsOf(sent.body);
  if (typeof id !== 'string') return { checks, limits: [] };
  const call: Probe['call'] = {
    operation: 'bulkJob',
    api: 'atlas',
    method: 'GET',
    path: `/proteins/batch/jobs/${encodeURIComponent(id)}`,
  };
  const poll = (): ReturnType<typeof runProbe> =>
    runProbe(up, { name: 'job, progress', call, statuses: [200, 202], answer: 'bulkJob' });
  const until = Date.now() + patience;
  let job = await poll();
  while (job.status === 202 && Date.now() < until) {
    onProgress('waiting for the bulk job');
    await sleep(500);
    job = await poll();
  }
  checks.push(job.check);
  const url = fieldsOf(job.body).download_url;
  const archive = skippedCheck('job, archive', 'download', 'the job has not ended with an archive');
  const lost = {
    kind: 'missing',
    path: 'download_url',
    expected: 'an address',
    seen: 'missing',
    loses: 'download_url',
  } as const;
  if (typeof url === 'string') checks.push(await archiveCheck(up, downloads, url));
  else if (job.status === 200)
    checks.push({ ...archive, status: 'CHANGED', findings: [finding('bulkJob', lost)] });
  else checks.push({ ...archive, status: 'UNREACHABLE' });
  const deleted = await runProbe(up, {
    name: 'job, cancel',
    call: { ...call, operation: 'bulkJobDelete', method: 'DELETE' },
    statuses: [204],
    content: '',
  });
  return { checks: [...checks, deleted.check], limits: [] };
}
