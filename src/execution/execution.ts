// One execution: completes the fields of objects and their values (Value Completion of the GraphQL
// specification), and records errors.
import {
  defaultTypeResolver,
  type ExecutionResult,
  type FieldNode,
  type FragmentDefinitionNode,
  GraphQLError,
  type GraphQLObjectType,
  type GraphQLSchema,
  getArgumentValues,
  isObjectType,
  locatedError,
  type OperationDefinitionNode,
  responsePathAsArray,
} from 'graphql';
import { completeList } from './complete-list.ts';
import type { ExecutionBudget } from './execution-budget.ts';
import {
  type Args,
  fieldPathOf,
  type OutputShape,
  type Path,
  type PlannedField,
  type Plans,
  pathOf,
  plannedFields,
} from './field-plan.ts';
import { locateError } from './locate-error.ts';
import { awaitAll, guard, ignore, isPromise } from './promises.ts';

export type Data = Record<string, unknown>;
type Plan = readonly PlannedField[];

/** What an execution is of. */
export interface ExecutionSource {
  readonly schema: GraphQLSchema;
  readonly fragments: Record<string, FragmentDefinitionNode>;
  readonly operation: OperationDefinitionNode;
  readonly variableValues: Record<string, unknown>;
  readonly contextValue: unknown;
  readonly rootValue: unknown;
  /** What is planned already. */
  readonly plans: Plans;
  readonly budget: ExecutionBudget;
}

/**
 * The helpers of graphql-js 17 in `info`: this executor cancels nothing and awaits only the answer.
 */
const getAbortSignal = () => undefined;
const getAsyncHelpers = () => ({
  promiseAll: <T>(values: readonly (PromiseLike<T> | T)[]): Promise<T[]> => Promise.all(values),
  track: () => undefined,
});

const NO_ARGS: Args = Object.freeze({});

/** Fields after which the time is looked at. */
const FIELDS_AT_ONCE = 8;

export class Execution {
  readonly errors: GraphQLError[] = [];
  readonly budget: ExecutionBudget;
  readonly #source: ExecutionSource;
  /** Where the errors stand: what is below such a place is null already. */
  readonly #nulled = new Set<Path | undefined>();
  /** Arguments that many objects share. */
  readonly #args = new Map<PlannedField, Args>();

  constructor(source: ExecutionSource) {
    this.#source = source;
    this.budget = source.budget;
  }

