// All tasks of a batch at once: filtered by states and scores, ordered by name or by score. Scores
// are read once from each result and stored, so only the first ranking of a batch downloads.
import pLimit from 'p-limit';
import { z } from 'zod';
import { abortable } from '../../async/single-flight.ts';
import type { GatewayContext } from '../../context.ts';
import { badInput } from '../../schema/scalars.ts';
import type { TaskOrderName, TaskShape, TaskStatusName } from '../../schema/task.ts';
import type { TaskScores } from '../../store/ledger/ledger.ts';
import { listPages } from '../../upstream/batch.ts';
import { UpstreamError } from '../../upstream/errors.ts';
import { RefusedResultError } from '../../upstream/folds/fold-errors.ts';
import type { BatchPage } from '../../upstream/wire.ts';
import { connectionPage, readCursor, writeCursor } from '../relay/connection.ts';
import { nameOfTask, tasksOf } from './task-shape.ts';
import { taskStatus } from './task-status.ts';

/** Tasks of the largest batch (spec, section Limits). */
const MAX_TASKS = 2000;
/** List calls that read all tasks: two full pages, and one more that may be empty. */
export const LIST_CALLS = 3;
/** Calls that read the scores of all tasks: Status and a download for each. */
export const SCORE_CALLS = 2 * MAX_TASKS;
const AT_ONCE = 8;

/** A task with its position, which List's order gives where its id does not. */
export type PlacedTask = TaskShape & { readonly index: number };

/** What List says of a batch and, as submitted, of each of its tasks; null for an unknown batch. */
export async function readAllTasks(
  ctx: GatewayContext,
  batchId: string,
): Promise<{ readonly page: BatchPage; readonly tasks: readonly PlacedTask[] } | null> {
  const tasks: PlacedTask[] = [];
  let last: BatchPage | null = null;
  for await (const { page, items, before } of listPages((request) => ctx.batches.page(batchId, request))) {
    if (page === null) return null;
    for (const [i, task] of tasksOf(batchId, page, items).entries())
      tasks.push({ ...task, index: task.index ?? before + i });
    last = page;
  }
  return last && { page: last, tasks: tasks.sort((a, b) => a.index - b.index) };
}

/** The time of the request is up, as often for a first ranking of many results. */
const timeIsUp = (): UpstreamError =>
  new UpstreamError('The request took longer than it may.', {
    operation: 'download',
    code: 'UPSTREAM_TIMEOUT',
    retryable: true,
  });

const NEVER_READ = 'The result has expired, and its scores were not read in time.';

/** Why one done task has no scores; undefined for a failure of more than this task. */
function problemOf(error: unknown): string | undefined {
  if (!(error instanceof UpstreamError)) return undefined;
  const { code } = error.failure;
  return code === 'RESULT_EXPIRED' ? NEVER_READ : code === 'UPSTREAM_DRIFT' ? error.message : undefined;
}

/** Reads and stores scores. @param hasOthers - whether other results were read before */
async function readMissing(
  ctx: GatewayContext,
  tasks: readonly TaskShape[],
  hasOthers: boolean,
): Promise<Map<string, TaskScores | string>> {
  const found = new Map<string, TaskScores | string>();
  const refused = new Map<string, RefusedResultError>();
  const limited = pLimit(AT_ONCE);
  let failure: unknown;
  const read = async ({ taskId, result }: TaskShape): Promise<void> => {
    if (failure !== undefined) return;
    try {
      const scores = result === 'expired' ? NEVER_READ : await ctx.folds.scores(taskId);
      found.set(taskId, scores ?? 'The task is done, and there is no result.');
    } catch (error) {
      const problem = problemOf(error);
      if (error instanceof RefusedResultError) refused.set(taskId, error);
      else if (problem === undefined) failure = error;
      else found.set(taskId, problem);
    }
  };
  await Promise.all(tasks.map((task) => limited(read, task)));
  // A store that refuses every result is a failure; one that refuses some has lost them.
  const isRead = hasOthers || [...found.values()].some((scores) => typeof scores !== 'string');
  for (const [taskId, error] of refused)
    if (isRead) found.set(taskId, error.message);
    else failure ??= error;
  if (failure === undefined) return found;
  const known = failure instanceof Error && failure.name === 'TimeoutError' ? timeIsUp() : failure;
  if (!(known instanceof UpstreamError)) throw failure;
  const message =
    `Scores of ${found.size} of ${tasks.length} finished tasks were read; ask again for the rest. ` +
    known.message;
  throw new UpstreamError(message, known.failure, { cause: failure });
}

