// Executes a query by the rules of the GraphQL specification (Executing Requests), as graphql-js does, which makes an object of arguments for
// each field of each object, and of each object one that no engine is quick with: a third of what a list of a hundred proteins costs.
// A list that grows it gives item by item, where whoever asks can take that. It knows neither events nor results in parts nor mutations, and no
// type of ours; a test holds it against graphql-js.
import {
  type DocumentNode,
  defaultTypeResolver,
  type ExecutionResult,
  type FieldNode,
  type FragmentDefinitionNode,
  GraphQLError,
  type GraphQLObjectType,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  getVariableValues,
  isObjectType,
  locatedError,
  type OperationDefinitionNode,
  OperationTypeNode,
  responsePathAsArray,
} from 'graphql';
import { GrowingList, growing } from '../growing-list.ts';
import {
  argsOf,
  type OwnArgs,
  type PlannedField,
  type Prepared,
  plannedFields,
  prepare,
  type Shape,
} from './plan.ts';

type Path = GraphQLResolveInfo['path'];

export interface QueryArgs {
  readonly schema: GraphQLSchema;
  /** A valid document that holds one operation, a query. */
  readonly document: DocumentNode;
  readonly contextValue: unknown;
  readonly variableValues?: Readonly<Record<string, unknown>> | undefined;
  /** Whether a list that is all of the answer may be given while it is still coming. */
  readonly grows?: boolean;
}

type Data = Record<string, unknown>;
/** What a resolver is told of the execution; undefined where nobody looks at it. */
type Info = GraphQLResolveInfo & typeof HELPERS;

interface Run {
  readonly schema: GraphQLSchema;
  readonly fragments: Record<string, FragmentDefinitionNode>;
  readonly operation: OperationDefinitionNode;
  readonly variableValues: Record<string, unknown>;
  readonly contextValue: unknown;
  readonly plans: NonNullable<Prepared['plans']>;
  readonly args: OwnArgs;
  readonly errors: GraphQLError[];
  /** Where the errors stand: what is below such a place is null already. */
  readonly nulled: Set<Path | undefined>;
}

/** What newer resolvers may ask for: nothing here is cut off, and nothing is waited for but what is answered. */
const HELPERS = {
  getAbortSignal: () => undefined,
  getAsyncHelpers: () => ({
    promiseAll: <T>(values: readonly (PromiseLike<T> | T)[]): Promise<T[]> => Promise.all(values),
    track: () => undefined,
  }),
};

const isPromise = (value: unknown): value is PromiseLike<unknown> =>
  typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';

function fieldsOf(run: Run, type: GraphQLObjectType, nodes: readonly FieldNode[]): readonly PlannedField[] {
  const ofNodes = run.plans.get(nodes) ?? new Map<GraphQLObjectType, readonly PlannedField[]>();
  if (ofNodes.size === 0) run.plans.set(nodes, ofNodes);
  const known = ofNodes.get(type);
  if (known !== undefined) return known;
  const planned = plannedFields(run, type, nodes);
  ofNodes.set(type, planned);
  return planned;
}

/** Writes an error down, unless its place is null already for another. */
function note(run: Run, error: GraphQLError, path: Path | undefined): void {
  for (let place = path; place !== undefined; place = place.prev) if (run.nulled.has(place)) return;
  if (run.nulled.has(undefined)) return;
  run.nulled.add(path);
  run.errors.push(error);
}

/** What stands in place of a value that failed. @throws GraphQLError where nothing may */
function failed(run: Run, thrown: unknown, { nodes }: PlannedField, shape: Shape, path: Path): null {
  const error = locatedError(thrown, nodes, responsePathAsArray(path));
  if (shape.kind === 'nonNull') throw error;
  note(run, error, path);
  return null;
}

