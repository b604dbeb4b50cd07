// Executes an operation by the rules of the GraphQL specification (Executing Requests), as graphql-js does, which makes an object of
// arguments for each field of each object, and of each object one that no engine is quick with: a third of what a list of a hundred
// proteins costs. A list that grows it gives item by item, where the caller takes that. What it completes is counted, and it gives
// other work its turn. It executes no deferred fragments; a test holds it against graphql-js.
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
import { type AnswerLimits, type Ending, ExecutionBudget } from './execution-budget.ts';
import {
  argsOf,
  type OwnArgs,
  operationOf,
  type PlannedField,
  type Prepared,
  plannedFields,
  prepare,
  type Shape,
} from './plan.ts';
import type { StreamedList } from './streamed-list.ts';

type Path = GraphQLResolveInfo['path'];

export interface QueryArgs {
  readonly schema: GraphQLSchema;
  /** A valid document. */
  readonly document: DocumentNode;
  /** Which operation of the document; not needed where it has one. */
  readonly operationName?: string | null | undefined;
  /** What the fields of the operation are resolved on: the event of a subscription. */
  readonly rootValue?: unknown;
  readonly limits: AnswerLimits;
  /** Ends the execution at its next turn of the event loop. */
  readonly ending?: Ending | undefined;
  /** Milliseconds for which it keeps the event loop at once. */
  readonly turnMs?: number | undefined;
  readonly contextValue: unknown;
  readonly variableValues?: Readonly<Record<string, unknown>> | undefined;
}

/** Arguments of an execution whose answer may begin before all of it is there. */
interface IncrementalArgs extends QueryArgs {
  /** Whether a list that is all of the answer may be given while it is still coming. */
  readonly grows: boolean;
  /** How the list is given in parts (`@stream`), however it comes. */
  readonly stream?: StreamedList | undefined;
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
  readonly rootValue: unknown;
  readonly plans: NonNullable<Prepared['plans']>;
  readonly args: OwnArgs;
  readonly budget: ExecutionBudget;
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
  // What ends the execution is no error of a field.
  run.budget.stopIfLeft();
  if (run.budget.stopped !== undefined) throw run.budget.stopped.error;
  const error = locatedError(thrown, nodes, responsePathAsArray(path));
  if (shape.kind === 'nonNull') throw error;
  note(run, error, path);
  return null;
}

/** Members of a list after which the time is looked at: numbers and words take next to none. */
const LEAVES_AT_ONCE = 256;
const OBJECTS_AT_ONCE = 4;

/** A list that is being completed. */
interface ListInProgress {
  readonly run: Run;
  readonly field: PlannedField;
  readonly of: Shape;
  readonly info: Info | undefined;
  readonly path: Path;
  readonly given: readonly unknown[];
  readonly items: unknown[];
  /** Where each object stands first, of a list that holds one several times. */
  readonly seen: Map<unknown, SeenItem> | undefined;
  waits: boolean;
}

interface SeenItem {
  readonly completed: unknown;
  readonly place: Path;
}

/** Whether an error stands at a place or below it. */
function hasErrorBelow({ errors }: Run, place: Path): boolean {
  if (errors.length === 0) return false;
  const path = responsePathAsArray(place);
  return errors.some((error) => path.every((key, i) => error.path?.[i] === key));
}

const ignore = (): void => undefined;

/** Nobody waits for these yet: one that fails meanwhile must not end the process. */
const guard = (values: readonly unknown[]): void => {
  Promise.all(values).catch(ignore);
};

/** The same object again is completed once, unless something failed in it, which has a path of its own. */
function completeItem(list: ListInProgress, item: unknown): unknown {
  const { run, field, of, info, path, seen } = list;
  const place: Path = { prev: path, key: list.items.length, typename: undefined };
  const complete = (): unknown => completeCaught(run, field, of, info, place, item);
  const before = seen?.get(item);
  if (before === undefined) {
    const completed = complete();
    seen?.set(item, { completed, place });
    return completed;
  }
  const reuse = (completed: unknown): unknown => {
    if (hasErrorBelow(run, before.place)) return complete();
    if (typeof completed === 'object' && completed !== null) run.budget.spendObject(completed);
    return completed;
  };
  return isPromise(before.completed) ? before.completed.then(reuse) : reuse(before.completed);
}

