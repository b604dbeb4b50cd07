// POST /proteins/batch and its jobs (spec: bulk lookup).
import type { Hono } from 'hono';
import { archiveMembers } from './bulk-archive.ts';
import { type BulkJobs, JOB_LIMITS } from './bulk-jobs.ts';
import { readBulkRequest } from './bulk-request.ts';
import type { AtlasContext } from './context.ts';
import { refusal, unprocessable } from './refusals.ts';
import { toStream } from './streaming.ts';
import { zipArchive } from './zip.ts';

/** Far more than 500 hashes with their repeats ever need. */
const LONGEST_BODY = 2 ** 20;

export function addBulkRoutes(app: Hono, context: AtlasContext, jobs: BulkJobs): void {
  const { wire, signer, conventions } = context;

  app.post(`${wire.atlasPrefix}/proteins/batch`, async (c) => {
    const text = await c.req.text();
    if (text.length > LONGEST_BODY) return refusal(413, `The body is longer than ${LONGEST_BODY} characters`);
    const { request, problems } = readBulkRequest(text);
    if (problems.length > 0) return unprocessable(problems);
    if (request.hashes.length > wire.jobThreshold) {
      const job_id = jobs.create(request);
      return c.json(
        { status: 'pending', job_id, poll_url: `${wire.atlasPrefix}/proteins/batch/jobs/${job_id}` },
        202,
      );
    }
    const archive = zipArchive(archiveMembers(context, request), wire);
    return new Response(toStream(archive), { headers: { 'content-type': 'application/zip' } });
  });

  app.get(`${wire.atlasPrefix}/proteins/batch/jobs/:job_id`, async (c) => {
    const view = await jobs.view(c.req.param('job_id'));
    if (view === undefined) return refusal(404, `Job ${c.req.param('job_id')} not found`);
    const { id, state, completed, total } = view;
    if (state === 'expired') return refusal(410, `The results of job ${id} have expired`);
    const counts = { status: state, job_id: id, completed_count: completed, total_count: total };
    if (state === 'pending') return c.json(counts, 202);
    if (completed === 0 || (state === 'cancelled' && !conventions.has('cancelledJobArchive')))
      return c.json(counts);
    return c.json({
      ...counts,
      download_url: signer.sign(`/downloads/bulk/${id}.zip`, JOB_LIMITS.urlSeconds),
    });
  });

  app.delete(`${wire.atlasPrefix}/proteins/batch/jobs/:job_id`, (c) => {
    const id = c.req.param('job_id');
    return jobs.cancel(id) ? c.body(null, 204) : refusal(404, `Job ${id} not found`);
  });
}
