// Cursors of the tasks of a batch: positions in the pages of List.
import { z } from 'zod';
import { badInput } from '../../schema/scalars.ts';
import { parseTaskState, type TaskStateName } from '../../upstream/folds/batch-states.ts';
import { LARGEST_PAGE, sizeOf } from '../relay/connection.ts';
import { readCursor } from '../relay/cursor.ts';

const DEFAULT_PAGE = 100;

export interface TaskPageArgs {
  readonly state?: TaskStateName | null | undefined;
  readonly first?: number | null | undefined;
  readonly after?: string | null | undefined;
}

/**
 * Where to read on: after `skip` items of the page of `size` items at the upstream's cursor `at`.
 */
const position = z.strictObject({
  at: z.string().nullable(),
  size: z.int().min(1).max(LARGEST_PAGE),
  skip: z.int().min(0).max(LARGEST_PAGE),
  /** Items before this position, with the same filter. */
  before: z.int().min(0),
  state: z.string().nullable(),
});
export type Position = z.output<typeof position>;

/** @throws GraphQLError BAD_USER_INPUT for an invalid cursor, or that of another filter */
export function readPosition(cursor: string, state: string | undefined): Position {
  const place = readCursor(position, cursor);
  if (place.state === (state ?? null)) return place;
  throw badInput('`after` belongs to another `state`. Begin again without it when you change the filter.');
}

/** Page size. @throws GraphQLError BAD_USER_INPUT outside 0 to 1000 */
export const pageSize = ({ first }: TaskPageArgs): number => sizeOf(first, 'first') ?? DEFAULT_PAGE;

/**
 * The service's name of the state; undefined without a filter.
 *
 * @throws GraphQLError BAD_USER_INPUT for UNKNOWN
 */
export function encodePosition({ state }: TaskPageArgs): string | undefined {
  if (state == null) return undefined;
  const word = parseTaskState(state);
  if (word === undefined) {
    throw badInput(
      'The upstream cannot filter by UNKNOWN. Leave `state` out and look at the state of each task.',
    );
  }
  return word;
}

/** The position after one more item of a page. */
export function itemsAfter(
  place: Position,
  page: { items: number; next: string | null; size: number },
): Position {
  const before = place.before + 1;
  const last = place.skip + 1 === page.items;
  if (last && page.next !== null) return { ...place, at: page.next, size: page.size, skip: 0, before };
  return { ...place, skip: place.skip + 1, before };
}
