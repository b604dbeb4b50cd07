// GET /batches/{batchId}/scores.tsv: all tasks, best ipTM first. GET /batches/{batchId}/results.zip:
// results and structures of all finished tasks with a manifest, written while they are read.
import { Readable } from 'node:stream';
import type { GatewayContext } from '../../context.ts';
import { loadAllScores, type PlacedTask, readAllTasks } from '../../resolvers/folds/all-tasks.ts';
import { loadStatus, loadTaskError } from '../../resolvers/folds/load-task.ts';
import { fileNames, roundedScores, type ScoredTask, scoreTable } from '../../resolvers/folds/score-table.ts';
import { findInput } from '../../resolvers/folds/task-shape.ts';
import type { TaskErrorShape } from '../../schema/task.ts';
import type { TaskScores } from '../../store/ledger/ledger.ts';
import { writeFoldFile } from '../../structure/fold/files.ts';
import { UpstreamError } from '../../upstream/errors.ts';
import { createBatchReader } from '../../upstream/folds/batch-reader.ts';
import { readCounts } from '../../upstream/folds/batch-states.ts';
import { createFoldResults, type FoldResults } from '../../upstream/folds/fold-results.ts';
import { type ConcurrencyQuota, createConcurrencyQuota } from '../limits/concurrency-quota.ts';
import { attachment, decodeId, textResponse } from './responses.ts';
import type { Route, RouteAnswer } from './route.ts';
import { createZipWriter } from './zip-writer.ts';

const TYPES = { zip: 'application/zip', tsv: 'text/tab-separated-values; charset=utf-8' } as const;
/** Archives of one caller that a process writes at the same time: each holds two results in memory. */
const MAX_ARCHIVES = 4;
/** Results that are read before the one that is being written has left. */
const READ_AHEAD = 1;

/** A task with its name, its place in the input, and the names of its files. */
type ListedTask = PlacedTask & Omit<ScoredTask, keyof PlacedTask | 'scores' | 'problem'>;

/** The reason of a failure that Status does not give at present. */
function unreadError(cause: unknown): TaskErrorShape {
  if (!(cause instanceof UpstreamError)) throw cause;
  return { code: null, message: `Why it failed cannot be read: ${cause.message}`, raw: null };
}

async function listedTasks(ctx: GatewayContext, tasks: readonly PlacedTask[]): Promise<ListedTask[]> {
  const named = await Promise.all(
    tasks.map(async (task) => {
      const { item = null, inputIndex = null, repeatIndex = null } = (await findInput(ctx, task)) ?? {};
      const error = await loadTaskError(ctx, task).catch(unreadError);
      const status = await loadStatus(ctx, task);
      return { ...task, status, error, name: item?.name ?? null, inputIndex, repeatIndex };
    }),
  );
  const files = fileNames(named);
  return named.map((task, i) => ({ ...task, file: task.status === 'DONE' ? (files[i] ?? null) : null }));
}

const scored = (task: ListedTask, scores: TaskScores | string | undefined): ScoredTask => ({
  ...task,
  scores: typeof scores === 'object' ? scores : null,
  problem: typeof scores === 'string' ? scores : (task.error?.message ?? null),
});

const fileHeaders = (name: string, ending: keyof typeof TYPES): Record<string, string> => ({
  'content-type': TYPES[ending],
  'content-disposition': attachment(name, ending),
  'cache-control': 'private, no-store',
  vary: 'authorization',
});

/** What of a task stands in the archive. */
interface ArchivedTask {
  readonly task: ListedTask;
  readonly files: readonly (readonly [name: string, content: Uint8Array])[];
  readonly scores: TaskScores | string | undefined;
  readonly problem: string | null;
}

/** Reads the files of a task. Never rejects: what fails is told in the manifest. */
async function readTask(folds: FoldResults, task: ListedTask): Promise<ArchivedTask> {
  const { file } = task;
  if (file === null) return { task, files: [], scores: undefined, problem: task.error?.message ?? null };
  const failed = (problem: string): ArchivedTask => ({ task, files: [], scores: problem, problem });
  try {
    const whole = await folds.read(task.taskId);
    if (whole === null) return failed('The task is done, and there is no result.');
    const { bytes, fold, scores } = whole;
    const cif = writeFoldFile(fold, 'MMCIF');
    const result = [`${file}.json`, bytes] as const;
    const files = cif.ok ? [result, [`${file}.cif`, new TextEncoder().encode(cif.text)] as const] : [result];
    return { task, files, scores, problem: cif.ok ? null : cif.reason };
  } catch (error) {
    if (error instanceof UpstreamError) return failed(error.message);
    throw error;
  }
}

