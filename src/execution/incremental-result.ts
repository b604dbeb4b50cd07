// Answers with a single list: item by item while others are still pending, or in parts (`@stream`).
import { type ExecutionResult, type GraphQLError, type GraphQLResolveInfo, locatedError } from 'graphql';
import { OBJECTS_AT_ONCE } from './complete-list.ts';
import { completeCaught } from './complete-value.ts';
import { answer, awaitAll, guard, ignore, isPromise, type Path, type Run } from './execution-run.ts';
import { argsOf, type OutputShape, type PlannedField } from './field-plan.ts';
import { IncrementalList } from './incremental-list.ts';
import type { StreamedList } from './streamed-list.ts';

/** A list that is all of an answer: its field, its items' shape and what its resolver was told. */
export interface SingleListQuery {
  readonly run: Run;
  readonly field: PlannedField;
  readonly of: OutputShape;
  readonly info: GraphQLResolveInfo;
  readonly path: Path;
}

interface CompletedItems {
  /** As far as the first that failed and may not be null. */
  readonly items: readonly unknown[];
  readonly failure: { readonly error: unknown } | undefined;
}

/** Completes items that stand at some place of a list and behind it. */
async function completeItems(
  { run, field, of, info, path }: SingleListQuery,
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
  readonly #only: SingleListQuery;
  readonly #list: IncrementalList<unknown>;
  /** The `@stream` of the list; undefined where it is answered as a whole. */
  readonly stream: StreamedList | undefined;
  #taken = 0;
  #failure: CompletedItems['failure'];
  #initial: readonly unknown[] = [];

  constructor(only: SingleListQuery, list: IncrementalList<unknown>, stream: StreamedList | undefined) {
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
  /**
   * The next items: all that are ready, or at most `most`; undefined at the end.
   *
   * @throws GraphQLError when the list would have to become null, which is too late after its first
   *   items
   */
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

/** What a resolver gave, as a list that grows; undefined for what is no list. */
function growingOf(value: unknown): IncrementalList<unknown> | undefined {
  if (value instanceof IncrementalList) return value;
  if (typeof value !== 'object' || value === null || !(Symbol.iterator in value)) return undefined;
  const list = new IncrementalList<unknown>();
  list.add([...(value as Iterable<unknown>)]);
  list.end();
  return list;
}

/** What the resolver of the list gives. */
async function resolveList({ run, field, info }: SingleListQuery): Promise<unknown> {
  const args = argsOf(field, run.args, run.variableValues);
  const value: unknown = await field.resolve(undefined, args, run.contextValue, info);
  // Its items may fail while the execution waits for its turn, before it awaits them.
  if (Array.isArray(value)) guard(value.filter(isPromise));
  return value;
}

/** The answer that a value in place of the list makes. */
const wholeAnswer = (
  { run, field, info, path }: SingleListQuery,
  value: PromiseLike<unknown>,
): Promise<ExecutionResult> =>
  answer(run, () => awaitAll({ [field.key]: completeCaught(run, field, field.shape, info, path, value) }));

/** The answer with all items, or, while items are pending, after the first of them. */
export async function answerList(only: SingleListQuery): Promise<ExecutionResult | IncrementalResult> {
  const resolving = resolveList(only);
  const list = await resolving.catch(ignore);
  if (!(list instanceof IncrementalList)) return wholeAnswer(only, resolving);
  await list.more(0).catch(ignore);
  return list.hasEnded ? wholeAnswer(only, resolving) : new IncrementalResult(only, list, undefined);
}

/** The answer in parts; in one when the list is no longer than the first part, or fails before. */
export async function answerInParts(
  only: SingleListQuery,
  stream: StreamedList,
): Promise<ExecutionResult | IncrementalResult> {
  const resolving = resolveList(only);
  const list = growingOf(await resolving.catch(ignore));
  if (list === undefined) return wholeAnswer(only, resolving);
  const result = new IncrementalResult(only, list, stream);
  try {
    return (await result.begin(stream.initialCount))
      ? result
      : answer(only.run, () => ({ [only.field.key]: result.initial }));
  } catch (error) {
    return wholeAnswer(only, Promise.reject(error));
  }
}
