// The scores of all done tasks of a batch. They are read once from each result and stored, so that
// only the first ranking of a batch downloads.
import { createConcurrencyLimit } from '../../../async/concurrency-limit.ts';
import type { GatewayContext } from '../../../context.ts';
import type { TaskShape } from '../../../schema/task.ts';
import type { TaskScores } from '../../../store/ledger/ledger.ts';
import { MAX_TASKS } from '../../../submission/check.ts';
import { UpstreamError } from '../../../upstream/errors.ts';
import { missingResult, RefusedResultError } from '../../../upstream/folds/fold-errors.ts';

/** Calls that read the scores of all tasks: Status and a download for each. */
export const SCORE_CALLS = 2 * MAX_TASKS;
const MAX_CONCURRENT = 8;

/** Scores by task id; a sentence for a result whose scores cannot be read. */
export type ScoresById = Map<string, TaskScores | string>;

const NEVER_READ = 'The result has expired, and its scores were not read in time.';

/**
 * Reads and stores the scores of a done task; a sentence, or the refusal of its file, where it has
 * none.
 *
 * @throws UpstreamError for a failure that concerns more than this task
 */
async function readScores(
  ctx: GatewayContext,
  { taskId, result }: TaskShape,
): Promise<TaskScores | string | RefusedResultError> {
  if (result === 'expired') return NEVER_READ;
  try {
    const scores = await ctx.folds.scores(taskId);
    if (scores !== null) return scores;
    ctx.upstream.onFailure?.(missingResult());
    return 'The task is done, and there is no result.';
  } catch (error) {
    if (!(error instanceof UpstreamError)) throw error;
    const { code } = error.failure;
    if (code === 'RESULT_EXPIRED') return NEVER_READ;
    const isOfTask = error instanceof RefusedResultError || code === 'UPSTREAM_DRIFT';
    if (!isOfTask) throw error;
    ctx.upstream.onFailure?.(error);
    return error instanceof RefusedResultError ? error : error.message;
  }
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
  async function download(task: TaskShape): Promise<void> {
    if (failure !== undefined) return;
    try {
      const scores = await readScores(ctx, task);
      if (scores instanceof RefusedResultError) refused.set(task.taskId, scores);
      else found.set(task.taskId, scores);
    } catch (error) {
      failure = error;
    }
  }
  await Promise.all(tasks.map((task) => limited(() => download(task))));
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
