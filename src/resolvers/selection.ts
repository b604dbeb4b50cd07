// Reads the selection below the current field, so that resolvers can load everything in one call.
import { memoize1 } from '@graphql-tools/utils';
import { type FieldNode, type GraphQLResolveInfo, getArgumentValues, isObjectType } from 'graphql';
import { collectSelectedFields } from '../schema/collect-fields.ts';

/** One selected field: its name in the schema, its arguments, and the nodes of its selection. */
export interface Selected {
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly nodes: readonly FieldNode[];
}

/**
 * By field nodes: the items of a list share them. By variables as well, because documents are
 * cached, and the same nodes select other fields with other variables.
 */
const selectionsByExecution = memoize1(
  (_variables: object) => new WeakMap<readonly FieldNode[], Map<string, readonly Selected[]>>(),
);

/**
 * All nodes of the field at a path. The executor gives a resolver those of one part of the
 * response; a field that stands in several parts has the same value in all.
 */
function nodesAt(info: GraphQLResolveInfo, { prev, key, typename }: GraphQLResolveInfo['path']): FieldNode[] {
  // An item of a list has the nodes of the list.
  if (typename === undefined) return prev === undefined ? [] : nodesAt(info, prev);
  const type = info.schema.getType(typename);
  const above = prev === undefined ? info.operation : nodesAt(info, prev);
  return isObjectType(type) ? (collectSelectedFields(info, type, above).fields.get(String(key)) ?? []) : [];
}

/**
 * The fields selected on an object type; each alias is an entry.
 *
 * @param typeName - the object type; fragments on other types are left out
 * @param of - the nodes whose selection is read; by default those of the current field
 */
export function selectedFields(
  info: GraphQLResolveInfo,
  typeName: string,
  of: readonly FieldNode[] = info.fieldNodes,
): readonly Selected[] {
  const known = selectionsByExecution(info.variableValues);
  const byType = known.get(of) ?? new Map<string, readonly Selected[]>();
  known.set(of, byType);
  const selected = byType.get(typeName) ?? readSelection(info, typeName, of);
  byType.set(typeName, selected);
  return selected;
}

function readSelection(
  info: GraphQLResolveInfo,
  typeName: string,
  of: readonly FieldNode[],
): readonly Selected[] {
  const type = info.schema.getType(typeName);
  if (!isObjectType(type)) return [];
  const nodes = of === info.fieldNodes ? nodesAt(info, info.path) : of;
  const definitions = type.getFields();
  return [...collectSelectedFields(info, type, nodes).fields.values()].flatMap((group) => {
    const [first] = group;
    const definition = definitions[first?.name.value ?? ''];
    if (first === undefined || definition === undefined) return [];
    const args = getArgumentValues(definition, first, info.variableValues);
    return [{ name: first.name.value, args, nodes: group }];
  });
}
