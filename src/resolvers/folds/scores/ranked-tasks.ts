// A page of all tasks of a batch, filtered by states and scores, ordered by name or by score. Tasks
// change their state between two requests, so a cursor is a place in the order of all tasks.
import * as z from 'zod';
import type { GatewayContext } from '../../../context.ts';
import { badInput } from '../../../schema/scalars.ts';
import type { TaskOrderName, TaskStatusName } from '../../../schema/task.ts';
import type { TaskScores } from '../../../store/ledger/ledger.ts';
import { connectionPage, readCursor, writeCursor } from '../../relay/connection.ts';
import { type PlacedTask, readAllTasks } from '../tasks/all-tasks.ts';
import { loadStatus } from '../tasks/load-task.ts';
import { findTaskName } from '../tasks/task-shape.ts';
import { loadAllScores, type ScoresById } from './batch-scores.ts';
import { compareSortKeys, isScoreOrder, SORT_KEYS, type SortKey } from './task-order.ts';

export interface TaskListArgs {
  readonly statuses?: readonly TaskStatusName[] | null | undefined;
  readonly minIptm?: number | null | undefined;
  readonly minIpsae?: number | null | undefined;
  readonly orderBy?: TaskOrderName | null | undefined;
  readonly first?: number | null | undefined;
  readonly after?: string | null | undefined;
}

/** Whether the answer needs the scores of all finished tasks. */
export const needsScores = ({ orderBy, minIptm, minIpsae }: TaskListArgs): boolean =>
  minIptm != null || minIpsae != null || (orderBy != null && isScoreOrder(orderBy));

/** Whether the answer needs all tasks, and not only a page of List. */
export const needsAllTasks = (args: TaskListArgs): boolean =>
  needsScores(args) || args.orderBy === 'NAME' || args.statuses != null;

/** A place in an order: what was compared, and the position in the batch. */
interface Place {
  readonly key: SortKey;
  readonly index: number;
}

const comparePlaces = (a: Place, b: Place): number => compareSortKeys(a.key, b.key) || a.index - b.index;

/** A cursor holds the place itself: tasks that finish meanwhile never repeat or move those seen. */
const placeCursor = z.strictObject({
  filter: z.string(),
  key: z.array(z.number().or(z.string()).nullable()).max(2),
  index: z.int().min(0),
});

const describeFilter = ({ minIptm, minIpsae, orderBy, statuses }: TaskListArgs): string =>
  JSON.stringify([
    orderBy ?? 'INDEX',
    minIptm ?? null,
    minIpsae ?? null,
    statuses == null ? null : [...statuses].sort(),
  ]);

/** Whether scores are as good as was asked for. */
const isGoodEnough = (scores: TaskScores | null, { minIptm, minIpsae }: TaskListArgs): boolean =>
  (minIptm == null || (scores?.iptm ?? -1) >= minIptm) &&
  (minIpsae == null || (scores?.chainPairs[0]?.ipsaeMax ?? -1) >= minIpsae);

async function selectTasks(
  ctx: GatewayContext,
  tasks: readonly PlacedTask[],
  { statuses }: TaskListArgs,
): Promise<readonly PlacedTask[]> {
  if (statuses == null) return tasks;
  const all = await Promise.all(tasks.map((task) => loadStatus(ctx, task)));
  return tasks.filter((_, i) => statuses.includes(all[i] ?? 'UNKNOWN'));
}

/**
 * Reads where the page begins.
 *
 * @throws GraphQLError BAD_USER_INPUT for a cursor of another filter
 */
function readStart(args: TaskListArgs, filter: string): Place | null {
  return args.after == null ? null : readCursor(placeCursor, args.after, (place) => place.filter === filter);
}

/**
 * A page of all tasks of a batch, in an order and behind filters that List does not have. At most
 * three List calls, and with scores two calls for each finished task whose scores are not stored.
 *
 * @returns null for an unknown batch
 * @throws GraphQLError BAD_USER_INPUT for wrong arguments or a foreign cursor
 * @throws UpstreamError as `loadAllScores`
 */
export async function rankedPage(ctx: GatewayContext, batchId: string, args: TaskListArgs, size: number) {
  const { orderBy } = args;
  for (const name of ['minIptm', 'minIpsae'] as const) {
    const least = args[name];
    if (least != null && !(least >= 0 && least <= 1)) throw badInput(`\`${name}\` must be between 0 and 1.`);
  }
  if (args.statuses?.length === 0) throw badInput('`statuses` is empty. Name at least one, such as DONE.');
  const filter = describeFilter(args);
  const start = readStart(args, filter);
  const all = await readAllTasks(ctx, batchId);
  if (all === null) return null;
  const selected = await selectTasks(ctx, all.tasks, args);
  const scores: ScoresById = needsScores(args) ? await loadAllScores(ctx, batchId, selected) : new Map();
  const names = orderBy === 'NAME' ? await Promise.all(selected.map((task) => findTaskName(ctx, task))) : [];
  const ranked = selected
    .map((task, i) => {
      const found = scores.get(task.taskId);
      const own = typeof found === 'object' ? found : null;
      const key = SORT_KEYS[orderBy ?? 'INDEX'](names[i] ?? null, own);
      return { task, key, index: task.index, own };
    })
    .filter(({ own }) => isGoodEnough(own, args))
    .sort(comparePlaces);
  const rest = start === null ? ranked : ranked.filter((one) => comparePlaces(one, start) > 0);
  const edges = rest
    .slice(0, size)
    .map(({ task, key, index }) => ({ cursor: writeCursor({ filter, key, index }), node: task }));
  const more = { hasNextPage: rest.length > size, hasPreviousPage: rest.length < ranked.length };
  return {
    ...connectionPage(ranked.length, edges, more),
    unscoredCount: [...scores.values()].filter((one) => typeof one === 'string').length,
  };
}
