// Estimates the cost of an operation before it runs: upstream calls in the worst case, as its
// fields declare. Lists multiply the cost of their selections.
import {
  doesFragmentConditionMatch,
  GraphQLStreamDirective,
  getDeferValues,
  shouldIncludeNode,
} from '@graphql-tools/utils';
import {
  type FieldNode,
  type GraphQLCompositeType,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLResolveInfo,
  getArgumentValues,
  getDirectiveValues,
  getNamedType,
  isAbstractType,
  isCompositeType,
  isListType,
  isNonNullType,
  isObjectType,
  Kind,
  type SelectionSetNode,
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
  /** Length of the list in the answer, where repeated items cost nothing; `items` when absent. */
  readonly length?: number | undefined;
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
  /** Parts of the answer: one for each object that `@defer` stands on, and for each item of `@stream`. */
  readonly parts: number;
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
    for (const group of collectedFields(run, object, nodes).values()) {
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

/** Whether a value of the extensions of a field is a rule. */
export const isCostRule = (rule: unknown): rule is CostRule =>
  typeof rule === 'number' || typeof rule === 'function' || (typeof rule === 'object' && rule !== null);

function fieldCost(
  run: Run,
  definition: GraphQLField<unknown, unknown>,
  nodes: readonly FieldNode[],
): FieldCost | undefined {
  const rule = definition.extensions[COST];
  const [node] = nodes;
  if (!isCostRule(rule) || node === undefined) return {};
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

/** The fragments with `@defer` below some nodes, as an executor counts them for one object. */
function deferredParts(run: Run, type: GraphQLObjectType, nodes: readonly SelectionContext[]): number {
  const variables = { coerced: run.variableValues, sources: {} };
  const known = new Map<string, number>();
  const count = ({ selections }: SelectionSetNode): number => {
    let parts = 0;
    for (const node of selections) {
      if (node.kind === Kind.FIELD || !shouldIncludeNode(variables, node)) continue;
      if (getDeferValues(variables, node) !== undefined) parts += 1;
      if (node.kind === Kind.INLINE_FRAGMENT) {
        if (doesFragmentConditionMatch(run.schema, node, type)) parts += count(node.selectionSet);
        continue;
      }
      const { value: name } = node.name;
      const fragment = run.fragments[name];
      if (fragment === undefined || !doesFragmentConditionMatch(run.schema, fragment, type)) continue;
      const below = known.get(name) ?? count(fragment.selectionSet);
      known.set(name, below);
      parts += below;
    }
    return parts;
  };
  return nodes.reduce((sum, { selectionSet }) => sum + (selectionSet ? count(selectionSet) : 0), 0);
}

/** The items of a list that are parts of their own. */
function streamedParts(run: Run, nodes: readonly FieldNode[], items: number): number {
  return Math.max(
    0,
    ...nodes.map((node) => {
      const stream = getDirectiveValues(GraphQLStreamDirective, node, run.variableValues);
      return stream === undefined || stream.if === false ? 0 : items - Number(stream.initialCount ?? 0);
    }),
  );
}

/** @param items - how long the lists of the selection are unless their fields say */
function selectionCost(
  run: Run,
  type: GraphQLCompositeType,
  nodes: readonly SelectionContext[],
  items: number | undefined,
): QueryCost {
  let most: QueryCost = { calls: 0, depth: 0, parts: 0 };
  for (const object of typesOf(run, type)) {
    const shared = new Map<string, number>();
    let own = 0;
    let depth = 0;
    let parts = deferredParts(run, object, nodes);
    for (const group of collectedFields(run, object, nodes).values()) {
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
      const times = repeated ? Math.max(0, cost.items ?? items ?? USUAL_LIST) : 1;
      own += below.calls * times;
      const length = repeated ? (cost.length ?? times) : 1;
      parts += below.parts * length + (repeated ? streamedParts(run, group, length) : 0);
      depth = Math.max(depth, 1 + below.depth);
    }
    most = {
      calls: Math.max(most.calls, own + sumOf(shared)),
      depth: Math.max(most.depth, depth),
      parts: Math.max(most.parts, parts),
    };
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
  if (type == null) return { calls: 0, depth: 0, parts: 0 };
  const run: Run = { schema, fragments, variableValues, once: new Map() };
  const { calls, depth, parts } = selectionCost(run, type, [operation], undefined);
  return { calls: Math.ceil(calls + sumOf(run.once)), depth, parts };
}
