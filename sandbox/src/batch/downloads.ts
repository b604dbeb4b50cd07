// The files behind the signed URLs of Status: folding results and artifacts, without a bearer
// token.
import { gunzipSync } from 'node:zlib';
import { type Context, Hono } from 'hono';
import { serveBytes } from '../byte-range.ts';
import type { Clock } from '../clock.ts';
import type { Limits } from '../limits.ts';
import type { Signer } from '../signing.ts';
import type { ConventionName } from '../wire/conventions.ts';
import type { BatchStore } from './store.ts';

interface DownloadParts {
  readonly store: BatchStore;
  readonly signer: Signer;
  readonly clock: Clock;
  readonly limits: Limits;
  readonly conventions: ReadonlySet<ConventionName>;
}

/** GET /downloads/results/{task_id}.json and /downloads/artifacts/{task_id}/{name}.json, signed. */
export function createDownloads({ store, signer, clock, limits, conventions }: DownloadParts): Hono {
  const app = new Hono();

  function answer(c: Context, file: { taskId: string; name: string }): Response {
    const verdict = signer.check(c.req.url);
    if (verdict !== 'ok') {
      const error =
        verdict === 'expired' ? 'The URL has expired; read Status for a new one.' : 'The URL is not signed.';
      return c.json({ error }, 403);
    }
    const { taskId, name } = file;
    const batch = store.batch(store.task(taskId)?.batchId ?? '');
    if (batch !== undefined && clock.now() >= batch.submittedAt + limits.retentionMs)
      return c.json({ error: 'The results have expired.' }, 410);
    const gzipped = store.output(taskId, name);
    if (gzipped === undefined) return c.json({ error: 'There is no such file.' }, 404);
    const bytes = new Uint8Array(gunzipSync(gzipped));
    if (conventions.has('resultRange')) return serveBytes(c.req.raw, bytes, 'application/json');
    const headers = { 'content-type': 'application/json', 'content-length': String(bytes.length) };
    return new Response(bytes, { headers });
  }

  const bare = (file: string): string => file.replace(/\.json$/, '');
  app.get('/downloads/results/:file', (c) =>
    answer(c, { taskId: bare(c.req.param('file')), name: 'response' }),
  );
  app.get('/downloads/artifacts/:task/:file', (c) =>
    answer(c, { taskId: c.req.param('task'), name: bare(c.req.param('file')) }),
  );
  return app;
}