function completeList(
  run: Run,
  field: PlannedField,
  of: Shape,
  info: Info | undefined,
  path: Path,
  value: unknown,
  from = 0,
) {
  if (typeof value !== 'object' || value === null || !(Symbol.iterator in value))
    throw new GraphQLError(
      `Expected Iterable, but did not find one for field "${field.parent.name}.${field.definition.name}".`,
    );
  let waits = false;
  const items: unknown[] = [];
  try {
    for (const item of value as Iterable<unknown>) {
      const place: Path = { prev: path, key: from + items.length, typename: undefined };
      const completed = completeCaught(run, field, of, info, place, item);
      waits ||= isPromise(completed);
      items.push(completed);
    }
  } catch (error) {
    // Those that are still under way may fail as well, and nobody would be told.
    if (waits) Promise.all(items).catch(() => undefined);
    throw error;
  }
  return waits ? Promise.all(items) : items;
}

function typeFor(
  run: Run,
  field: PlannedField,
  shape: Shape & { kind: 'abstract' },
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
  shape: Shape,
  info: Info | undefined,
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
      return written;
    }
    case 'object':
      return completeObject(run, fieldsOf(run, shape.type, field.nodes), path, value);
    case 'list':
      return completeList(run, field, shape.of, info, path, value);
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

/** Completes a value; one that fails is null where it may be. */
function completeCaught(
  run: Run,
  field: PlannedField,
  shape: Shape,
  info: Info | undefined,
  path: Path,
  value: unknown,
): unknown {
  try {
    const completed = isPromise(value)
      ? value.then((resolved) => complete(run, field, shape, info, path, resolved))
      : complete(run, field, shape, info, path, value);
    return isPromise(completed)
      ? completed.then(undefined, (error: unknown) => failed(run, error, field, shape, path))
      : completed;
  } catch (error) {
    return failed(run, error, field, shape, path);
  }
}

const infoOf = (run: Run, { definition, nodes, parent }: PlannedField, path: Path): Info => ({
  fieldName: definition.name,
  fieldNodes: nodes,
  returnType: definition.type,
  parentType: parent,
  path,
  schema: run.schema,
  fragments: run.fragments,
  rootValue: undefined,
  operation: run.operation,
  variableValues: run.variableValues,
  getAbortSignal: HELPERS.getAbortSignal,
  getAsyncHelpers: HELPERS.getAsyncHelpers,
});

const pathOf = ({ key, parent }: PlannedField, prev: Path | undefined): Path => ({
  prev,
  key,
  typename: parent.name,
});

