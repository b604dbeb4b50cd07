// The fields selected below some nodes for one object type (CollectSubfields of the GraphQL
// specification). Deferred fragments are left out.
import { doesFragmentConditionMatch, getDeferValues, shouldIncludeNode } from '@graphql-tools/utils';
import {
  type FieldNode,
  type GraphQLObjectType,
  type GraphQLResolveInfo,
  Kind,
  type SelectionSetNode,
} from 'graphql';

export type Operation = Pick<GraphQLResolveInfo, 'schema' | 'fragments' | 'variableValues'>;

/** A field, or an operation. */
export interface SelectionContext {
  readonly selectionSet?: SelectionSetNode | undefined;
}

/**
 * The nodes of each selected field, by the name that it has in the answer.
 *
 * @param deferred - whether fragments with `@defer` count as selected
 */
export function collectedFields(
  { schema, fragments, variableValues }: Operation,
  type: GraphQLObjectType,
  nodes: readonly SelectionContext[],
  deferred = false,
): Map<string, FieldNode[]> {
  const fields = new Map<string, FieldNode[]>();
  const seen = new Set<string>();
  const variables = { coerced: variableValues, sources: {} };
  const collect = ({ selections }: SelectionSetNode): void => {
    for (const node of selections) {
      if (!shouldIncludeNode(variables, node)) continue;
      if (node.kind === Kind.FIELD) {
        const key = node.alias?.value ?? node.name.value;
        const known = fields.get(key);
        if (known === undefined) fields.set(key, [node]);
        else known.push(node);
        continue;
      }
      if (!deferred && getDeferValues(variables, node) !== undefined) continue;
      const fragment = node.kind === Kind.INLINE_FRAGMENT ? node : fragments[node.name.value];
      if (fragment === undefined || !doesFragmentConditionMatch(schema, fragment, type)) continue;
      if (node.kind === Kind.FRAGMENT_SPREAD && seen.size === seen.add(node.name.value).size) continue;
      collect(fragment.selectionSet);
    }
  };
  for (const { selectionSet } of nodes) if (selectionSet !== undefined) collect(selectionSet);
  return fields;
}
