// Reads what a query selects below the field being resolved, so that everything needed can be asked for at once.
// Fragments, aliases, @skip and @include are honoured. It knows no type of ours.
import {
  BREAK,
  type FieldNode,
  type GraphQLObjectType,
  type GraphQLResolveInfo,
  getArgumentValues,
  isObjectType,
  visit,
} from 'graphql';
import { collectedFields } from '../execution/collect-fields.ts';

/** One selected field: its name in the schema, the arguments it is given, and the nodes of its own selection. */
export interface Selected {
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly nodes: readonly FieldNode[];
  readonly parent: GraphQLObjectType;
}

/** What was read of some nodes, by the type that they are read as: each object of a list asks the same. */
type Read = WeakMap<readonly FieldNode[], Map<string, readonly Selected[]>>;

/** By the variables of the operation, and of nodes below which nothing is left to them. */
const byVariables = new WeakMap<object, Read>();
const constant: Read = new WeakMap();
const isConstant = new WeakMap<readonly FieldNode[], boolean>();

/** Whether what is selected below some nodes is the same whatever the variables: nothing there names one. What fragments say is not looked at. */
function sameForAll(nodes: readonly FieldNode[]): boolean {
  const known = isConstant.get(nodes);
  if (known !== undefined) return known;
  let found = true;
  const leave = () => {
    found = false;
    return BREAK;
  };
  for (const { selectionSet } of nodes)
    if (selectionSet !== undefined) visit(selectionSet, { Variable: leave, FragmentSpread: leave });
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
 * The fields selected on an object type below some field nodes, each alias by itself.
 *
 * @param typeName - the object type that the selection is read as; fragments on other types are left out
 * @param nodes - the nodes whose selection is read; those of the field being resolved when absent
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

/** The selected fields two levels down, such as the `nodes` of a connection. */
export const selectedBelow = (
  info: GraphQLResolveInfo,
  selected: readonly Selected[],
  name: string,
  typeName: string,
): Selected[] =>
  selected
    .filter((field) => field.name === name)
    .flatMap((field) => selectedFields(info, typeName, field.nodes));
