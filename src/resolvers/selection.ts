// Reads the selection below the current field, so that resolvers can load everything in one call.
// Follows fragments, aliases, @skip and @include.
import { memoize1 } from '@graphql-tools/utils';
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

/**
 * The fields selected on an object type; each alias is an entry.
 *
 * @param typeName - the object type; fragments on other types are left out
 * @param nodes - the nodes whose selection is read; by default those of the current field
 * @param options.deferred - whether fragments with `@defer` count: for what cannot be read later
 */
export function selectedFields(
  info: GraphQLResolveInfo,
  typeName: string,
  nodes: readonly FieldNode[] = info.fieldNodes,
  { deferred = false }: { readonly deferred?: boolean } = {},
): readonly Selected[] {
  const read = isConstant(nodes) ? constant : readWith(info.variableValues);
  const ofNodes = read.get(nodes) ?? new Map<string, readonly Selected[]>();
  if (ofNodes.size === 0) read.set(nodes, ofNodes);
  const key = deferred ? `${typeName} @defer` : typeName;
  const before = ofNodes.get(key);
  if (before !== undefined) return before;
  const selected = readSelection(info, typeName, nodes, deferred);
  ofNodes.set(key, selected);
  return selected;
}

function readSelection(
  info: GraphQLResolveInfo,
  typeName: string,
  nodes: readonly FieldNode[],
  deferred: boolean,
): readonly Selected[] {
  const type = info.schema.getType(typeName);
  if (!isObjectType(type)) return [];
  const definitions = type.getFields();
  const selected: Selected[] = [];
  for (const group of collectedFields(info, type, nodes, deferred).values()) {
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
