// The tasks of a batch: pages of List with cursors that are positions in them, or a ranking of all.
import { z } from 'zod';
import type { GatewayContext } from '../../context.ts';
import type { TaskShape } from '../../schema/task.ts';
import { indexInBatch } from '../../store/ledger/submissions.ts';
import { LARGEST_LIST_PAGE } from '../../upstream/batch.ts';
import {
  filterWord,
  type ItemsRequest,
  readCounts,
  repeatedPage,
} from '../../upstream/folds/batch-states.ts';
import type { ListItem } from '../../upstream/wire.ts';
import { connectionPage, LARGEST_PAGE, readCursor, readPageSize, writeCursor } from '../relay/connection.ts';
import { needsAllTasks, rankedPage, statusesOf, type TaskListArgs } from './ranked-tasks.ts';
import { tasksOf } from './task-shape.ts';
import { taskStatus } from './task-status.ts';

const DEFAULT_PAGE = 100;

/** Where to read on: behind `skip` of the `size` items at the upstream's cursor `at`. */
const position = z.strictObject({
  at: z.string().nullable(),
  size: z.int().min(1).max(LARGEST_PAGE),
  skip: z.int().min(0).max(LARGEST_PAGE),
  /** Items before this position, with the same filter. */
  before: z.int().min(0),
  state: z.string().nullable(),
  /** Index of the task before this position. */
  last: z.int().min(0).optional(),
});
type Position = z.output<typeof position>;

/** @throws GraphQLError BAD_USER_INPUT for a cursor of another filter */
function startOf(args: TaskListArgs): Position {
  const [only] = statusesOf(args) ?? [];
  const state = only === undefined ? null : filterWord(only);
  if (args.after != null) return readCursor(position, args.after, (place) => place.state === state);
  return { at: null, size: Math.max(1, readPageSize(args, DEFAULT_PAGE)), skip: 0, before: 0, state };
}

const requestOf = ({ at, size, state, before, skip }: Position): ItemsRequest => ({
  limit: size,
  cursor: at ?? undefined,
  status: state ?? undefined,
  // Tasks enter and leave a filter: what is known of the first page alone counts.
  before: state === null ? before - skip : undefined,
});

/** Where the items of a page begin that were not seen: of a filter, behind the last one that was. */
function startIn(items: readonly ListItem[], { skip, state, last }: Position, batchId: string): number {
  if (state === null || last === undefined || skip === 0) return skip;
  const indexes = items.map((item) => indexInBatch(item.task_id, batchId) ?? -1);
  const seen = indexes.indexOf(last);
  if (seen >= 0) return seen + 1;
  const next = indexes.findIndex((index) => index > last);
  return next < 0 ? items.length : next;
}

/** The position after so many more items of a page. @param last - index of the last of them */
function itemsAfter(
  { at, size, skip, before, state }: Position,
  more: number,
  last: number | null | undefined,
  page: { readonly items: number; readonly next: string | null; readonly size: number },
): Position {
  const isEnd = skip + more === page.items && page.next !== null;
  const common = { before: before + more, state, last: last ?? undefined };
  if (isEnd) return { at: page.next, size: page.size, skip: 0, ...common };
  return { at, size, skip: skip + more, ...common };
}

/**
 * Whether the tasks of a page are none of the filter: List says done also of expired ones. All results
 * of a batch expire together.
 */
async function isOtherStatus(
  ctx: GatewayContext,
  { statuses }: TaskListArgs,
  tasks: readonly TaskShape[],
): Promise<boolean> {
  const [only] = statuses ?? [];
  const done = tasks.find(({ state }) => state === 'DONE');
  if (done === undefined || (only !== 'DONE' && only !== 'EXPIRED')) return false;
  return (await taskStatus(ctx, done)) !== only;
}

/** Empty pages in a row after which the gateway stops asking for more. */
const MAX_EMPTY_PAGES = 3;

/** The request of the first upstream page of a connection: one call reads existence and page. */
export const firstPage = (args: TaskListArgs): ItemsRequest =>
  needsAllTasks(args) ? { limit: LARGEST_LIST_PAGE, before: 0 } : requestOf(startOf(args));

/** Its cursor is written when it is asked for: most queries need the last one only. */
class TaskEdge {
  readonly node: TaskShape;
  readonly #place: () => Position;

  constructor(node: TaskShape, place: () => Position) {
    this.node = node;
    this.#place = place;
  }
  get cursor(): string {
    return writeCursor(this.#place());
  }
}

/**
 * One page of a batch's tasks. One List call, unless a cursor points into the middle of an upstream
 * page.
 *
 * @returns null for an unknown batch
 * @throws GraphQLError BAD_USER_INPUT for a page size outside 0 to 1000 or a foreign cursor;
 * UpstreamError UPSTREAM_DRIFT when the service sends the same page twice
 */
export async function tasksPage(ctx: GatewayContext, batchId: string, args: TaskListArgs) {
  const wanted = readPageSize(args, DEFAULT_PAGE);
  if (needsAllTasks(args)) return rankedPage(ctx, batchId, args, wanted);
  const size = Math.max(1, wanted);
  let place = startOf(args);
  const { state } = place;
  const hasPreviousPage = place.before > 0;
  const edges: TaskEdge[] = [];

  for (let empty = 0; ; ) {
    const page = await ctx.batches.page(batchId, requestOf(place));
    if (page === null) return null;
    const items = page.items ?? [];
    const next = page.cursor ?? null;
    const total = state === null ? readCounts(page.counts).total : (page.counts[state] ?? 0);
    const answer = (hasNextPage: boolean) => connectionPage(total, edges, { hasNextPage, hasPreviousPage });

    // A page that ends where the one before it ended is that page. Tasks of a filter may have moved.
    const isRepeated = indexInBatch(items.at(-1)?.task_id ?? '', batchId) === place.last;
    if (isRepeated && place.skip === 0 && (state === null || next === place.at)) throw repeatedPage();
    if (await isOtherStatus(ctx, args, tasksOf(batchId, page, items)))
      return connectionPage(0, [], { hasNextPage: false, hasPreviousPage: false });
    const from = { ...place, skip: startIn(items, place, batchId) };
    const taken = tasksOf(batchId, page, items.slice(from.skip, from.skip + wanted - edges.length));
    const unread = items.length - from.skip - taken.length;
    const placeAfter = (more: number) =>
      itemsAfter(from, more, taken[more - 1]?.index, { items: items.length, next, size });
    for (const [i, node] of taken.entries()) edges.push(new TaskEdge(node, () => placeAfter(i + 1)));
    if (taken.length > 0) place = placeAfter(taken.length);
    if (unread > 0) return answer(true);
    // Without a filter the total never changes, so the upstream's last, empty page need not be
    // read.
    if (next === null || (state === null && place.before >= total)) return answer(false);
    if (taken.length === 0) {
      empty += 1;
      if (empty === MAX_EMPTY_PAGES) return answer(false);
      place = { at: next, size, skip: 0, before: place.before, state };
    }
    if (edges.length < wanted) continue;
    // All items in the counts were seen: an empty page follows, unless tasks left the filter
    // meanwhile.
    const doubtful = state !== null && place.before >= total;
    return answer(!doubtful || ((await ctx.batches.page(batchId, requestOf(place)))?.items ?? []).length > 0);
  }
}