/**
 * Scores of the done tasks among these. Stored ones cost nothing; each other costs one Status call
 * and one download, once: of requests that need them at the same time, one reads, and the others
 * wait for what it stores.
 *
 * @returns by task id; a sentence for a result without scores that can be read
 * @throws UpstreamError when results cannot be read at present; what was read is stored
 */
export async function readScores(
  ctx: GatewayContext,
  batchId: string,
  tasks: readonly TaskShape[],
): Promise<Map<string, TaskScores | string>> {
  const { scoreReads } = ctx.services;
  const { ledger, principal } = ctx.submissions;
  const done = tasks.filter(({ state }) => state === 'DONE');
  const ids = done.map(({ taskId }) => taskId);
  const key = `${principal} ${batchId}`;
  for (;;) {
    const found = new Map<string, TaskScores | string>(await ledger.scores(principal, ids));
    const missing = done.filter(({ taskId }) => !found.has(taskId));
    if (missing.length === 0) return found;
    const other = scoreReads.get(key);
    if (other === undefined) {
      const reading = readMissing(ctx, missing, found.size > 0).finally(() => scoreReads.delete(key));
      scoreReads.set(key, reading);
      for (const [taskId, scores] of await reading) found.set(taskId, scores);
      return found;
    }
    await abortable(
      other.catch(() => undefined),
      ctx.upstream.signal,
    );
  }
}

export interface TaskListArgs {
  readonly statuses?: readonly TaskStatusName[] | null | undefined;
  readonly minIptm?: number | null | undefined;
  readonly orderBy?: TaskOrderName | null | undefined;
  readonly first?: number | null | undefined;
  readonly after?: string | null | undefined;
}

/** The filter; undefined without one. @throws GraphQLError BAD_USER_INPUT for an empty one */
export function statusesOf({ statuses }: TaskListArgs): readonly TaskStatusName[] | undefined {
  if (statuses?.length === 0) throw badInput('`statuses` is empty. Name at least one, such as DONE.');
  return statuses ?? undefined;
}

/** Whether the answer needs the scores of all finished tasks. */
export const needsScores = ({ orderBy, minIptm }: TaskListArgs): boolean =>
  minIptm != null || (orderBy != null && orderBy !== 'INDEX' && orderBy !== 'NAME');

/** Whether the answer needs all tasks, and not only a page of List. */
export const needsAllTasks = (args: TaskListArgs): boolean =>
  needsScores(args) ||
  args.orderBy === 'NAME' ||
  (args.statuses != null && (new Set(args.statuses).size !== 1 || args.statuses.includes('UNKNOWN')));

type SortKey = readonly (number | string | null)[];

const best = (score: number | null | undefined): number | null => (score == null ? null : -score);

/** What an order compares, one after the other; equal tasks keep the order of submission. */
const SORT_KEYS: Readonly<
  Record<TaskOrderName, (name: string | null, scores: TaskScores | null) => SortKey>
> = {
  INDEX: () => [],
  NAME: (name) => [name],
  IPTM: (_, scores) => [best(scores?.iptm), best(scores?.ptm)],
  PTM: (_, scores) => [best(scores?.ptm)],
  PLDDT: (_, scores) => [best(scores?.meanPlddt)],
};

