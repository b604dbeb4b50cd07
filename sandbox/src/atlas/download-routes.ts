// GET /downloads/bulk/{jobId}.zip: the archive of a bulk job behind a signed URL, with byte ranges.
import type { Hono } from 'hono';
import type { BulkJobs } from './bulk-jobs.ts';
import type { AtlasContext } from './context.ts';
import { refusal } from './refusals.ts';
import { toStream } from './streaming.ts';

/**
 * The one range of a Range header as [start, end), 'none' to send everything, 'unsatisfiable' when
 * it lies outside.
 */
function readRange(header: string | undefined, size: number): [number, number] | 'none' | 'unsatisfiable' {
  const [, first = '', last = ''] = /^bytes=(\d*)-(\d*)$/.exec(header?.trim() ?? '') ?? [];
  if (first === '' && last === '') return 'none';
  if (first === '') return Number(last) === 0 ? 'unsatisfiable' : [Math.max(0, size - Number(last)), size];
  if (last !== '' && Number(last) < Number(first)) return 'none';
  if (Number(first) >= size) return 'unsatisfiable';
  return [Number(first), last === '' ? size : Math.min(size, Number(last) + 1)];
}

export function addDownloadRoutes(app: Hono, { signer }: AtlasContext, jobs: BulkJobs): void {
  app.get('/downloads/bulk/:file', async (c) => {
    const verdict = signer.check(c.req.url);
    if (verdict !== 'ok')
      return refusal(403, verdict === 'expired' ? 'The URL has expired' : 'The signature is wrong');
    const id = c.req.param('file').replace(/\.zip$/, '');
    const view = await jobs.view(id);
    if (view === undefined || view.state === 'pending') return refusal(404, `Job ${id} has no results`);
    if (view.state === 'expired') return refusal(410, `The results of job ${id} have expired`);
    const size = await jobs.archiveSize(id);
    const headers = { 'content-type': 'application/zip', 'accept-ranges': 'bytes', etag: `"${id}"` };
    // If-Range with another validator asks for the whole.
    const condition = c.req.header('if-range');
    const range =
      condition === undefined || condition === headers.etag ? readRange(c.req.header('range'), size) : 'none';
    if (range === 'unsatisfiable')
      return refusal(416, 'The range lies outside the file', { 'content-range': `bytes */${size}` });
    const [start, end] = range === 'none' ? [0, size] : range;
    const partial = range === 'none' ? {} : { 'content-range': `bytes ${start}-${end - 1}/${size}` };
    return new Response(toStream(jobs.archiveBytes(id, start, end)), {
      status: range === 'none' ? 200 : 206,
      headers: { ...headers, ...partial, 'content-length': String(end - start) },
    });
  });
}
