// Completes values (Value Completion of the GraphQL specification) and the fields of objects.
import {
  defaultTypeResolver,
  GraphQLError,
  type GraphQLObjectType,
  type GraphQLResolveInfo,
  isObjectType,
} from 'graphql';
import { completeList } from './complete-list.ts';
import {
  awaitAll,
  type Data,
  failed,
  fieldsOf,
  guard,
  ignore,
  infoOf,
  isPromise,
  type Path,
  pathOf,
  type Run,
} from './execution-run.ts';
import { argsOf, type OutputShape, type PlannedField } from './field-plan.ts';

function typeFor(
  run: Run,
  field: PlannedField,
  shape: OutputShape & { kind: 'abstract' },
  name: unknown,
): GraphQLObjectType {
  const { type: abstract } = shape;
  const type = typeof name === 'string' ? run.schema.getType(name) : undefined;
  if (!isObjectType(type) || !run.schema.isSubType(abstract, type))
    throw new GraphQLError(
      `"${abstract.name}" was resolved to ${JSON.stringify(name)}, which is none of its types.`,
      { nodes: field.nodes },
    );
  return type;
}

function complete(
  run: Run,
  field: PlannedField,
  shape: OutputShape,
  info: GraphQLResolveInfo | undefined,
  path: Path,
  value: unknown,
): unknown {
  if (value instanceof Error) throw value;
  if (shape.kind === 'nonNull') {
    const completed = complete(run, field, shape.of, info, path, value);
    if (completed === null)
      throw new Error(
        `Cannot return null for non-nullable field ${field.parent.name}.${field.definition.name}.`,
      );
    return completed;
  }
  if (value == null) return null;
  switch (shape.kind) {
    case 'leaf': {
      const written: unknown = shape.type.serialize(value);
      if (written == null) throw new Error(`A value of ${shape.type.name} cannot be written.`);
      run.budget.spendLeaf(written);
      return written;
    }
    case 'object':
      return completeObject(run, fieldsOf(run, shape.type, field.nodes), path, value);
    case 'list':
      return completeList(run, field, shape.of, path, value, (item, place) =>
        completeCaught(run, field, shape.of, info, place, item),
      );
    case 'abstract': {
      if (info === undefined)
        throw new Error('An abstract type is completed with all that there is to know.');
      const resolveType = shape.type.resolveType ?? defaultTypeResolver;
      const name: unknown = resolveType(value, run.contextValue, info, shape.type);
      const go = (found: unknown) =>
        completeObject(run, fieldsOf(run, typeFor(run, field, shape, found), field.nodes), path, value);
      return isPromise(name) ? name.then(go) : go(name);
    }
  }
}

/** Completes the value of a promise. Thousands may settle in the same turn of the event loop. */
function completeLater(
  run: Run,
  field: PlannedField,
  shape: OutputShape,
  info: GraphQLResolveInfo | undefined,
  path: Path,
  value: PromiseLike<unknown>,
): PromiseLike<unknown> {
  const { budget } = run;
  const go = (resolved: unknown): unknown =>
    budget.isTurnOver()
      ? budget.nextTurn().then(() => complete(run, field, shape, info, path, resolved))
      : complete(run, field, shape, info, path, resolved);
  const completed = value.then(go);
  try {
    budget.spendPending();
  } catch (error) {
    completed.then(undefined, ignore);
    throw error;
  }
  return completed;
}

/** Completes a value; one that fails is null where it may be. */
export function completeCaught(
  run: Run,
  field: PlannedField,
  shape: OutputShape,
  info: GraphQLResolveInfo | undefined,
  path: Path,
  value: unknown,
): unknown {
  try {
    const completed = isPromise(value)
      ? completeLater(run, field, shape, info, path, value)
      : complete(run, field, shape, info, path, value);
    return isPromise(completed)
      ? completed.then(undefined, (error: unknown) => failed(run, error, field, shape, path))
      : completed;
  } catch (error) {
    return failed(run, error, field, shape, path);
  }
}

/** Calls a resolver that reads `info`. */
function resolveWithInfo(run: Run, field: PlannedField, prev: Path | undefined, source: unknown): unknown {
  const path = pathOf(field, prev);
  const info = infoOf(run, field, path);
  let value: unknown;
  try {
    value = field.resolve(source, argsOf(field, run.args, run.variableValues), run.contextValue, info);
  } catch (error) {
    return failed(run, error, field, field.shape, path);
  }
  return completeCaught(run, field, field.shape, info, path, value);
}

export function resolveField(
  run: Run,
  field: PlannedField,
  prev: Path | undefined,
  source: unknown,
): unknown {
  const { brief, leaf, shape } = field;
  run.budget.spend(1);
  if (brief === undefined) return resolveWithInfo(run, field, prev, source);
  try {
    const value = brief(source, argsOf(field, run.args, run.variableValues), run.contextValue);
    if (value == null && shape.kind !== 'nonNull') return null;
    // Most fields are leaves with synchronous values, which need no path.
    const written: unknown = leaf === undefined || typeof value === 'object' ? null : leaf.serialize(value);
    if (typeof written === 'string') run.budget.spendLeaf(written);
    return written ?? completeCaught(run, field, shape, undefined, pathOf(field, prev), value);
  } catch (error) {
    return failed(run, error, field, shape, pathOf(field, prev));
  }
}

/** Fields after which the time is looked at. */
const FIELDS_AT_ONCE = 8;

function completeFields(
  run: Run,
  fields: readonly PlannedField[],
  path: Path | undefined,
  source: unknown,
  data: Data,
  from: number,
  alreadyWaits: boolean,
): Data | Promise<Data> {
  let waits = alreadyWaits;
  try {
    for (let i = from; i < fields.length; i += 1) {
      const field = fields[i];
      if (field === undefined) break;
      if (i > from && i % FIELDS_AT_ONCE === 0 && run.budget.isTurnOver()) {
        if (waits) guard(Object.values(data));
        const waited = waits;
        return run.budget.nextTurn().then(() => completeFields(run, fields, path, source, data, i, waited));
      }
      const value = resolveField(run, field, path, source);
      waits ||= isPromise(value);
      data[field.key] = value;
    }
  } catch (error) {
    if (!waits) throw error;
    guard(Object.values(data));
    // Others may fail as well; what ends the execution waits for none of them.
    if (run.budget.stopped !== undefined) throw error;
    return awaitAll(data).finally(() => {
      throw error;
    });
  }
  return waits ? awaitAll(data) : data;
}

export const completeObject = (
  run: Run,
  fields: readonly PlannedField[],
  path: Path | undefined,
  source: unknown,
): Data | Promise<Data> => completeFields(run, fields, path, source, {}, 0, false);
