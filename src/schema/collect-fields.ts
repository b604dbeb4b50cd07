// The fields selected on an object type, collected as the executor does it. Fields of fragments
// with `@defer` count as selected, so that `@defer` never changes what is loaded or what it costs.
import { collectFields, collectSubFields } from '@graphql-tools/utils';
import type {
  FieldNode,
  GraphQLObjectType,
  GraphQLResolveInfo,
  OperationDefinitionNode,
  SelectionSetNode,
} from 'graphql';

/** The inputs that decide which fields are selected. */
export type SelectionSource = Pick<GraphQLResolveInfo, 'schema' | 'fragments' | 'variableValues'>;

export interface CollectedFields {
  /** The nodes of each field, by the name that it has in the response. */
  readonly fields: ReadonlyMap<string, FieldNode[]>;
  /** Number of fragments with `@defer`: each is a part of the response. */
  readonly deferred: number;
}

type Selecting = OperationDefinitionNode | readonly FieldNode[];

function collect(source: SelectionSource, type: GraphQLObjectType, of: Selecting) {
  const { schema, fragments, variableValues: coerced } = source;
  // graphql-tools takes variables in the form of graphql 17.
  const variables = { coerced, sources: {} };
  const below = (selection: SelectionSetNode) => collectFields(schema, fragments, variables, type, selection);
  if ('selectionSet' in of) return below(of.selectionSet);
  const [node] = of;
  // collectSubFields remembers each result in maps of maps, which takes longer than to collect
  // anew.
  return of.length === 1 && node?.selectionSet !== undefined
    ? below(node.selectionSet)
    : collectSubFields(schema, fragments, variables, type, [...of]);
}

/** Collects the fields below an operation, or below the nodes of one field. */
export function collectSelectedFields(
  source: SelectionSource,
  type: GraphQLObjectType,
  of: Selecting,
): CollectedFields {
  const { fields, patches } = collect(source, type, of);
  if (patches.length === 0) return { fields, deferred: 0 };
  const all = new Map<string, FieldNode[]>();
  for (const part of [fields, ...patches.map((patch) => patch.fields)])
    for (const [name, nodes] of part) all.set(name, [...(all.get(name) ?? []), ...nodes]);
  return { fields: all, deferred: patches.length };
}
