// All tasks of a batch, and the scores of those that are done. Scores are read once from each result
// and stored, so that only the first ranking of a batch downloads.
import { createConcurrencyLimit } from '../../async/concurrency-limit.ts';
import type { GatewayContext } from '../../context.ts';
import type { TaskShape } from '../../schema/task.ts';
import type { TaskScores } from '../../store/ledger/ledger.ts';
import { listPages } from '../../upstream/batch.ts';
import { UpstreamError } from '../../upstream/errors.ts';
import { RefusedResultError } from '../../upstream/folds/fold-errors.ts';
import type { BatchPage } from '../../upstream/wire.ts';
import { toTasks } from './task-shape.ts';

/** Tasks of the largest batch (spec, section Limits). */
const MAX_TASKS = 2000;
/** List calls that read all tasks: two full pages, and one more that may be empty. */
export const LIST_CALLS = 3;
/** Calls that read the scores of all tasks: Status and a download for each. */
export const SCORE_CALLS = 2 * MAX_TASKS;
const MAX_CONCURRENT = 8;

/** A task with its position, which List's order gives when its id does not. */
export type PlacedTask = TaskShape & { readonly index: number };

export interface AllTasks {
  readonly page: BatchPage;
  /** As submitted. */
  readonly tasks: readonly PlacedTask[];
}

/** Reads all tasks of a batch by List; null for an unknown batch. */
export async function readAllTasks(ctx: GatewayContext, batchId: string): Promise<AllTasks | null> {
  const tasks: PlacedTask[] = [];
  let last: BatchPage | null = null;
  for await (const { page, items, before } of listPages((request) => ctx.batches.page(batchId, request))) {
    if (page === null) return null;
    for (const [i, task] of toTasks(batchId, page, items).entries())
      tasks.push({ ...task, index: task.index ?? before + i });
    last = page;
  }
  return last && { page: last, tasks: tasks.sort((a, b) => a.index - b.index) };
}

/** Scores by task id; a sentence for a result whose scores cannot be read. */
export type ScoresById = Map<string, TaskScores | string>;

const NEVER_READ = 'The result has expired, and its scores were not read in time.';

/** Why one done task has no scores; undefined for a failure that concerns more than this task. */
function findProblem(error: unknown): string | undefined {
  if (!(error instanceof UpstreamError)) return undefined;
  const { code } = error.failure;
  return code === 'RESULT_EXPIRED' ? NEVER_READ : code === 'UPSTREAM_DRIFT' ? error.message : undefined;
}

/** Tells how far a reading came before it failed; the scores read so far are stored. */
function toIncomplete(failure: unknown, readCount: number, taskCount: number): unknown {
  const isTimeout = failure instanceof Error && failure.name === 'TimeoutError';
  if (!isTimeout && !(failure instanceof UpstreamError)) return failure;
  const begin = `Scores of ${readCount} of ${taskCount} finished tasks were read; ask again for the rest.`;
  return failure instanceof UpstreamError
    ? new UpstreamError(`${begin} ${failure.message}`, failure.failure, { cause: failure })
    : new UpstreamError(
        `${begin} The request took longer than it may.`,
        { operation: 'download', code: 'UPSTREAM_TIMEOUT', retryable: true },
        { cause: failure },
      );
}

/** Reads and stores scores. @param hasOthers - whether other results were read before */
async function downloadScores(
  ctx: GatewayContext,
  tasks: readonly TaskShape[],
  hasOthers: boolean,
): Promise<ScoresById> {
  const found: ScoresById = new Map();
  const refused = new Map<string, RefusedResultError>();
  const limited = createConcurrencyLimit(MAX_CONCURRENT);
  let failure: unknown;
  const read = async ({ taskId, result }: TaskShape): Promise<void> => {
    if (failure !== undefined) return;
    try {
      const scores = result === 'expired' ? NEVER_READ : await ctx.folds.scores(taskId);
      found.set(taskId, scores ?? 'The task is done, and there is no result.');
    } catch (error) {
      const problem = findProblem(error);
      if (error instanceof RefusedResultError) refused.set(taskId, error);
      else if (problem === undefined) failure = error;
      else found.set(taskId, problem);
    }
  };
  await Promise.all(tasks.map((task) => limited(() => read(task))));
  // A store that refuses every result is a failure; one that refuses some has lost them.
  const canRead = hasOthers || [...found.values()].some((scores) => typeof scores !== 'string');
  for (const [taskId, error] of refused) {
    if (canRead) found.set(taskId, error.message);
    else failure ??= error;
  }
  if (failure !== undefined) throw toIncomplete(failure, found.size, tasks.length);
  return found;
}

/**
 * Scores of the done tasks among these. Stored ones cost nothing; each other costs one Status call
 * and one download. Requests that need scores of one batch at the same time read each result once.
 *
 * @throws UpstreamError when results cannot be read at present; what was read is stored
 */
export async function loadAllScores(
  ctx: GatewayContext,
  batchId: string,
  tasks: readonly TaskShape[],
): Promise<ScoresById> {
  const { ledger, principal } = ctx.submissions;
  const done = tasks.filter(({ state }) => state === 'DONE');
  const ids = done.map(({ taskId }) => taskId);
  for (;;) {
    const found: ScoresById = new Map(await ledger.scores(principal, ids));
    const missing = done.filter(({ taskId }) => !found.has(taskId));
    if (missing.length === 0) return found;
    let downloading: Promise<ScoresById> | undefined;
    const download = () => {
      downloading = downloadScores(ctx, missing, found.size > 0);
      return downloading;
    };
    const flight = ctx.services.scoreReads(`${principal} ${batchId}`, ctx.upstream.signal, download);
    await flight.catch(() => undefined);
    if (downloading !== undefined) return new Map([...found, ...(await downloading)]);
    // Another request has stored what it needed.
    ctx.upstream.signal?.throwIfAborted();
  }
}
