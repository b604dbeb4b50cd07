// Reads the selection below the current field, so that resolvers can load everything in one call.
// Follows fragments, aliases, @skip and @include.
import {
  type FieldNode,
  type GraphQLObjectType,
  type GraphQLResolveInfo,
  getArgumentValues,
  isObjectType,
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

/** By the variables of the operation, or by field nodes where no variable matters. */
const byVariables = new WeakMap<object, Read>();
const constant: Read = new WeakMap();
const isConstant = new WeakMap<readonly FieldNode[], boolean>();

/** Whether no variable occurs in the selection: its text has none, and no fragment, which may. */
function sameForAll(nodes: readonly FieldNode[]): boolean {
  const known = isConstant.get(nodes);
  if (known !== undefined) return known;
  const found = nodes.every(({ selectionSet }) => {
    if (selectionSet === undefined) return true;
    const { loc } = selectionSet;
    return loc !== undefined && !/\$|\.{3}/.test(loc.source.body.slice(loc.start, loc.end));
  });
  isConstant.set(nodes, found);
  return found;
}

function readOf({ variableValues }: GraphQLResolveInfo, nodes: readonly FieldNode[]): Read {
  if (sameForAll(nodes)) return constant;
  const known = byVariables.get(variableValues);
  if (known !== undefined) return known;
  const made: Read = new WeakMap();
  byVariables.set(variableValues, made);
  return made;
}

/**
 * The fields selected on an object type; each alias is an entry.
 *
 * @param typeName - the object type; fragments on other types are left out
 * @param nodes - the nodes whose selection is read; by default those of the current field
 */
export function selectedFields(
  info: GraphQLResolveInfo,
  typeName: string,
  nodes: readonly FieldNode[] = info.fieldNodes,
): readonly Selected[] {
  const read = readOf(info, nodes);
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
