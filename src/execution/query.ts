// Executes a query by the rules of the GraphQL specification (Executing Requests), as graphql-js does, which makes an object of arguments for
// each field of each object, and of each object one that no engine is quick with: a third of what a list of a hundred proteins costs.
// A list that grows it gives item by item, where whoever asks can take that. It knows neither events nor mutations nor deferred fragments, and
// no type of ours; a test holds it against graphql-js.
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
  /** How many items of it the beginning has, where it is given in parts however it comes (`@stream`). */
  readonly initialCount?: number | undefined;
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
) {
  if (typeof value !== 'object' || value === null || !(Symbol.iterator in value))
    throw new GraphQLError(
      `Expected Iterable, but did not find one for field "${field.parent.name}.${field.definition.name}".`,
    );
  let waits = false;
  const items: unknown[] = [];
  try {
    for (const item of value as Iterable<unknown>) {
      const place: Path = { prev: path, key: items.length, typename: undefined };
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

/** A list that is all of an answer: its field, its items' shape and what its resolver was told. */
interface OnlyList {
  readonly run: Run;
  readonly field: PlannedField;
  readonly of: Shape;
  readonly info: Info;
  readonly path: Path;
}

interface CompletedItems {
  /** As far as the first that failed and may not be null. */
  readonly items: readonly unknown[];
  readonly failure: { readonly error: unknown } | undefined;
}

/** Completes items that stand at some place of a list and behind it. */
async function completeItems(
  { run, field, of, info, path }: OnlyList,
  given: readonly unknown[],
  from: number,
): Promise<CompletedItems> {
  const items: unknown[] = [];
  let failure: CompletedItems['failure'];
  for (const item of given) {
    const place: Path = { prev: path, key: from + items.length, typename: undefined };
    try {
      items.push(completeCaught(run, field, of, info, place, item));
    } catch (error) {
      failure = { error };
      break;
    }
  }
  if (!items.some(isPromise)) return { items, failure };
  const settledOnes = await Promise.allSettled(items);
  const there: unknown[] = [];
  for (const one of settledOnes) {
    if (one.status === 'rejected') return { items: there, failure: { error: one.reason } };
    there.push(one.value);
  }
  return { items: there, failure };
}

/** An answer that is one list, of which the first items are there. */
export class GrowingResult {
  readonly #only: OnlyList;
  readonly #list: GrowingList<unknown>;
  #taken = 0;
  #failure: CompletedItems['failure'];
  #initial: readonly unknown[] = [];

  constructor(only: OnlyList, list: GrowingList<unknown>) {
    this.#only = only;
    this.#list = list;
  }
  /** Of the list in the answer's data. */
  get key(): string {
    return this.#only.field.key;
  }
  /** What has failed in all that was taken. */
  get errors(): readonly GraphQLError[] {
    return this.#only.run.errors;
  }
  /** What it has begun with. */
  get initial(): readonly unknown[] {
    return this.#initial;
  }
  /** Takes what it begins with. @returns whether there were so many */
  async begin(count: number): Promise<boolean> {
    while (this.#initial.length < count) {
      const items = await this.next(count - this.#initial.length);
      if (items === undefined) return false;
      this.#initial = [...this.#initial, ...items];
    }
    return true;
  }
  /** The next items, all that are there or as many as asked for; undefined behind the last. @throws GraphQLError where the list would have to be null, which it cannot be any more */
  async next(most?: number): Promise<readonly unknown[] | undefined> {
    const from = this.#taken;
    const { key, nodes } = this.#only.field;
    try {
      if (this.#failure !== undefined) throw this.#failure.error;
      await this.#list.more(from);
      const given = this.#list.items.slice(from, most === undefined ? undefined : from + most);
      if (given.length === 0) return undefined;
      this.#taken += given.length;
      const { items, failure } = await completeItems(this.#only, given, from);
      this.#failure = failure;
      if (failure !== undefined && items.length === 0) throw failure.error;
      return items;
    } catch (error) {
      throw locatedError(error, nodes, [key]);
    }
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

/** A list of which all items are there already. */
function endedList(items: Iterable<unknown>): GrowingList<unknown> {
  const list = new GrowingList<unknown>();
  list.add([...items]);
  list.end();
  return list;
}

/** What a resolver gave, as a list that grows; undefined for what is no list. */
function growingOf(value: unknown): GrowingList<unknown> | undefined {
  if (value instanceof GrowingList) return value;
  if (typeof value !== 'object' || value === null || !(Symbol.iterator in value)) return undefined;
  return endedList(value as Iterable<unknown>);
}

/** What the resolver of the list gives, and the answer that a value in its place makes. */
function resolved({ run, field, info, path }: OnlyList) {
  const resolve = async (): Promise<unknown> =>
    field.resolve(undefined, argsOf(field, run.args, run.variableValues), run.contextValue, info);
  const whole = (value: PromiseLike<unknown>): Promise<ExecutionResult> =>
    answer(run, () => settled({ [field.key]: completeCaught(run, field, field.shape, info, path, value) }));
  return { resolving: resolve(), whole };
}

/** An answer that is one list: once all of it is there, or once its first items are, where others are still coming. */
async function answerList(only: OnlyList): Promise<ExecutionResult | GrowingResult> {
  const { resolving, whole } = resolved(only);
  const list = await resolving.catch(() => undefined);
  if (!(list instanceof GrowingList)) return whole(resolving);
  const items = list.more(0).then(() => list.items);
  await items.catch(() => undefined);
  return list.hasEnded ? whole(items) : new GrowingResult(only, list);
}

/** The same in parts, of which the first has so many items: in one where there are not as many, or where it fails before. */
async function answerInParts(only: OnlyList, count: number): Promise<ExecutionResult | GrowingResult> {
  const { resolving, whole } = resolved(only);
  const list = growingOf(await resolving.catch(() => undefined));
  if (list === undefined) return whole(resolving);
  const result = new GrowingResult(only, list);
  try {
    return (await result.begin(count))
      ? result
      : answer(only.run, () => ({ [only.field.key]: result.initial }));
  } catch (error) {
    return whole(Promise.reject(error));
  }
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
  const { schema, document, contextValue, variableValues = {}, grows = false, initialCount } = args;
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
  if (only !== undefined && of !== undefined) {
    const path = pathOf(only, undefined);
    const list: OnlyList = { run, field: only, of, path, info: growing(infoOf(run, only, path)) };
    return initialCount === undefined ? answerList(list) : answerInParts(list, initialCount);
  }
  return answer(run, () => completeObject(run, fields, undefined, undefined));
}