/** The files of the tasks in order, one read ahead of the one that is written. */
async function* inOrder(folds: FoldResults, tasks: readonly ListedTask[]): AsyncGenerator<ArchivedTask> {
  const reading: Promise<ArchivedTask>[] = [];
  for (const task of tasks) {
    const next = readTask(folds, task);
    // A client that leaves does not wait for it.
    next.catch(() => undefined);
    reading.push(next);
    if (reading.length > READ_AHEAD) yield (await reading.shift()) as ArchivedTask;
  }
  for (const last of reading) yield await last;
}

/** A line of the manifest. */
const manifestEntry = ({ task, files, scores, problem }: ArchivedTask) => ({
  taskId: task.taskId,
  index: task.index,
  name: task.name,
  inputIndex: task.inputIndex,
  repeatIndex: task.repeatIndex,
  status: task.status,
  files: files.map(([name, content]) => ({ name, bytes: content.byteLength })),
  scores: typeof scores === 'object' ? roundedScores(scores) : null,
  problem,
});

/** The archive: files of each task, then the table of scores and the manifest of what is in it. */
async function* archive(
  folds: FoldResults,
  tasks: readonly ListedTask[],
  about: Readonly<Record<string, unknown>>,
): AsyncGenerator<Uint8Array> {
  const zip = createZipWriter();
  const rows: ScoredTask[] = [];
  const listed: ReturnType<typeof manifestEntry>[] = [];
  for await (const one of inOrder(folds, tasks)) {
    for (const [name, content] of one.files) yield* await zip.entry(name, content);
    listed.push(manifestEntry(one));
    rows.push({ ...scored(one.task, one.scores), file: one.files.length === 0 ? null : one.task.file });
  }
  const isComplete = listed.every(({ status, problem }) => status !== 'DONE' || problem === null);
  const manifest = JSON.stringify({ ...about, isComplete, tasks: listed }, null, 1);
  yield* await zip.entry('scores.tsv', Buffer.from(scoreTable(rows)));
  yield* await zip.entry('manifest.json', Buffer.from(manifest));
  yield zip.end();
}

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
  if (all === null) return textResponse(404, 'There is no such batch for this key.');
  const [tasks, kept] = await Promise.all([listedTasks(ctx, all.tasks), ctx.submissions.batch(batchId)]);
  const name = kept?.label || batchId;
  if (file === 'scores.tsv') {
    const scores = await loadAllScores(ctx, batchId, tasks);
    const table = scoreTable(tasks.map((task) => scored(task, scores.get(task.taskId))));
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
  const release = archives.take(ctx.principal ?? 'anonymous');
  if (release === null) return tooManyArchives();
  // The archive lasts as long as the caller stays, however slow it is.
  const lasting = { ...ctx.upstream, signal: ctx.clientSignal };
  const batches = createBatchReader(lasting, ctx.owned);
  const folds = createFoldResults(lasting, ctx.services.downloads, batches, ctx.submissions);
  const about = { batchId, label: kept?.label ?? null, writtenAt: new Date().toISOString(), counts };
  const body = Readable.from(archive(folds, tasks, about), { highWaterMark: 1 });
  // When it ends, fails or is left, also before its first piece.
  body.once('close', release);
  return { status: 200, headers: fileHeaders(name, 'zip'), body };
}

export function batchRoutes(open: (request: Request) => Promise<GatewayContext>): Route {
  const archives = createConcurrencyQuota(MAX_ARCHIVES);
  return {
    path: /^\/batches\/([^/]+)\/(results\.zip|scores\.tsv)$/,
    async answer({ request, parts: [batchId = '', file = ''] }) {
      const id = decodeId(batchId);
      return id === null
        ? textResponse(400, 'The batch id cannot be read.')
        : answer(await open(request), id, file, archives);
    },
  };
}
