// GET /batches/{batchId}/scores.tsv: all tasks in an order, best ipTM first by default. GET
// /batches/{batchId}/results.zip: results and structures of all finished tasks, or of the best,
// with a manifest, written while they are read.
import { Readable } from 'node:stream';
import type { GatewayContext } from '../../context.ts';
import { loadAllScores } from '../../resolvers/folds/scores/batch-scores.ts';
import { scoreTable } from '../../resolvers/folds/scores/score-table.ts';
import { isTaskOrder, TASK_ORDERS } from '../../resolvers/folds/scores/task-order.ts';
import { readAllTasks } from '../../resolvers/folds/tasks/all-tasks.ts';
import type { TaskOrderName } from '../../schema/task.ts';
import { MAX_TASKS } from '../../submission/check.ts';
import { createBatchReader } from '../../upstream/folds/batch-reader.ts';
import { readCounts } from '../../upstream/folds/batch-states.ts';
import { createFoldResults } from '../../upstream/folds/fold-results.ts';
import { type ConcurrencyQuota, createConcurrencyQuota } from '../access/concurrency-quota.ts';
import type { Exchange, HttpResponse } from '../exchange.ts';
import { listTasks, selectBest, toScored, writeBatchArchive } from './batch-archive.ts';
import type { Parameter, RouteDescription } from './description.ts';
import { attachment, decodeId, textResponse } from './responses.ts';
import type { Route } from './route.ts';

const TYPES = { zip: 'application/zip', tsv: 'text/tab-separated-values' } as const;
/**
 * Archives of one caller that a process writes at the same time: each holds two results in memory.
 */
const MAX_ARCHIVES = 4;

const ORDER_BY: Parameter = {
  description:
    'The order of the table, and of what `best` counts; tasks without its score have no rank and stand last.',
  example: 'IPSAE',
  schema: { enum: TASK_ORDERS, default: 'IPTM' },
};
const BEST: Parameter = {
  description:
    'Only files of this many tasks, the first in the order; a task without its score is none of them.',
  example: '10',
  schema: { type: 'integer', minimum: 1, maximum: MAX_TASKS },
};
const WRONG = { 400: 'A wrong parameter.' };
const NO_BATCH = { 404: 'There is no such batch for this key.' };
const DESCRIBED: Readonly<Record<string, RouteDescription>> = {
  '/batches/{batchId}/scores.tsv': {
    summary: 'All tasks of a batch with their scores, the best first',
    type: TYPES.tsv,
    isPrivate: true,
    query: { orderBy: ORDER_BY },
    others: { ...WRONG, ...NO_BATCH },
  },
  '/batches/{batchId}/results.zip': {
    summary: 'Results and structures of all folded tasks of a batch, with a manifest',
    type: TYPES.zip,
    isPrivate: true,
    query: { best: BEST, orderBy: ORDER_BY },
    others: {
      ...WRONG,
      ...NO_BATCH,
      409: 'No task has a result, or the score of the order.',
      410: 'The results have expired.',
    },
  },
};

const NO_SCORES = 'No task of this batch has scores.';
/** Why no task has the score of an order. */
const NO_SCORE: Partial<Record<TaskOrderName, string>> = {
  IPTM: 'No task of this batch has an ipTM: single chains have none. Give `orderBy=PTM` or `PLDDT`.',
  IPSAE:
    'No task of this batch has an ipSAE: it needs two chains and `includePae`. Give `orderBy=IPTM` or `PLDDT`.',
};

const fileHeaders = (name: string, ending: keyof typeof TYPES): Record<string, string> => ({
  'content-type': ending === 'tsv' ? `${TYPES.tsv}; charset=utf-8` : TYPES.zip,
  'content-disposition': attachment(name, ending),
  'cache-control': 'private, no-store',
  vary: 'authorization',
});

const tooManyArchives = (): HttpResponse =>
  textResponse(
    429,
    `${MAX_ARCHIVES} archives of yours are being written. Ask again when one of them has ended.`,
    { 'retry-after': '30' },
  );