function completeMore(list: ListInProgress): unknown[] | Promise<unknown[]> {
  const { run, of, given, items } = list;
  const step = isLeafShape(of) ? LEAVES_AT_ONCE : OBJECTS_AT_ONCE;
  const from = items.length;
  try {
    for (let i = from; i < given.length; i += 1) {
      if (i > from && i % step === 0 && run.budget.isTurnOver()) {
        if (list.waits) guard(items);
        return run.budget.nextTurn().then(() => completeMore(list));
      }
      run.budget.spend(1);
      const completed = completeItem(list, given[i]);
      list.waits ||= isPromise(completed);
      items.push(completed);
    }
  } catch (error) {
    if (list.waits) guard(items);
    throw error;
  }
  return list.waits ? Promise.all(items) : items;
}

const isLeafShape = (shape: Shape): boolean =>
  shape.kind === 'leaf' || (shape.kind === 'nonNull' && isLeafShape(shape.of));

function completeList(
  run: Run,
  field: PlannedField,
  of: Shape,
  info: Info | undefined,
  path: Path,
  value: unknown,
): unknown[] | Promise<unknown[]> {
  if (typeof value !== 'object' || value === null || !(Symbol.iterator in value))
    throw new GraphQLError(
      `Expected Iterable, but did not find one for field "${field.parent.name}.${field.definition.name}".`,
    );
  const given: readonly unknown[] = Array.isArray(value) ? value : [...(value as Iterable<unknown>)];
  const repeats = !isLeafShape(of) && new Set(given).size < given.length;
  const seen = repeats ? new Map<unknown, SeenItem>() : undefined;
  return completeMore({ run, field, of, info, path, given, items: [], seen, waits: false });
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
      run.budget.spendLeaf(written);
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

/** Completes a value that is waited for. Thousands may be there in the same turn of the event loop. */
function completeLater(
  run: Run,
  field: PlannedField,
  shape: Shape,
  info: Info | undefined,
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
      ? completeLater(run, field, shape, info, path, value)
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
  rootValue: run.rootValue,
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
  run.budget.spend(1);
  if (brief === undefined) return resolveTold(run, field, prev, source);
  try {
    const value = brief(source, argsOf(field, run.args, run.variableValues), run.contextValue);
    if (value == null && shape.kind !== 'nonNull') return null;
    // Most fields are leaves that are there at once: nobody asks where they stand.
    const written: unknown = leaf === undefined || typeof value === 'object' ? null : leaf.serialize(value);
    if (typeof written === 'string') run.budget.spendLeaf(written);
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
    return settled(data).finally(() => {
      throw error;
    });
  }
  return waits ? settled(data) : data;
}

const completeObject = (
  run: Run,
  fields: readonly PlannedField[],
  path: Path | undefined,
  source: unknown,
): Data | Promise<Data> => completeFields(run, fields, path, source, {}, 0, false);

/** Completes the fields of a mutation: each when the one before has ended. */
async function completeInTurn(run: Run, fields: readonly PlannedField[]): Promise<Data> {
  const data: Data = {};
  for (const field of fields) data[field.key] = await resolveField(run, field, undefined, run.rootValue);
  return data;
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
      run.budget.spend(1);
      if (items.length % OBJECTS_AT_ONCE === 0 && run.budget.isTurnOver()) {
        guard(items);
        await run.budget.nextTurn();
      }
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
export class IncrementalResult {
  readonly #only: OnlyList;
  readonly #list: GrowingList<unknown>;
  /** How it is asked for in parts; undefined where it is given as one list. */
  readonly stream: StreamedList | undefined;
  #taken = 0;
  #failure: CompletedItems['failure'];
  #initial: readonly unknown[] = [];

  constructor(only: OnlyList, list: GrowingList<unknown>, stream: StreamedList | undefined) {
    this.stream = stream;
    this.#only = only;
    this.#list = list;
    only.run.budget.ignoreEnding();
  }
  /** Of the list in the answer's data. */
  get key(): string {
    return this.#only.field.key;
  }
  /** What has failed in all that was taken. */
  get failures(): readonly GraphQLError[] {
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
    // What ended the execution stands for all that failed before or by it.
    if (run.budget.stopped !== undefined) run.errors.length = 0;
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
async function answerList(only: OnlyList): Promise<ExecutionResult | IncrementalResult> {
  const { resolving, whole } = resolved(only);
  const list = await resolving.catch(() => undefined);
  if (!(list instanceof GrowingList)) return whole(resolving);
  const items = list.more(0).then(() => list.items);
  await items.catch(() => undefined);
  return list.hasEnded ? whole(items) : new IncrementalResult(only, list, undefined);
}

/** The same in parts, of which the first has so many items: in one where there are not as many, or where it fails before. */
async function answerInParts(
  only: OnlyList,
  stream: StreamedList,
): Promise<ExecutionResult | IncrementalResult> {
  const { resolving, whole } = resolved(only);
  const list = growingOf(await resolving.catch(() => undefined));
  if (list === undefined) return whole(resolving);
  const result = new IncrementalResult(only, list, stream);
  try {
    return (await result.begin(stream.initialCount))
      ? result
      : answer(only.run, () => ({ [only.field.key]: result.initial }));
  } catch (error) {
    return whole(Promise.reject(error));
  }
}

/**
 * Executes a query, a mutation, or an event of a subscription.
 *
 * @returns undefined where the document or the variables are not what they must be: graphql-js says why
 */
export function executeOperation(
  args: IncrementalArgs,
): Promise<ExecutionResult | IncrementalResult> | undefined;
export function executeOperation(args: QueryArgs): Promise<ExecutionResult> | undefined;
export function executeOperation(
  args: QueryArgs | IncrementalArgs,
): Promise<ExecutionResult | IncrementalResult> | undefined {
  const { schema, document, operationName, contextValue, rootValue, variableValues = {} } = args;
  const { limits, ending, turnMs } = args;
  const { grows, stream } = 'grows' in args ? args : { grows: false, stream: undefined };
  const known = prepare(schema, document);
  const operation = operationOf(known, operationName);
  const type = operation === undefined ? undefined : schema.getRootType(operation.operation);
  if (operation === undefined || type == null) return undefined;
  const variables = getVariableValues(schema, operation.variableDefinitions ?? [], variableValues);
  if (variables.coerced === undefined) return undefined;
  const run: Run = {
    schema,
    fragments: known.fragments,
    operation,
    variableValues: variables.coerced,
    contextValue,
    rootValue,
    plans: known.plans ?? new Map(),
    args: new Map(),
    budget: new ExecutionBudget(limits, ending, contextValue, turnMs),
    errors: [],
    nulled: new Set(),
  };
  const fields = known.fields.get(operation) ?? plannedFields(run, type, [operation]);
  if (known.plans !== undefined) known.fields.set(operation, fields);
  if (operation.operation === OperationTypeNode.MUTATION)
    return answer(run, () => completeInTurn(run, fields));
  const [only] = fields;
  const of = grows && fields.length === 1 && only !== undefined ? itemsOf(only.shape) : undefined;
  if (only !== undefined && of !== undefined) {
    const path = pathOf(only, undefined);
    const list: OnlyList = { run, field: only, of, path, info: growing(infoOf(run, only, path)) };
    return stream === undefined ? answerList(list) : answerInParts(list, stream);
  }
  return answer(run, () => completeObject(run, fields, undefined, rootValue));
}
