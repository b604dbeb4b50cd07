// Estimates the cost of an operation before it runs: upstream calls in the worst case, as its
// fields declare. Lists multiply the cost of their selections.
import {
  type FieldNode,
  type GraphQLCompositeType,
  type GraphQLField,
  type GraphQLOutputType,
  type GraphQLResolveInfo,
  getArgumentValues,
  getNamedType,
  isAbstractType,
  isCompositeType,
  isListType,
  isNonNullType,
  isObjectType,
} from 'graphql';
import { collectedFields, type Operation, type SelectionContext } from './field-plan.ts';

/** Upstream calls that a field may cost. */
export interface FieldCost {
  /** For each object that the field is selected on. */
  readonly calls?: number;
  /** Calls that fields of one object share, by name: counted once for the object, the largest. */
  readonly shared?: Readonly<Record<string, number>>;
  /** Calls that the whole operation shares, by name. */
  readonly once?: Readonly<Record<string, number>>;
  /** Length of the list; for a non-list field, of each list directly below it. 10 when absent. */
  readonly items?: number | undefined;
}

/** What is selected below a field. */
export interface CostSelection {
  readonly names: ReadonlySet<string>;
  below(name: string): CostSelection;
}

/** The cost of a field, or how it follows from its arguments and its selection. */
export type CostRule<Args = Readonly<Record<string, unknown>>> =
  | number
  | FieldCost
  | ((args: Args, selection: CostSelection) => FieldCost);

/** Key of the rule in the extensions of a field. */
export const COST = 'cost';

export interface QueryCost {
  readonly calls: number;
  readonly depth: number;
}

const USUAL_LIST = 10;

interface Run extends Operation {
  readonly once: Map<string, number>;
}

const isList = (type: GraphQLOutputType): boolean =>
  isListType(type) || (isNonNullType(type) && isList(type.ofType));

const typesOf = ({ schema }: Operation, type: GraphQLCompositeType) =>
  isAbstractType(type) ? schema.getPossibleTypes(type) : isObjectType(type) ? [type] : [];

/** The nodes of the fields selected below some nodes, by the name of the field. */
function nodesByName(
  run: Operation,
  type: GraphQLOutputType,
  nodes: readonly SelectionContext[],
): Map<string, { readonly nodes: FieldNode[]; readonly type: GraphQLOutputType }> {
  const named = getNamedType(type);
  const found = new Map<string, { readonly nodes: FieldNode[]; readonly type: GraphQLOutputType }>();
  if (!isCompositeType(named)) return found;
  for (const object of typesOf(run, named)) {
    for (const group of collectedFields(run, object, nodes, true).values()) {
      const name = group[0]?.name.value ?? '';
      const definition = object.getFields()[name];
      if (definition === undefined) continue;
      const known = found.get(name);
      if (known === undefined) found.set(name, { nodes: [...group], type: definition.type });
      else known.nodes.push(...group);
    }
  }
  return found;
}

const NOTHING: CostSelection = { names: new Set(), below: () => NOTHING };

function selectionOf(
  run: Operation,
  type: GraphQLOutputType,
  nodes: readonly SelectionContext[],
): CostSelection {
  const fields = nodesByName(run, type, nodes);
  return {
    names: new Set(fields.keys()),
    below(name) {
      const field = fields.get(name);
      return field === undefined ? NOTHING : selectionOf(run, field.type, field.nodes);
    },
  };
}

const isRule = (rule: unknown): rule is CostRule =>
  typeof rule === 'number' || typeof rule === 'function' || (typeof rule === 'object' && rule !== null);

function fieldCost(
  run: Run,
  definition: GraphQLField<unknown, unknown>,
  nodes: readonly FieldNode[],
): FieldCost | undefined {
  const rule = definition.extensions[COST];
  const [node] = nodes;
  if (!isRule(rule) || node === undefined) return {};
  if (typeof rule === 'number') return { calls: rule };
  if (typeof rule === 'object') return rule;
  try {
    const args = getArgumentValues(definition, node, run.variableValues);
    return rule(args, selectionOf(run, definition.type, nodes));
  } catch {
    // Executing the field fails on its arguments as well, before it costs anything.
    return undefined;
  }
}

const addLargest = (totals: Map<string, number>, more: FieldCost['shared']): void => {
  for (const [name, calls] of Object.entries(more ?? {}))
    totals.set(name, Math.max(totals.get(name) ?? 0, calls));
};

const sumOf = (totals: ReadonlyMap<string, number>): number =>
  [...totals.values()].reduce((sum, calls) => sum + calls, 0);

/** @param items - how long the lists of the selection are unless their fields say */
function selectionCost(
  run: Run,
  type: GraphQLCompositeType,
  nodes: readonly SelectionContext[],
  items: number | undefined,
): QueryCost {
  let most: QueryCost = { calls: 0, depth: 0 };
  for (const object of typesOf(run, type)) {
    const shared = new Map<string, number>();
    let own = 0;
    let depth = 0;
    for (const group of collectedFields(run, object, nodes, true).values()) {
      depth = Math.max(depth, 1);
      const definition = object.getFields()[group[0]?.name.value ?? ''];
      const cost = definition && fieldCost(run, definition, group);
      if (definition === undefined || cost === undefined) continue;
      own += cost.calls ?? 0;
      addLargest(shared, cost.shared);
      addLargest(run.once, cost.once);
      const named = getNamedType(definition.type);
      if (!isCompositeType(named)) continue;
      const repeated = isList(definition.type);
      const below = selectionCost(run, named, group, repeated ? undefined : cost.items);
      own += below.calls * (repeated ? Math.max(0, cost.items ?? items ?? USUAL_LIST) : 1);
      depth = Math.max(depth, 1 + below.depth);
    }
    most = { calls: Math.max(most.calls, own + sumOf(shared)), depth: Math.max(most.depth, depth) };
  }
  return most;
}

/** What the operation that a resolver is called for may cost. */
export function queryCost({
  schema,
  fragments,
  variableValues,
  operation,
}: Pick<GraphQLResolveInfo, 'schema' | 'fragments' | 'variableValues' | 'operation'>): QueryCost {
  const type = schema.getRootType(operation.operation);
  if (type == null) return { calls: 0, depth: 0 };
  const run: Run = { schema, fragments, variableValues, once: new Map() };
  const { calls, depth } = selectionCost(run, type, [operation], undefined);
  return { calls: Math.ceil(calls + sumOf(run.once)), depth };
}