/** The selection that a request makes from a batch; `best` is null for all. */
interface Choice {
  readonly order: TaskOrderName;
  readonly best: number | null;
}

/** Reads the parameters; a sentence where one is wrong. */
function readChoice({ searchParams }: URL): Choice | string {
  for (const name of new Set(searchParams.keys()))
    if (searchParams.getAll(name).length > 1) return `Give \`${name}\` once.`;
  const order = searchParams.get('orderBy') ?? 'IPTM';
  if (!isTaskOrder(order)) return `\`orderBy\` is one of ${TASK_ORDERS.join(', ')}.`;
  const best = searchParams.get('best');
  if (best === null) return { order, best };
  const isCount = /^[1-9]\d{0,3}$/.test(best) && Number(best) <= MAX_TASKS;
  return isCount ? { order, best: Number(best) } : `\`best\` is a whole number from 1 to ${MAX_TASKS}.`;
}

async function answer(
  ctx: GatewayContext,
  batchId: string,
  { file, order, best }: Choice & { readonly file: string },
  archives: ConcurrencyQuota,
): Promise<HttpResponse> {
  const all = await readAllTasks(ctx, batchId);
  if (all === null) return textResponse(404, NO_BATCH[404]);
  const [tasks, submitted] = await Promise.all([listTasks(ctx, all.tasks), ctx.submissions.batch(batchId)]);
  const name = submitted?.label || batchId;
  if (file === 'scores.tsv') {
    const scores = await loadAllScores(ctx, batchId, tasks);
    const rows = tasks.map((task) => toScored(task, scores.get(task.taskId)));
    const table = scoreTable(rows, order);
    return { status: 200, headers: fileHeaders(`${name}-scores`, 'tsv'), body: table };
  }
  const counts = readCounts(all.page.counts);
  if (counts.done === 0)
    return textResponse(
      409,
      `No task of this batch is done: ${counts.queued + counts.inProgress} may follow.`,
    );
  if (!tasks.some(({ status }) => status === 'DONE'))
    return textResponse(410, 'The results have expired: the service keeps results for 31 days.');
  const selection =
    best === null
      ? { order, leftOut: new Map() }
      : selectBest(tasks, await loadAllScores(ctx, batchId, tasks), { order, best });
  if (selection.leftOut.size === tasks.length) return textResponse(409, NO_SCORE[order] ?? NO_SCORES);
  const release = archives.acquire(ctx.principal ?? 'anonymous');
  if (release === null) return tooManyArchives();
  // The archive lasts as long as the caller stays, however slow it is.
  const lasting = { ...ctx.upstream, signal: ctx.clientSignal };
  const batches = createBatchReader(lasting, ctx.owned);
  const folds = createFoldResults(lasting, batches, ctx.submissions);
  const about = {
    ...{ batchId, label: submitted?.label ?? null, writtenAt: new Date().toISOString(), counts },
    ...(best === null ? {} : { best, orderBy: order }),
  };
  const source = { folds, onFailure: lasting.onFailure };
  const body = Readable.from(writeBatchArchive(source, tasks, selection, about), { highWaterMark: 1 });
  // Also when it fails, or is cancelled before its first piece.
  body.once('close', release);
  // Files of the best stand beside that of all.
  const fileName = best === null ? name : `${name}-best-${best}-by-${order}`;
  return { status: 200, headers: fileHeaders(fileName, 'zip'), body };
}

export function batchRoutes(open: (exchange: Exchange) => Promise<GatewayContext>): Route {
  const archives = createConcurrencyQuota(MAX_ARCHIVES);
  return {
    path: /^\/batches\/([^/]+)\/(results\.zip|scores\.tsv)$/,
    described: DESCRIBED,
    async answer({ exchange, url, parts: [batchId = '', file = ''] }) {
      const id = decodeId(batchId);
      if (id === null) return textResponse(400, 'The batch id cannot be read.');
      const choice = readChoice(url);
      if (typeof choice === 'string') return textResponse(400, choice);
      return answer(await open(exchange), id, { ...choice, file }, archives);
    },
  };
}
