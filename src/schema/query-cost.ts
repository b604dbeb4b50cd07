// Estimates what an operation may cost, from its document and its variables, before anything is
// executed: upstream calls, as the fields declare them, and the size of the response. Lists
// multiply the cost of their selection.
import { GraphQLStreamDirective } from '@graphql-tools/utils';
import {
  type FieldNode,
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
  type OperationDefinitionNode,
} from 'graphql';
import { collectSelectedFields, type SelectionSource } from './collect-fields.ts';

/** The cost of a field. */
export interface FieldCost {
  /** Upstream calls for each object that the field is selected on. */
  readonly calls?: number;
  /** Calls that fields of one object share, by name: counted once for the object, the largest. */
  readonly shared?: Readonly<Record<string, number>>;
  /** Calls that the whole operation shares, by name. */
  readonly once?: Readonly<Record<string, number>>;
  /** Length of the list; for a non-list field, of each list directly below it. 10 when absent. */
  readonly items?: number | undefined;
  /** Length of the list in the response, where repeated items cost no call; `items` when absent. */
  readonly length?: number | undefined;
  /**
   * Size of the field itself, such as a list of numbers or a long text, in values; 1 when absent.
   */
  readonly values?: number | undefined;
}

/** The cost of a long text or a whole record, such as a structure file. */
export const LARGE_VALUE: FieldCost = { values: 1000 };

/** Values of a list with one for each residue. */
export const residueValues = (start: number | null | undefined, end: number | null | undefined): number =>
  Math.max(0, (end ?? USUAL_RESIDUES) - (start ?? 0));

/** The selection below a field. */
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
  /** Upstream calls. */
  readonly calls: number;
  readonly depth: number;
  /** Values of the response: fields and items of lists. */
  readonly values: number;
}

const USUAL_LIST = 10;
const USUAL_RESIDUES = 500;

/**
 * A part of `@defer` or `@stream` takes some kilobytes until it is sent, and the executor looks
 * through those that wait whenever one is there: it counts as so many values.
 */
export const PART_VALUES = 1000;

interface Estimate extends SelectionSource {
  /** Calls that the whole operation shares. */
  readonly once: Map<string, number>;
}

const isList = (type: GraphQLOutputType): boolean =>
  isListType(type) || (isNonNullType(type) && isList(type.ofType));

/** The object types that a field may return. */
function objectTypes({ schema }: SelectionSource, type: GraphQLOutputType): readonly GraphQLObjectType[] {
  const named = getNamedType(type);
  if (isAbstractType(named)) return schema.getPossibleTypes(named);
  return isObjectType(named) ? [named] : [];
}

const NOTHING: CostSelection = { names: new Set(), below: () => NOTHING };

function costSelection(
  source: SelectionSource,
  type: GraphQLOutputType,
  nodes: readonly FieldNode[],
): CostSelection {
  const fields = new Map<string, { readonly nodes: FieldNode[]; readonly type: GraphQLOutputType }>();
  for (const object of objectTypes(source, type)) {
    for (const group of collectSelectedFields(source, object, nodes).fields.values()) {
      const name = group[0]?.name.value ?? '';
      const definition = object.getFields()[name];
      if (definition === undefined) continue;
      const before = fields.get(name)?.nodes ?? [];
      fields.set(name, { nodes: [...before, ...group], type: definition.type });
    }
  }
  return {
    names: new Set(fields.keys()),
    below(name) {
      const field = fields.get(name);
      return field === undefined ? NOTHING : costSelection(source, field.type, field.nodes);
    },
  };
}

/** Whether a value of the extensions of a field is a rule. */
export const isCostRule = (rule: unknown): rule is CostRule =>
  typeof rule === 'number' || typeof rule === 'function' || (typeof rule === 'object' && rule !== null);

function fieldCost(
  source: SelectionSource,
  definition: GraphQLField<unknown, unknown>,
  nodes: readonly FieldNode[],
): FieldCost | undefined {
  const rule = definition.extensions[COST];
  const [node] = nodes;
  if (!isCostRule(rule) || node === undefined) return {};
  if (typeof rule === 'number') return { calls: rule };
  if (typeof rule === 'object') return rule;
  try {
    const args = getArgumentValues(definition, node, source.variableValues);
    return rule(args, costSelection(source, definition.type, nodes));
  } catch {
    // Executing the field fails on its arguments as well, before it costs anything.
    return undefined;
  }
}

