// The fields selected below some nodes for one object type (CollectSubfields of the GraphQL
// specification). Deferred fragments are left out.
import { GraphQLDeferDirective } from '@graphql-tools/utils';
import {
  type FieldNode,
  type FragmentDefinitionNode,
  GraphQLIncludeDirective,
  type GraphQLObjectType,
  type GraphQLResolveInfo,
  GraphQLSkipDirective,
  getDirectiveValues,
  type InlineFragmentNode,
  isAbstractType,
  Kind,
  type SelectionNode,
  type SelectionSetNode,
  typeFromAST,
} from 'graphql';

export type Operation = Pick<GraphQLResolveInfo, 'schema' | 'fragments' | 'variableValues'>;

/** A field, or an operation. */
export interface SelectionContext {
  readonly selectionSet?: SelectionSetNode | undefined;
}

const isIncluded = ({ variableValues }: Operation, node: SelectionNode): boolean =>
  getDirectiveValues(GraphQLSkipDirective, node, variableValues)?.if !== true &&
  getDirectiveValues(GraphQLIncludeDirective, node, variableValues)?.if !== false;

/** `@defer` without `if` is true by default. */
const isDeferred = ({ variableValues }: Operation, node: SelectionNode): boolean =>
  getDirectiveValues(GraphQLDeferDirective, node, variableValues)?.if === true;

/** Whether a fragment is about this type, an interface of it or a union with it. */
function isAbout(
  { schema }: Operation,
  { typeCondition }: InlineFragmentNode | FragmentDefinitionNode,
  type: GraphQLObjectType,
): boolean {
  if (typeCondition === undefined) return true;
  const condition = typeFromAST(schema, typeCondition);
  return condition === type || (isAbstractType(condition) && schema.isSubType(condition, type));
}

/**
 * The nodes of each selected field, by the name that it has in the answer.
 *
 * @param deferred - whether fragments with `@defer` count as selected
 */
export function collectedFields(
  operation: Operation,
  type: GraphQLObjectType,
  nodes: readonly SelectionContext[],
  deferred = false,
): Map<string, FieldNode[]> {
  const fields = new Map<string, FieldNode[]>();
  const seen = new Set<string>();
  const collect = ({ selections }: SelectionSetNode): void => {
    for (const node of selections) {
      if (!isIncluded(operation, node)) continue;
      if (node.kind === Kind.FIELD) {
        const key = node.alias?.value ?? node.name.value;
        const known = fields.get(key);
        if (known === undefined) fields.set(key, [node]);
        else known.push(node);
        continue;
      }
      if (!deferred && isDeferred(operation, node)) continue;
      if (node.kind === Kind.INLINE_FRAGMENT) {
        if (isAbout(operation, node, type)) collect(node.selectionSet);
        continue;
      }
      const fragment = operation.fragments[node.name.value];
      if (fragment === undefined || seen.has(node.name.value) || !isAbout(operation, fragment, type))
        continue;
      seen.add(node.name.value);
      collect(fragment.selectionSet);
    }
  };
  for (const { selectionSet } of nodes) if (selectionSet !== undefined) collect(selectionSet);
  return fields;
}
