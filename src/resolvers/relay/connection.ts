// Relay pagination: pages of a list in memory, and cursors that hold a small value.
import * as z from 'zod';
import { badInput } from '../../schema/scalars.ts';

export interface PageArgs {
  readonly first?: number | null | undefined;
  readonly after?: string | null | undefined;
}

const DEFAULT_PAGE = 20;
/** Also the largest page of the upstream's List (spec, section Limits). */
export const LARGEST_PAGE = 1000;
/** A cursor of a list in memory holds the position of its item. */
const position = z.int().min(0).max(999_999_999);

/** The page size. @throws GraphQLError BAD_USER_INPUT outside 0 to 1000 */
export function readPageSize({ first }: PageArgs, whenLeftOut = DEFAULT_PAGE): number {
  const size = first ?? whenLeftOut;
  if (size < 0 || size > LARGEST_PAGE)
    throw badInput(`\`first\` must be between 0 and ${LARGEST_PAGE}; page on with \`after\`.`);
  return size;
}

/** The argument `first` of a plain list. @throws GraphQLError BAD_USER_INPUT for a negative one */
export function readFirst(first: number | null | undefined): number | undefined {
  if (first != null && first < 0) throw badInput('`first` must not be negative.');
  return first ?? undefined;
}

interface Edge<N> {
  readonly node: N;
  readonly cursor: string;
}

/** A page of a list. */
export interface Page<N> {
  readonly totalCount: number;
  readonly edges: Edge<N>[];
  readonly pageInfo: {
    readonly startCursor: string | null;
    readonly endCursor: string | null;
    readonly hasNextPage: boolean;
    readonly hasPreviousPage: boolean;
  };
}

/** A page of a connection. Its ends are those of its edges. */
export const connectionPage = <N>(
  totalCount: number,
  edges: Edge<N>[],
  more: Pick<Page<N>['pageInfo'], 'hasNextPage' | 'hasPreviousPage'>,
): Page<N> => ({
  totalCount,
  edges,
  pageInfo: { startCursor: edges[0]?.cursor ?? null, endCursor: edges.at(-1)?.cursor ?? null, ...more },
});

/**
 * One page of a list.
 *
 * @param toNode - makes the node of an item
 * @throws GraphQLError BAD_USER_INPUT for a page size outside 0 to 1000 or an invalid cursor
 */
export function listPage<T, N>(items: readonly T[], args: PageArgs, toNode: (item: T) => N): Page<N> {
  const size = readPageSize(args);
  const start = args.after == null ? 0 : Math.min(readCursor(position, args.after) + 1, items.length);
  const edges = items
    .slice(start, start + size)
    .map((item, i) => ({ node: toNode(item), cursor: writeCursor(start + i) }));
  return connectionPage(items.length, edges, {
    hasNextPage: start + size < items.length,
    hasPreviousPage: start > 0,
  });
}

export const emptyPage = <N>(): Page<N> =>
  connectionPage<N>(0, [], { hasNextPage: false, hasPreviousPage: false });

/** Largest number of objects on a page with these arguments. */
export const pageSize = ({ first }: PageArgs): number => Math.max(0, first ?? DEFAULT_PAGE);

export const writeCursor = (place: unknown): string =>
  Buffer.from(JSON.stringify(place)).toString('base64url');

/**
 * Reads a cursor.
 *
 * @param belongs - whether it is one of this order and filter
 * @throws GraphQLError BAD_USER_INPUT for an invalid cursor, or that of another order or filter
 */
export function readCursor<S extends z.ZodType>(
  schema: S,
  cursor: string,
  belongs: (place: z.output<S>) => boolean = () => true,
): z.output<S> {
  try {
    const place = schema.parse(JSON.parse(Buffer.from(cursor, 'base64url').toString()));
    if (belongs(place)) return place;
  } catch {
    // It is no JSON, or another one.
  }
  throw badInput(
    '`after` is not a cursor that this connection gave in this order and with this filter. Begin again ' +
      'without it.',
  );
}