const addLargest = (totals: Map<string, number>, more: FieldCost['shared']): void => {
  for (const [name, calls] of Object.entries(more ?? {}))
    totals.set(name, Math.max(totals.get(name) ?? 0, calls));
};

const sum = (totals: ReadonlyMap<string, number>): number =>
  [...totals.values()].reduce((total, calls) => total + calls, 0);

/** The items of a list that are parts of their own. */
function streamedItems(
  { variableValues }: SelectionSource,
  nodes: readonly FieldNode[],
  items: number,
): number {
  return Math.max(
    0,
    ...nodes.map((node) => {
      const stream = getDirectiveValues(GraphQLStreamDirective, node, variableValues);
      return stream === undefined || stream.if === false ? 0 : items - Number(stream.initialCount ?? 0);
    }),
  );
}

const FREE: QueryCost = { calls: 0, depth: 0, values: 0 };

/** The cost of one selected field with its selection. @param items - see `selectionCost` */
function selectedFieldCost(
  estimate: Estimate,
  { type }: GraphQLField<unknown, unknown>,
  cost: FieldCost,
  nodes: readonly FieldNode[],
  items: number | undefined,
): QueryCost {
  const repeated = isList(type);
  const times = repeated ? Math.max(0, cost.items ?? items ?? USUAL_LIST) : 1;
  if (!isCompositeType(getNamedType(type)))
    return { calls: 0, depth: 1, values: cost.values ?? (repeated ? USUAL_LIST : 1) };
  const below = selectionCost(estimate, type, nodes, repeated ? undefined : cost.items);
  const length = repeated ? (cost.length ?? times) : 1;
  return {
    calls: below.calls * times,
    depth: 1 + below.depth,
    values:
      length * ((cost.values ?? 1) + below.values) +
      PART_VALUES * streamedItems(estimate, nodes, repeated ? length : 0),
  };
}

/**
 * The cost of the most expensive object that a selection can apply to.
 *
 * @param items - how long the lists of the selection are unless their fields say
 */
function selectionCost(
  estimate: Estimate,
  type: GraphQLOutputType,
  of: OperationDefinitionNode | readonly FieldNode[],
  items: number | undefined,
): QueryCost {
  let most = FREE;
  for (const object of objectTypes(estimate, type)) {
    const shared = new Map<string, number>();
    const { fields, deferred } = collectSelectedFields(estimate, object, of);
    let calls = 0;
    let depth = 0;
    let values = PART_VALUES * deferred;
    for (const nodes of fields.values()) {
      const definition = object.getFields()[nodes[0]?.name.value ?? ''];
      const cost = definition && fieldCost(estimate, definition, nodes);
      depth = Math.max(depth, 1);
      if (definition === undefined || cost === undefined) {
        values += 1;
        continue;
      }
      addLargest(shared, cost.shared);
      addLargest(estimate.once, cost.once);
      const selected = selectedFieldCost(estimate, definition, cost, nodes, items);
      calls += (cost.calls ?? 0) + selected.calls;
      depth = Math.max(depth, selected.depth);
      values += selected.values;
    }
    most = {
      calls: Math.max(most.calls, calls + sum(shared)),
      depth: Math.max(most.depth, depth),
      values: Math.max(most.values, values),
    };
  }
  return most;
}

/** The most that an operation can cost. */
export function queryCost({
  schema,
  fragments,
  variableValues,
  operation,
}: SelectionSource & Pick<GraphQLResolveInfo, 'operation'>): QueryCost {
  const type = schema.getRootType(operation.operation);
  if (type == null) return FREE;
  const estimate: Estimate = { schema, fragments, variableValues, once: new Map() };
  const { calls, depth, values } = selectionCost(estimate, type, operation, undefined);
  return { calls: Math.ceil(calls + sum(estimate.once)), depth, values };
}