  /** The fields of an object below the nodes of a field; of an operation, the operation is the key. */
  fieldsOf(
    type: GraphQLObjectType,
    nodes: readonly (FieldNode | OperationDefinitionNode)[],
    key: object = nodes,
  ): Plan {
    const { plans } = this.#source;
    const ofKey = plans.get(key) ?? new Map<GraphQLObjectType, Plan>();
    if (ofKey.size === 0) plans.set(key, ofKey);
    const known = ofKey.get(type);
    if (known !== undefined) return known;
    const planned = plannedFields(this.#source, type, nodes);
    ofKey.set(type, planned);
    return planned;
  }

  /** Calls the resolver of a field. @param path - of the field, where that is known */
  resolve(field: PlannedField, source: unknown, path: Path): unknown {
    const { contextValue } = this.#source;
    return field.resolve(source, this.#argsOf(field), contextValue, this.#infoOf(field, path));
  }

  /** The value of a field in the answer, or a promise of it. */
  resolveField(field: PlannedField, prev: Path | undefined, source: unknown): unknown {
    const { brief, leaf, shape } = field;
    let path: Path | undefined;
    let value: unknown;
    this.budget.spend(1);
    try {
      // Most fields are leaves with synchronous values, which need no path.
      if (brief !== undefined) value = brief(source, this.#argsOf(field), this.#source.contextValue);
      else {
        path = pathOf(field, prev);
        value = this.resolve(field, source, path);
      }
      if (value == null && shape.kind !== 'nonNull') return null;
      const written: unknown = leaf === undefined || typeof value === 'object' ? null : leaf.serialize(value);
      if (typeof written === 'string') this.budget.spendLeaf(written);
      if (written != null) return written;
    } catch (error) {
      return this.#failed(error, field, shape, path ?? pathOf(field, prev));
    }
    return this.completeCaught(field, shape, path ?? pathOf(field, prev), value);
  }

  /** Completes a value; one that fails is null where it may be. */
  completeCaught(field: PlannedField, shape: OutputShape, path: Path, value: unknown): unknown {
    try {
      const completed = isPromise(value)
        ? this.#completeLater(field, shape, path, value)
        : this.#complete(field, shape, path, value);
      return isPromise(completed)
        ? completed.then(undefined, (error: unknown) => this.#failed(error, field, shape, path))
        : completed;
    } catch (error) {
      return this.#failed(error, field, shape, path);
    }
  }

  /** Completes the fields of an object from one on. @param waits - whether one before is a promise */
  completeFields(
    fields: Plan,
    path: Path | undefined,
    source: unknown,
    data: Data = {},
    from = 0,
    waits = false,
  ): Data | Promise<Data> {
    let isWaiting = waits;
    try {
      for (let i = from; i < fields.length; i += 1) {
        const field = fields[i];
        if (field === undefined) break;
        if (i > from && i % FIELDS_AT_ONCE === 0 && this.budget.isTurnOver()) {
          if (isWaiting) guard(Object.values(data));
          const go = () => this.completeFields(fields, path, source, data, i, isWaiting);
          return this.budget.nextTurn().then(go);
        }
        const value = this.resolveField(field, path, source);
        isWaiting ||= isPromise(value);
        data[field.key] = value;
      }
    } catch (error) {
      if (!isWaiting) throw error;
      guard(Object.values(data));
      // Others may fail as well; what ends the execution waits for none of them.
      if (this.budget.stopped !== undefined) throw error;
      return awaitAll(data).finally(() => {
        throw error;
      });
    }
    return isWaiting ? awaitAll(data) : data;
  }

  /** The answer, once its data are there. */
  async answer(begin: () => Data | Promise<Data>): Promise<ExecutionResult> {
    const { errors, budget } = this;
    let data: Data | null = null;
    try {
      data = await begin();
    } catch (error) {
      // What ended the execution stands for all that failed before or by it.
      if (budget.stopped !== undefined) errors.length = 0;
      this.#record(locatedError(error, undefined), undefined);
    }
    return errors.length === 0 ? { data } : { errors, data };
  }

  #complete(field: PlannedField, shape: OutputShape, path: Path, value: unknown): unknown {
    if (value instanceof Error) throw value;
    if (shape.kind === 'nonNull') {
      const completed = this.#complete(field, shape.of, path, value);
      if (completed !== null) return completed;
      const { parent, definition } = field;
      throw new Error(`Cannot return null for non-nullable field ${parent.name}.${definition.name}.`);
    }
    if (value == null) return null;
    switch (shape.kind) {
      case 'leaf': {
        const written: unknown = shape.type.serialize(value);
        if (written == null) throw new Error(`A value of ${shape.type.name} cannot be written.`);
        this.budget.spendLeaf(written);
        return written;
      }
      case 'object':
        return this.completeFields(this.fieldsOf(shape.type, field.nodes), path, value);
      case 'list':
        return completeList(this, field, shape.of, path, value);
      case 'abstract': {
        const info = this.#infoOf(field, fieldPathOf(path));
        const resolveType = shape.type.resolveType ?? defaultTypeResolver;
        const name: unknown = resolveType(value, this.#source.contextValue, info, shape.type);
        const go = (found: unknown) => {
          const type = this.#typeFor(field, shape, found);
          return this.completeFields(this.fieldsOf(type, field.nodes), path, value);
        };
        return isPromise(name) ? name.then(go) : go(name);
      }
    }
  }

  /** Completes the value of a promise. Thousands may settle in the same turn of the event loop. */
  #completeLater(
    field: PlannedField,
    shape: OutputShape,
    path: Path,
    value: PromiseLike<unknown>,
  ): PromiseLike<unknown> {
    const { budget } = this;
    const completed = value.then((resolved) =>
      budget.isTurnOver()
        ? budget.nextTurn().then(() => this.#complete(field, shape, path, resolved))
        : this.#complete(field, shape, path, resolved),
    );
    try {
      budget.spendPending();
    } catch (error) {
      completed.then(undefined, ignore);
      throw error;
    }
    return completed;
  }

  #typeFor(field: PlannedField, shape: OutputShape & { kind: 'abstract' }, name: unknown): GraphQLObjectType {
    const { schema } = this.#source;
    const type = typeof name === 'string' ? schema.getType(name) : undefined;
    if (isObjectType(type) && schema.isSubType(shape.type, type)) return type;
    throw new GraphQLError(
      `"${shape.type.name}" was resolved to ${JSON.stringify(name)}, which is none of its types.`,
      { nodes: field.nodes },
    );
  }

  /** @throws GraphQLError for invalid arguments, on each call */
  #argsOf(field: PlannedField): Args {
    const { definition, nodes } = field;
    const [node] = nodes;
    if (definition.args.length === 0 || node === undefined) return NO_ARGS;
    const args = this.#args.get(field) ?? getArgumentValues(definition, node, this.#source.variableValues);
    this.#args.set(field, args);
    return args;
  }

  #infoOf(field: PlannedField, path: Path) {
    const { schema, fragments, rootValue, operation, variableValues } = this.#source;
    return {
      fieldName: field.definition.name,
      fieldNodes: field.nodes,
      returnType: field.definition.type,
      parentType: field.parent,
      path,
      schema,
      fragments,
      rootValue,
      operation,
      variableValues,
      getAbortSignal,
      getAsyncHelpers,
    };
  }

  /** What stands in place of a value that failed. @throws GraphQLError where nothing may */
  #failed(thrown: unknown, { nodes }: PlannedField, shape: OutputShape, path: Path): null {
    // What ends the execution is no error of a field.
    this.budget.stopIfLeft();
    if (this.budget.stopped !== undefined) throw this.budget.stopped.error;
    this.budget.spendError();
    const error = locateError(thrown, nodes, responsePathAsArray(path));
    if (shape.kind === 'nonNull') throw error;
    this.#record(error, path);
    return null;
  }

  /** Writes an error down, unless its place is null already for another. */
  #record(error: GraphQLError, path: Path | undefined): void {
    for (let place = path; place !== undefined; place = place.prev) if (this.#nulled.has(place)) return;
    if (this.#nulled.has(undefined)) return;
    this.#nulled.add(path);
    this.errors.push(error);
  }
}