/** Resolves a field by a function that is told of the execution. */
function resolveTold(run: Run, field: PlannedField, prev: Path | undefined, source: unknown): unknown {
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

function resolveField(run: Run, field: PlannedField, prev: Path | undefined, source: unknown): unknown {
  const { brief, leaf, shape } = field;
  if (brief === undefined) return resolveTold(run, field, prev, source);
  try {
    const value = brief(source, argsOf(field, run.args, run.variableValues), run.contextValue);
    if (value == null && shape.kind !== 'nonNull') return null;
    // Most fields are leaves that are there at once: nobody asks where they stand.
    const written: unknown = leaf === undefined || typeof value === 'object' ? null : leaf.serialize(value);
    return written ?? completeCaught(run, field, shape, undefined, pathOf(field, prev), value);
  } catch (error) {
    return failed(run, error, field, shape, pathOf(field, prev));
  }
}

/** Waits for the members that are promises, and puts each in its place. */
async function settled(data: Data): Promise<Data> {
  const values = await Promise.all(Object.values(data));
  for (const [i, key] of Object.keys(data).entries()) data[key] = values[i];
  return data;
}

function completeObject(
  run: Run,
  fields: readonly PlannedField[],
  path: Path | undefined,
  source: unknown,
): Data | Promise<Data> {
  const data: Data = {};
  let waits = false;
  try {
    for (const field of fields) {
      const value = resolveField(run, field, path, source);
      waits ||= isPromise(value);
      data[field.key] = value;
    }
  } catch (error) {
    if (!waits) throw error;
    // Others may fail as well, and nobody would be told.
    return settled(data).finally(() => {
      throw error;
    });
  }
  return waits ? settled(data) : data;
}

/** Completes items that stand at some place of a list and behind it. */
type CompleteItems = (items: readonly unknown[], from: number) => unknown[] | Promise<unknown[]>;

/** An answer that is one list, of which the first items are there. */
export class GrowingResult {
  /** Of the list in the answer's data. */
  readonly key: string;
  readonly #run: Run;
  readonly #list: GrowingList<unknown>;
  readonly #complete: CompleteItems;
  #taken = 0;

  constructor(run: Run, key: string, list: GrowingList<unknown>, complete: CompleteItems) {
    this.key = key;
    this.#run = run;
    this.#list = list;
    this.#complete = complete;
  }
  /** What has failed in all that was taken. */
  get errors(): readonly GraphQLError[] {
    return this.#run.errors;
  }
  /** The next items, all that are there, as a list; undefined behind the last. @throws where the list would have to be null, which it cannot be any more */
  async next(): Promise<readonly unknown[] | undefined> {
    const from = this.#taken;
    await this.#list.more(from);
    const items = this.#list.items.slice(from);
    this.#taken += items.length;
    return items.length === 0 ? undefined : this.#complete(items, from);
  }
}

async function answer(run: Run, begin: () => Data | Promise<Data>): Promise<ExecutionResult> {
  let data: Data | null = null;
  try {
    data = await begin();
  } catch (error) {
    note(run, locatedError(error, undefined), undefined);
  }
  return run.errors.length === 0 ? { data } : { errors: run.errors, data };
}

const itemsOf = (shape: Shape): Shape | undefined =>
  shape.kind === 'nonNull' ? itemsOf(shape.of) : shape.kind === 'list' ? shape.of : undefined;

/** An answer that is one list: once all of it is there, or once its first items are, where others are still coming. */
async function answerList(
  run: Run,
  field: PlannedField,
  of: Shape,
): Promise<ExecutionResult | GrowingResult> {
  const path = pathOf(field, undefined);
  const info = growing(infoOf(run, field, path));
  const resolve = async (): Promise<unknown> =>
    field.resolve(undefined, argsOf(field, run.args, run.variableValues), run.contextValue, info);
  const resolving = resolve();
  const list = await resolving.catch(() => undefined);
  if (!(list instanceof GrowingList))
    return answer(run, () =>
      settled({ [field.key]: completeCaught(run, field, field.shape, info, path, resolving) }),
    );
  const whole = list.more(0).then(() => list.items);
  await whole.catch(() => undefined);
  if (!list.hasEnded)
    return new GrowingResult(run, field.key, list, (items, from) =>
      completeList(run, field, of, info, path, items, from),
    );
  return answer(run, () =>
    settled({ [field.key]: completeCaught(run, field, field.shape, info, path, whole) }),
  );
}

/**
 * Executes a query.
 *
 * @returns undefined where its variables are not what it takes: whoever executes it otherwise can say why
 */
export function executeQuery(
  args: QueryArgs & { readonly grows: true },
): Promise<ExecutionResult | GrowingResult> | undefined;
export function executeQuery(args: QueryArgs): Promise<ExecutionResult> | undefined;
export function executeQuery(args: QueryArgs): Promise<ExecutionResult | GrowingResult> | undefined {
  const { schema, document, contextValue, variableValues = {}, grows = false } = args;
  const known = prepare(schema, document);
  const { operation, fragments } = known;
  const type = schema.getQueryType();
  if (operation?.operation !== OperationTypeNode.QUERY || type == null) return undefined;
  const variables = getVariableValues(schema, operation.variableDefinitions ?? [], variableValues);
  if (variables.coerced === undefined) return undefined;
  const run: Run = {
    schema,
    fragments,
    operation,
    variableValues: variables.coerced,
    contextValue,
    plans: known.plans ?? new Map(),
    args: new Map(),
    errors: [],
    nulled: new Set(),
  };
  const fields = known.fields ?? plannedFields(run, type, [operation]);
  if (known.plans !== undefined) known.fields = fields;
  const [only] = fields;
  const of = grows && fields.length === 1 && only !== undefined ? itemsOf(only.shape) : undefined;
  if (only !== undefined && of !== undefined) return answerList(run, only, of);
  return answer(run, () => completeObject(run, fields, undefined, undefined));
}
