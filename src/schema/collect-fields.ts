// The fields selected on an object type, collected as the executor does it. Fields of fragments
// with `@defer` count as selected, so that `@defer` never changes what is loaded or what it costs.
import { collectFields, collectSubFields, memoize1 } from '@graphql-tools/utils';
import type { FieldNode, GraphQLObjectType, GraphQLResolveInfo, OperationDefinitionNode } from 'graphql';

/** The inputs that decide which fields are selected. */
export type SelectionSource = Pick<GraphQLResolveInfo, 'schema' | 'fragments' | 'variableValues'>;

export interface CollectedFields {
  /** The nodes of each field, by the name that it has in the response. */
  readonly fields: ReadonlyMap<string, FieldNode[]>;
  /** Number of fragments with `@defer`: each is a part of the response. */
  readonly deferred: number;
}

/** graphql-tools takes variables in the form of graphql 17. */
const toVariables = memoize1((coerced: Record<string, unknown>) => ({ coerced, sources: {} }));

/** Collects the fields below an operation, or below the nodes of one field. */
export function collectSelectedFields(
  { schema, fragments, variableValues }: SelectionSource,
  type: GraphQLObjectType,
  of: OperationDefinitionNode | readonly FieldNode[],
): CollectedFields {
  const variables = toVariables(variableValues);
  const { fields, patches } =
    'selectionSet' in of
      ? collectFields(schema, fragments, variables, type, of.selectionSet)
      : collectSubFields(schema, fragments, variables, type, [...of]);
  if (patches.length === 0) return { fields, deferred: 0 };
  const all = new Map<string, FieldNode[]>();
  for (const part of [fields, ...patches.map((patch) => patch.fields)])
    for (const [name, nodes] of part) all.set(name, [...(all.get(name) ?? []), ...nodes]);
  return { fields: all, deferred: patches.length };
}
