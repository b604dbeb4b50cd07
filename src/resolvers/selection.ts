// Reads the selection below the current field, so that resolvers can load everything in one call.
// Follows fragments, aliases, @skip and @include. Deferred fragments count as selected, so that @defer
// never changes what is loaded, and with it what is answered.
import { memoize1, memoize2 } from '@graphql-tools/utils';
import {
  type FieldNode,
  type GraphQLObjectType,
  type GraphQLResolveInfo,
  getArgumentValues,
  isObjectType,
  type OperationDefinitionNode,
  print,
} from 'graphql';
import { collectedFields } from '../execution/field-plan.ts';

/** One selected field: its name in the schema, its arguments, and the nodes of its selection. */
export interface Selected {
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly nodes: readonly FieldNode[];
  readonly parent: GraphQLObjectType;
}

/** Selections by field nodes and type name: all objects of a list share them. */
type Read = WeakMap<readonly FieldNode[], Map<string, readonly Selected[]>>;

/** Where no variable matters. */
const constant: Read = new WeakMap();
/** By the variables of the operation. */
const readWith = memoize1((_variables: object): Read => new WeakMap());

/** Whether no variable occurs in the selection: its text has none, and no fragment, which may. */
const isConstant = memoize1((nodes: readonly FieldNode[]): boolean =>
  nodes.every(({ selectionSet }) => {
    if (selectionSet === undefined) return true;
    const { loc } = selectionSet;
    return loc !== undefined && !/\$|\.{3}/.test(loc.source.body.slice(loc.start, loc.end));
  }),
);

const hasDefer = memoize2(
  (operation: OperationDefinitionNode, fragments: GraphQLResolveInfo['fragments']): boolean =>
    [operation, ...Object.values(fragments)].some((node) => /@\s*defer\b/.test(print(node))),
);

/** The nodes at each place of an answer, with those of the parts in which it stands again. */
const nodesWith = memoize1((_variables: object) => new WeakMap<readonly FieldNode[], readonly FieldNode[]>());

/**
 * The nodes of the current field. The executor gives those of one part of the answer; a field that
 * stands in several parts has the same value in all, so that the nodes of all decide.
 */
function currentNodes(info: GraphQLResolveInfo): readonly FieldNode[] {
  if (!hasDefer(info.operation, info.fragments)) return info.fieldNodes;
  const known = nodesWith(info.variableValues);
  const before = known.get(info.fieldNodes);
  if (before !== undefined) return before;
  const nodes = nodesAt(info, info.path);
  known.set(info.fieldNodes, nodes);
  return nodes;
}

function nodesAt(info: GraphQLResolveInfo, { prev, key, typename }: GraphQLResolveInfo['path']): FieldNode[] {
  if (typename === undefined) return prev === undefined ? [] : nodesAt(info, prev);
  const type = info.schema.getType(typename);
  const above = prev === undefined ? [info.operation] : nodesAt(info, prev);
  return isObjectType(type) ? (collectedFields(info, type, above).get(String(key)) ?? []) : [];
}

/**
 * The fields selected on an object type; each alias is an entry.
 *
 * @param typeName - the object type; fragments on other types are left out
 * @param given - the nodes whose selection is read; by default those of the current field
 */
export function selectedFields(
  info: GraphQLResolveInfo,
  typeName: string,
  given: readonly FieldNode[] = info.fieldNodes,
): readonly Selected[] {
  const nodes = given === info.fieldNodes ? currentNodes(info) : given;
  const read = isConstant(nodes) ? constant : readWith(info.variableValues);
  const ofNodes = read.get(nodes) ?? new Map<string, readonly Selected[]>();
  if (ofNodes.size === 0) read.set(nodes, ofNodes);
  const before = ofNodes.get(typeName);
  if (before !== undefined) return before;
  const selected = readSelection(info, typeName, nodes);
  ofNodes.set(typeName, selected);
  return selected;
}

function readSelection(
  info: GraphQLResolveInfo,
  typeName: string,
  nodes: readonly FieldNode[],
): readonly Selected[] {
  const type = info.schema.getType(typeName);
  if (!isObjectType(type)) return [];
  const definitions = type.getFields();
  const selected: Selected[] = [];
  for (const group of collectedFields(info, type, nodes).values()) {
    const first = group[0];
    const definition = first === undefined ? undefined : definitions[first.name.value];
    if (first === undefined || definition === undefined) continue;
    selected.push({
      name: first.name.value,
      args: getArgumentValues(definition, first, info.variableValues),
      nodes: group,
      parent: type,
    });
  }
  return selected;
}
