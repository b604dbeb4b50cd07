// The state of one execution: field plans, recorded errors, and the `info` of resolvers.
import {
  type ExecutionResult,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLError,
  type GraphQLObjectType,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  locatedError,
  type OperationDefinitionNode,
  responsePathAsArray,
} from 'graphql';
import type { ExecutionBudget } from './execution-budget.ts';
import {
  type CompiledDocument,
  type OutputShape,
  type PlannedField,
  plannedFields,
  type VariableArgs,
} from './field-plan.ts';

export type Path = GraphQLResolveInfo['path'];

export type Data = Record<string, unknown>;

export interface Run {
  readonly schema: GraphQLSchema;
  readonly fragments: Record<string, FragmentDefinitionNode>;
  readonly operation: OperationDefinitionNode;
  readonly variableValues: Record<string, unknown>;
  readonly contextValue: unknown;
  readonly rootValue: unknown;
  readonly plans: NonNullable<CompiledDocument['plans']>;
  readonly args: VariableArgs;
  readonly budget: ExecutionBudget;
  readonly errors: GraphQLError[];
  /** Where the errors stand: what is below such a place is null already. */
  readonly nulled: Set<Path | undefined>;
}

/**
 * The helpers of graphql-js 17 in `info`: this executor cancels nothing and awaits only the answer.
 */
const HELPERS = {
  getAbortSignal: () => undefined,
  getAsyncHelpers: () => ({
    promiseAll: <T>(values: readonly (PromiseLike<T> | T)[]): Promise<T[]> => Promise.all(values),
    track: () => undefined,
  }),
};

export const isPromise = (value: unknown): value is PromiseLike<unknown> =>
  typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';

export function fieldsOf(
  run: Run,
  type: GraphQLObjectType,
  nodes: readonly FieldNode[],
): readonly PlannedField[] {
  const ofNodes = run.plans.get(nodes) ?? new Map<GraphQLObjectType, readonly PlannedField[]>();
  if (ofNodes.size === 0) run.plans.set(nodes, ofNodes);
  const known = ofNodes.get(type);
  if (known !== undefined) return known;
  const planned = plannedFields(run, type, nodes);
  ofNodes.set(type, planned);
  return planned;
}

/** Writes an error down, unless its place is null already for another. */
function recordError(run: Run, error: GraphQLError, path: Path | undefined): void {
  for (let place = path; place !== undefined; place = place.prev) if (run.nulled.has(place)) return;
  if (run.nulled.has(undefined)) return;
  run.nulled.add(path);
  run.errors.push(error);
}

/** What stands in place of a value that failed. @throws GraphQLError where nothing may */
export function failed(
  run: Run,
  thrown: unknown,
  { nodes }: PlannedField,
  shape: OutputShape,
  path: Path,
): null {
  // What ends the execution is no error of a field.
  run.budget.stopIfLeft();
  if (run.budget.stopped !== undefined) throw run.budget.stopped.error;
  const error = locatedError(thrown, nodes, responsePathAsArray(path));
  if (shape.kind === 'nonNull') throw error;
  recordError(run, error, path);
  return null;
}

export const ignore = (): void => undefined;

/**
 * Marks promises that are awaited later as handled: an early rejection must not end the process.
 */
export const guard = (values: readonly unknown[]): void => {
  Promise.all(values).catch(ignore);
};

export const isLeafShape = (shape: OutputShape): boolean =>
  shape.kind === 'leaf' || (shape.kind === 'nonNull' && isLeafShape(shape.of));

export const infoOf = (
  run: Run,
  { definition, nodes, parent }: PlannedField,
  path: Path,
): GraphQLResolveInfo & typeof HELPERS => ({
  fieldName: definition.name,
  fieldNodes: nodes,
  returnType: definition.type,
  parentType: parent,
  path,
  schema: run.schema,
  fragments: run.fragments,
  rootValue: run.rootValue,
  operation: run.operation,
  variableValues: run.variableValues,
  getAbortSignal: HELPERS.getAbortSignal,
  getAsyncHelpers: HELPERS.getAsyncHelpers,
});

export const pathOf = ({ key, parent }: PlannedField, prev: Path | undefined): Path => ({
  prev,
  key,
  typename: parent.name,
});

/** Waits for the members that are promises, and puts each in its place. */
export async function awaitAll(data: Data): Promise<Data> {
  const values = await Promise.all(Object.values(data));
  for (const [i, key] of Object.keys(data).entries()) data[key] = values[i];
  return data;
}

export async function answer(run: Run, begin: () => Data | Promise<Data>): Promise<ExecutionResult> {
  let data: Data | null = null;
  try {
    data = await begin();
  } catch (error) {
    // What ended the execution stands for all that failed before or by it.
    if (run.budget.stopped !== undefined) run.errors.length = 0;
    recordError(run, locatedError(error, undefined), undefined);
  }
  return run.errors.length === 0 ? { data } : { errors: run.errors, data };
}