/** `design-2` stands before `design-10`. */
const { compare: compareText } = new Intl.Collator('en', { numeric: true });

/** Null stands last. */
function compareValues(a: number | string | null, b: number | string | null): number {
  if (a === b) return 0;
  if (a === null || b === null) return a === null ? 1 : -1;
  return typeof a === 'number' && typeof b === 'number' ? a - b : compareText(String(a), String(b));
}

/** A place in an order: what was compared, and the position in the batch. */
interface Place {
  readonly key: SortKey;
  readonly index: number;
}

function comparePlaces(a: Place, b: Place): number {
  for (const [i, value] of a.key.entries()) {
    const order = compareValues(value, b.key[i] ?? null);
    if (order !== 0) return order;
  }
  return a.index - b.index;
}

/** A cursor holds the place itself: tasks that finish meanwhile never repeat or move those seen. */
const placeCursor = z.strictObject({
  filter: z.string(),
  key: z.array(z.number().or(z.string()).nullable()).max(2),
  index: z.int().min(0),
});

const filterOf = ({ minIptm, orderBy, statuses }: TaskListArgs): string =>
  JSON.stringify([orderBy ?? 'INDEX', minIptm ?? null, statuses == null ? null : [...statuses].sort()]);

/** The tasks of a filter. */
async function selectTasks(
  ctx: GatewayContext,
  tasks: readonly PlacedTask[],
  statuses: readonly TaskStatusName[] | undefined,
): Promise<readonly PlacedTask[]> {
  if (statuses === undefined) return tasks;
  const all = await Promise.all(tasks.map((task) => taskStatus(ctx, task)));
  return tasks.filter((_, i) => statuses.includes(all[i] ?? 'UNKNOWN'));
}

/**
 * A page of all tasks of a batch, in an order and behind filters that List does not have. At most
 * three List calls, and with scores two calls for each finished task whose scores are not stored.
 *
 * @returns null for an unknown batch
 * @throws GraphQLError BAD_USER_INPUT for wrong arguments or a foreign cursor
 * @throws UpstreamError as `readScores`
 */
export async function rankedPage(ctx: GatewayContext, batchId: string, args: TaskListArgs, size: number) {
  const { minIptm, orderBy } = args;
  if (minIptm != null && !(minIptm >= 0 && minIptm <= 1))
    throw badInput('`minIptm` must be between 0 and 1.');
  const statuses = statusesOf(args);
  const filter = filterOf(args);
  const from: Place | null =
    args.after == null ? null : readCursor(placeCursor, args.after, (place) => place.filter === filter);
  const all = await readAllTasks(ctx, batchId);
  if (all === null) return null;
  const asked = await selectTasks(ctx, all.tasks, statuses);
  const scores = needsScores(args)
    ? await readScores(ctx, batchId, asked)
    : new Map<string, TaskScores | string>();
  const names = orderBy === 'NAME' ? await Promise.all(asked.map((task) => nameOfTask(ctx, task))) : [];
  const ranked = asked
    .map((task, i) => {
      const found = scores.get(task.taskId);
      const own = typeof found === 'object' ? found : null;
      const key = SORT_KEYS[orderBy ?? 'INDEX'](names[i] ?? null, own);
      return { task, key, index: task.index, iptm: own?.iptm ?? -1 };
    })
    .filter(({ iptm }) => minIptm == null || iptm >= minIptm)
    .sort(comparePlaces);
  const rest = from === null ? ranked : ranked.filter((one) => comparePlaces(one, from) > 0);
  const edges = rest
    .slice(0, size)
    .map(({ task, key, index }) => ({ cursor: writeCursor({ filter, key, index }), node: task }));
  const more = { hasNextPage: rest.length > size, hasPreviousPage: rest.length < ranked.length };
  return {
    ...connectionPage(ranked.length, edges, more),
    unscoredCount: [...scores.values()].filter((one) => typeof one === 'string').length,
  };
}
