// Errors with their places. For each error, graphql-js counts the lines of the document again: 10 ms for
// one with 190,000 lines, of which an answer may have 20,000 errors.
import { memoize1 } from '@graphql-tools/utils';
import { type FieldNode, GraphQLError } from 'graphql';

/** Where an error stands in a document. */
type Place = Pick<GraphQLError, 'nodes' | 'source' | 'positions' | 'locations'>;

const placeIn = ({ nodes, source, positions, locations }: GraphQLError): Place => ({
  nodes,
  source,
  positions,
  locations,
});

const placeOf = memoize1((nodes: readonly FieldNode[]): Place => placeIn(new GraphQLError('', { nodes })));

/** Makes an error at the place of another one. */
export const errorAt = (
  error: GraphQLError,
  message: string,
  extensions: Readonly<Record<string, unknown>>,
): GraphQLError =>
  Object.assign(new GraphQLError(message, { path: error.path ?? null, extensions }), placeIn(error));

/** Does what `locatedError` of graphql-js does. @param nodes - the same list for each error of a field */
export function locateError(
  thrown: unknown,
  nodes: readonly FieldNode[],
  path: readonly (string | number)[],
): GraphQLError {
  const originalError = thrown instanceof Error ? thrown : new Error(String(thrown));
  if (!(originalError instanceof GraphQLError))
    return Object.assign(new GraphQLError(originalError.message, { path, originalError }), placeOf(nodes));
  if (originalError.path !== undefined) return originalError;
  const place = originalError.nodes === undefined ? placeOf(nodes) : placeIn(originalError);
  return Object.assign(new GraphQLError(originalError.message, { path, originalError }), place);
}
