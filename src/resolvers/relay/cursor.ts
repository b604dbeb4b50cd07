// Opaque cursors that encode a small value. A zod schema checks the value when a cursor is decoded.
import type { GraphQLError } from 'graphql';
import type { z } from 'zod';
import { badInput } from '../../schema/scalars.ts';

export const wrongCursor = (name: string): GraphQLError =>
  badInput(`\`${name}\` is not a cursor of this connection. Use a cursor that it returned.`);

export const writeCursor = (place: unknown): string =>
  Buffer.from(JSON.stringify(place)).toString('base64url');

/**
 * Reads the cursor `after`.
 *
 * @param belongs - whether it is one of this order and filter
 * @throws GraphQLError BAD_USER_INPUT for an invalid cursor, or that of another order or filter
 */
export function readCursor<S extends z.ZodType>(
  schema: S,
  cursor: string,
  belongs: (place: z.output<S>) => boolean = () => true,
): z.output<S> {
  let place: z.output<S>;
  try {
    place = schema.parse(JSON.parse(Buffer.from(cursor, 'base64url').toString()));
  } catch {
    throw wrongCursor('after');
  }
  if (belongs(place)) return place;
  throw badInput('`after` belongs to another order or filter. Begin again without it when you change them.');
}
