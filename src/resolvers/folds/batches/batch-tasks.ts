// The tasks of a batch: pages of List with cursors that are positions in them, or a ranking of all.
import * as z from 'zod';
import type { GatewayContext } from '../../../context.ts';
import type { TaskShape } from '../../../schema/task.ts';
import { indexInBatch } from '../../../store/ledger/submissions.ts';
import { LARGEST_LIST_PAGE } from '../../../upstream/batch.ts';
import { readCounts } from '../../../upstream/folds/batch-states.ts';
import { emptyPage, type ItemsRequest, repeatedPage } from '../../../upstream/folds/list-items.ts';
import {
  connectionPage,
  LARGEST_PAGE,
  readCursor,
  readPageSize,
  writeCursor,
} from '../../relay/connection.ts';
import { needsAllTasks, rankedPage, type TaskListArgs } from '../scores/ranked-tasks.ts';
import { toTasks } from '../tasks/task-shape.ts';

const DEFAULT_PAGE = 100;

/** Where to read on: behind `skip` of the `size` items at the service's cursor `at`. */
const position = z.strictObject({
  at: z.string().nullable(),
  size: z.int().min(1).max(LARGEST_PAGE),
  skip: z.int().min(0).max(LARGEST_PAGE),
  /** Items before this position. */
  before: z.int().min(0),
  /** Index of the task before this position. */
  last: z.int().min(0).optional(),
});
type Position = z.output<typeof position>;

/** @throws GraphQLError BAD_USER_INPUT for a cursor of another list */
function readStart(args: TaskListArgs): Position {
  if (args.after != null) return readCursor(position, args.after);
  return { at: null, size: Math.max(1, readPageSize(args, DEFAULT_PAGE)), skip: 0, before: 0 };
}

const toRequest = ({ at, size, before, skip }: Position): ItemsRequest => ({
  limit: size,
  cursor: at ?? undefined,
  before: before - skip,
});

/** The request of the first page of a connection: one call reads existence and page. */
export const firstRequest = (args: TaskListArgs): ItemsRequest =>
  needsAllTasks(args) ? { limit: LARGEST_LIST_PAGE, before: 0 } : toRequest(readStart(args));

/** A page of List as the positions in it need it. */
interface PageEnd {
  readonly itemCount: number;
  /** The service's cursor of the next page. */
  readonly next: string | null;
  /** Size of the next page. */
  readonly size: number;
}

/** The position after `count` more items of a page. @param last - index of the last of them */
function advance(
  { at, size, skip, before }: Position,
  count: number,
  last: number | null | undefined,
  page: PageEnd,
): Position {
  const common = { before: before + count, last: last ?? undefined };
  const isEnd = skip + count === page.itemCount && page.next !== null;
  return isEnd
    ? { at: page.next, size: page.size, skip: 0, ...common }
    : { at, size, skip: skip + count, ...common };
}

/** Empty pages in a row after which the gateway asks for no more. */
const MAX_EMPTY_PAGES = 3;

/**
 * One page of a batch's tasks. One List call, unless a cursor points into the middle of an upstream
 * page.
 *
 * @returns null for an unknown batch
 * @throws GraphQLError BAD_USER_INPUT for a page size outside 0 to 1000 or a foreign cursor
 * @throws UpstreamError UPSTREAM_DRIFT when the service sends the same page twice, or pages
 *   without tasks
 */
export async function tasksPage(ctx: GatewayContext, batchId: string, args: TaskListArgs) {
  const wanted = readPageSize(args, DEFAULT_PAGE);
  if (needsAllTasks(args)) return rankedPage(ctx, batchId, args, wanted);
  const size = Math.max(1, wanted);
  let place = readStart(args);
  const hasPreviousPage = place.before > 0;
  const edges: { readonly node: TaskShape; readonly cursor: string }[] = [];
  const seen = new Set<string>();

  for (let emptyCount = 0; ; ) {
    const page = await ctx.batches.page(batchId, toRequest(place));
    if (page === null) return null;
    const items = page.items ?? [];
    const next = page.cursor ?? null;
    const { total } = readCounts(page.counts);
    const answer = (hasNextPage: boolean) => connectionPage(total, edges, { hasNextPage, hasPreviousPage });

    // A page that has the last task of the one before it, or any of this request, repeats them.
    const isSeen = ({ task_id: taskId }: { readonly task_id: string }): boolean => {
      const index = indexInBatch(taskId, batchId);
      return seen.has(taskId) || (index !== null && index === place.last);
    };
    if (place.skip === 0 && items.some(isSeen)) throw repeatedPage();

    const start = place;
    const end = { itemCount: items.length, next, size };
    const nodes = toTasks(batchId, page, items.slice(start.skip, start.skip + wanted - edges.length));
    for (const [i, node] of nodes.entries()) {
      place = advance(start, i + 1, node.index, end);
      edges.push({ node, cursor: writeCursor(place) });
      seen.add(node.taskId);
    }
    if (start.skip + nodes.length < items.length) return answer(true);
    // The total never changes, so the service's last, empty page need not be read.
    if (next === null || place.before >= total) return answer(false);
    if (nodes.length === 0) {
      emptyCount += 1;
      if (emptyCount === MAX_EMPTY_PAGES) throw emptyPage(page, place.before);
      place = { at: next, size, skip: 0, before: place.before };
    }
    if (edges.length === wanted) return answer(true);
  }
}
