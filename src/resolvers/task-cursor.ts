// Places in the pages of List, as cursors: what they say and which arguments are fair. It must not know how a page is read.
import { z } from 'zod';
import { badInput } from '../schema/scalars.ts';
import { type TaskStateName, taskWord } from '../upstream/batch-states.ts';

/** The largest page of List (spec, section Limits). */
const LARGEST_PAGE = 1000;
const DEFAULT_PAGE = 100;
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
export type Position = z.output<typeof position>;

export const writeCursor = (place: Position): string =>
  Buffer.from(JSON.stringify(place)).toString('base64url');

/** @throws GraphQLError BAD_USER_INPUT for a cursor of something else, or of another filter */
export function readCursor(cursor: string, state: string | undefined): Position {
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

/** How many tasks are asked for. @throws GraphQLError BAD_USER_INPUT outside 0 to 1000 */
export function sizeOf({ first }: TaskPageArgs): number {
  const size = first ?? DEFAULT_PAGE;
  if (size >= 0 && size <= LARGEST_PAGE) return size;
  throw badInput(`\`first\` must be between 0 and ${LARGEST_PAGE}; page on with the cursors.`);
}

/** The service's word for the filter; undefined without one. @throws GraphQLError BAD_USER_INPUT for UNKNOWN */
export function wordOf({ state }: TaskPageArgs): string | undefined {
  if (state == null) return undefined;
  const word = taskWord(state);
  if (word === undefined) {
    throw badInput(
      'The upstream cannot filter by UNKNOWN. Leave `state` out and look at the state of each task.',
    );
  }
  return word;
}

/** The position after one more item of a page. */
export function behind(
  place: Position,
  page: { items: number; next: string | null; size: number },
): Position {
  const before = place.before + 1;
  const last = place.skip + 1 === page.items;
  if (last && page.next !== null) return { ...place, at: page.next, size: page.size, skip: 0, before };
  return { ...place, skip: place.skip + 1, before };
}
