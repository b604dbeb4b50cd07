// Relay paging over the pages of List: the page size comes from `first`, cursors hide the upstream's, and the empty page
// that may follow a full last one is never shown. It must not know what a client selects on a task.
import { z } from 'zod';
import type { GatewayContext } from '../context.ts';
import { badInput } from '../schema/scalars.ts';
import type { TaskShape } from '../schema/task.ts';
import { readCounts, type TaskStateName, taskWord } from '../upstream/batch-states.ts';
import type { BatchPage } from '../upstream/wire.ts';
import { taskFromItem } from './task-shape.ts';

/** The largest page of List (spec, section Limits). */
const LARGEST_PAGE = 1000;
const DEFAULT_PAGE = 100;
/** Empty pages in a row after which a service that always promises more is not asked again. */
const MOST_EMPTY_PAGES = 3;

export interface TaskPageArgs {
  readonly state?: TaskStateName | null | undefined;
  readonly first?: number | null | undefined;
  readonly after?: string | null | undefined;
}

/** Where to read on: after `skip` items of the page of `size` items at the upstream's cursor `at`. */
const position = z.strictObject({
  at: z.string().nullable(),
  size: z.int().min(1).max(LARGEST_PAGE),
  skip: z.int().min(0).max(LARGEST_PAGE),
  /** Items before this position, of the same filter. */
  before: z.int().min(0),
  state: z.string().nullable(),
});
type Position = z.output<typeof position>;

const write = (place: Position): string => Buffer.from(JSON.stringify(place)).toString('base64url');

function read(cursor: string, state: string | undefined): Position {
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(cursor, 'base64url').toString());
  } catch {
    value = undefined;
  }
  const { data } = position.safeParse(value);
  if (data === undefined)
    throw badInput('`after` is no cursor of this connection. Use a cursor that it gave.');
  if (data.state !== (state ?? null)) {
    throw badInput('`after` belongs to another `state`. Begin again without it when you change the filter.');
  }
  return data;
}

function sizeOf({ first }: TaskPageArgs): number {
  const size = first ?? DEFAULT_PAGE;
  if (size >= 0 && size <= LARGEST_PAGE) return size;
  throw badInput(`\`first\` must be between 0 and ${LARGEST_PAGE}; page on with the cursors.`);
}

function wordOf({ state }: TaskPageArgs): string | undefined {
  if (state == null) return undefined;
  const word = taskWord(state);
  if (word === undefined) {
    throw badInput(
      'The upstream cannot filter by UNKNOWN. Leave `state` out and look at the state of each task.',
    );
  }
  return word;
}

/** The request of the first upstream page of a connection, for reading existence and page in one call. */
export function firstPage(args: TaskPageArgs): {
  limit: number;
  cursor?: string | undefined;
  status?: string | undefined;
} {
  const status = wordOf(args);
  const from = args.after == null ? null : read(args.after, status);
  return { limit: from?.size ?? Math.max(1, sizeOf(args)), cursor: from?.at ?? undefined, status };
}

interface Edge {
  readonly cursor: string;
  readonly node: TaskShape;
}

/** Items of the filter over the whole batch, by the counts of the newest page. */
const totalOf = (page: BatchPage, status: string | undefined): number =>
  status === undefined ? readCounts(page.counts).total : (page.counts[status] ?? 0);

/**
 * One page of a batch's tasks. One List call, unless a cursor points into the middle of an upstream page.
 *
 * @returns null for an unknown batch
 * @throws GraphQLError BAD_USER_INPUT for a page size outside 0 to 1000, a foreign cursor, or the state UNKNOWN
 */
export async function tasksPage(ctx: GatewayContext, batchId: string, args: TaskPageArgs) {
  const status = wordOf(args);
  const wanted = sizeOf(args);
  const size = Math.max(1, wanted);
  let place: Position =
    args.after == null
      ? { at: null, size, skip: 0, before: 0, state: status ?? null }
      : read(args.after, status);
  const hasPreviousPage = place.before > 0;
  const edges: Edge[] = [];
  const ask = ({ at, size: limit }: Position): Promise<BatchPage | null> =>
    ctx.batches.page(batchId, { limit, cursor: at ?? undefined, status });

  for (let empty = 0; ; ) {
    const page = await ask(place);
    if (page === null) return null;
    const items = page.items ?? [];
    const next = page.cursor ?? null;
    const total = totalOf(page, status);
    const answer = (hasNextPage: boolean) => ({ total, edges, hasPreviousPage, hasNextPage });

    const taken = items.slice(place.skip, place.skip + wanted - edges.length);
    const unread = items.length - place.skip - taken.length;
    for (const item of taken) {
      place = behind(place, { items: items.length, next, size });
      edges.push({ cursor: write(place), node: taskFromItem(batchId, page, item) });
    }
    if (unread > 0) return answer(true);
    // Without a filter the total never changes, so that the upstream's last, empty page need not be asked for.
    if (next === null || (status === undefined && place.before >= total)) return answer(false);
    if (taken.length === 0) {
      empty += 1;
      if (empty === MOST_EMPTY_PAGES) return answer(false);
      place = { ...place, at: next, size, skip: 0 };
    }
    if (edges.length < wanted) continue;
    // As many as the counts say were seen: nothing but an empty page may follow, unless tasks left the filter meanwhile.
    const doubtful = status !== undefined && place.before >= total;
    return answer(!doubtful || ((await ask(place))?.items ?? []).length > 0);
  }
}

/** The position after one more item of a page. */
function behind(place: Position, page: { items: number; next: string | null; size: number }): Position {
  const before = place.before + 1;
  const last = place.skip + 1 === page.items;
  if (last && page.next !== null) return { ...place, at: page.next, size: page.size, skip: 0, before };
  return { ...place, skip: place.skip + 1, before };
}
