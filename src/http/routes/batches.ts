// GET /batches/{batchId}/scores.tsv: all tasks, best ipTM first. GET
// /batches/{batchId}/results.zip: results and structures of all finished tasks with a manifest,
// written while they are read.
import { Readable } from 'node:stream';
import type { GatewayContext } from '../../context.ts';
import { readAllTasks } from '../../resolvers/folds/all-tasks.ts';
import { loadAllScores } from '../../resolvers/folds/batch-scores.ts';
import { scoreTable } from '../../resolvers/folds/score-table.ts';
import { createBatchReader } from '../../upstream/folds/batch-reader.ts';
import { readCounts } from '../../upstream/folds/batch-states.ts';
import { createFoldResults } from '../../upstream/folds/fold-results.ts';
import { type ConcurrencyQuota, createConcurrencyQuota } from '../limits/concurrency-quota.ts';
import { listTasks, toScored, writeBatchArchive } from './batch-archive.ts';
import type { RouteDescription } from './description.ts';
import { attachment, decodeId, textResponse } from './responses.ts';
import type { Route, RouteAnswer } from './route.ts';

const TYPES = { zip: 'application/zip', tsv: 'text/tab-separated-values' } as const;
/**
 * Archives of one caller that a process writes at the same time: each holds two results in memory.
 */
const MAX_ARCHIVES = 4;

const NO_BATCH = { 404: 'There is no such batch for this key.' };
const DESCRIBED: Readonly<Record<string, RouteDescription>> = {
  '/batches/{batchId}/scores.tsv': {
    summary: 'All tasks of a batch with their scores, the best first',
    type: TYPES.tsv,
    isPrivate: true,
    others: NO_BATCH,
  },
  '/batches/{batchId}/results.zip': {
    summary: 'Results and structures of all folded tasks of a batch, with a manifest',
    type: TYPES.zip,
    isPrivate: true,
    others: { ...NO_BATCH, 409: 'No task has a result yet.', 410: 'The results have expired.' },
  },
};

const fileHeaders = (name: string, ending: keyof typeof TYPES): Record<string, string> => ({
  'content-type': ending === 'tsv' ? `${TYPES.tsv}; charset=utf-8` : TYPES.zip,
  'content-disposition': attachment(name, ending),
  'cache-control': 'private, no-store',
  vary: 'authorization',
});

const tooManyArchives = (): Response =>
  textResponse(
    429,
    `${MAX_ARCHIVES} archives of yours are being written. Ask again when one of them has ended.`,
    { 'retry-after': '30' },
  );

async function answer(
  ctx: GatewayContext,
  batchId: string,
  file: string,
  archives: ConcurrencyQuota,
): Promise<RouteAnswer> {
  const all = await readAllTasks(ctx, batchId);
  if (all === null) return textResponse(404, NO_BATCH[404]);
  const [tasks, submitted] = await Promise.all([listTasks(ctx, all.tasks), ctx.submissions.batch(batchId)]);
  const name = submitted?.label || batchId;
  if (file === 'scores.tsv') {
    const scores = await loadAllScores(ctx, batchId, tasks);
    const table = scoreTable(tasks.map((task) => toScored(task, scores.get(task.taskId))));
    return new Response(table, { headers: fileHeaders(`${name}-scores`, 'tsv') });
  }
  const counts = readCounts(all.page.counts);
  if (counts.done === 0)
    return textResponse(
      409,
      `No task of this batch is done: ${counts.queued + counts.inProgress} may follow.`,
    );
  if (!tasks.some(({ status }) => status === 'DONE'))
    return textResponse(410, 'The results have expired: the service keeps results for 31 days.');
  const release = archives.acquire(ctx.principal ?? 'anonymous');
  if (release === null) return tooManyArchives();
  // The archive lasts as long as the caller stays, however slow it is.
  const lasting = { ...ctx.upstream, signal: ctx.clientSignal };
  const batches = createBatchReader(lasting, ctx.owned);
  const folds = createFoldResults(lasting, batches, ctx.submissions);
  const about = { batchId, label: submitted?.label ?? null, writtenAt: new Date().toISOString(), counts };
  const body = Readable.from(writeBatchArchive({ folds, onFailure: lasting.onFailure }, tasks, about), {
    highWaterMark: 1,
  });
  // Also when it fails, or is cancelled before its first piece.
  body.once('close', release);
  return { status: 200, headers: fileHeaders(name, 'zip'), body };
}

export function batchRoutes(open: (request: Request) => Promise<GatewayContext>): Route {
  const archives = createConcurrencyQuota(MAX_ARCHIVES);
  return {
    path: /^\/batches\/([^/]+)\/(results\.zip|scores\.tsv)$/,
    described: DESCRIBED,
    async answer({ request, parts: [batchId = '', file = ''] }) {
      const id = decodeId(batchId);
      return id === null
        ? textResponse(400, 'The batch id cannot be read.')
        : answer(await open(request), id, file, archives);
    },
  };
}
