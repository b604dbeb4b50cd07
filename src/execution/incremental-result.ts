// Answers with a single list: item by item while others are still pending, or in parts (`@stream`).
import { type ExecutionResult, type GraphQLError, locatedError } from 'graphql';
import { OBJECTS_AT_ONCE } from './complete-list.ts';
import type { StreamedList } from './document-facts.ts';
import type { Execution } from './execution.ts';
import type { OutputShape, Path, PlannedField } from './field-plan.ts';
import { IncrementalList } from './incremental-list.ts';
import { awaitAll, guard, ignore, isPromise } from './promises.ts';

/** A list that is all of an answer: its field, and its items' shape. */
interface SingleListQuery {
  readonly execution: Execution;
  readonly field: PlannedField;
  readonly of: OutputShape;
  readonly path: Path;
}

interface CompletedItems {
  /** As far as the first that failed and may not be null. */
  readonly items: readonly unknown[];
  readonly failure: { readonly error: unknown } | undefined;
}

/** Completes items that stand at some place of a list and behind it. */
async function completeItems(
  { execution, field, of, path }: SingleListQuery,
  given: readonly unknown[],
  from: number,
): Promise<CompletedItems> {
  const { budget } = execution;
  const items: unknown[] = [];
  let failure: CompletedItems['failure'];
  for (const item of given) {
    const place: Path = { prev: path, key: from + items.length, typename: undefined };
    try {
      budget.spend(1);
      if (items.length % OBJECTS_AT_ONCE === 0 && budget.isTurnOver()) {
        guard(items);
        await budget.nextTurn();
      }
      items.push(execution.completeCaught(field, of, place, item));
    } catch (error) {
      failure = { error };
      break;
    }
  }
  if (!items.some(isPromise)) return { items, failure };
  const there: unknown[] = [];
  for (const one of await Promise.allSettled(items)) {
    if (one.status === 'rejected') return { items: there, failure: { error: one.reason } };
    there.push(one.value);
  }
  return { items: there, failure };
}

/** An answer that is one list, of which the first items are there. */
export class IncrementalResult implements ExecutionResult {
  /** It has none as a whole. */
  declare readonly data?: never;
  readonly #only: SingleListQuery;
  readonly #list: IncrementalList<unknown>;
  /** The `@stream` of the list; undefined where it is answered as a whole. */
  readonly stream: StreamedList | undefined;
  /** What it has begun with. */
  readonly initial: unknown[] = [];
  #taken = 0;
  #failure: CompletedItems['failure'];

  constructor(only: SingleListQuery, list: IncrementalList<unknown>, stream: StreamedList | undefined) {
    this.stream = stream;
    this.#only = only;
    this.#list = list;
  }
  /** Of the list in the answer's data. */
  get key(): string {
    return this.#only.field.key;
  }
  /** What has failed in all that was taken. */
  get failures(): readonly GraphQLError[] {
    return this.#only.execution.errors;
  }
  /** Takes what it begins with. @returns whether there were so many */
  async begin(count: number): Promise<boolean> {
    while (this.initial.length < count) {
      const items = await this.next(count - this.initial.length);
      if (items === undefined) return false;
      this.initial.push(...items);
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
async function resolveList({ execution, field, path }: SingleListQuery): Promise<unknown> {
  const value = await execution.resolve(field, undefined, path);
  // Its items may fail while the execution waits for its turn, before it awaits them.
  if (Array.isArray(value)) guard(value);
  return value;
}

/**
 * The answer: after the first items while others are pending, or in parts. In one when all items are
 * there, when the list is no longer than the first part, or fails before.
 */
export async function answerList(
  only: SingleListQuery,
  stream: StreamedList | undefined,
): Promise<ExecutionResult> {
  const { execution, field, path } = only;
  const { key, shape } = field;
  const resolving = resolveList(only);
  const whole = (value: PromiseLike<unknown>) =>
    execution.answer(() => awaitAll({ [key]: execution.completeCaught(field, shape, path, value) }));
  const given = await resolving.catch(ignore);
  const list = stream === undefined && !(given instanceof IncrementalList) ? undefined : growingOf(given);
  if (list === undefined) return whole(resolving);
  if (stream === undefined) {
    await list.more(0).catch(ignore);
    return list.hasEnded ? whole(resolving) : new IncrementalResult(only, list, undefined);
  }
  const result = new IncrementalResult(only, list, stream);
  try {
    if (await result.begin(stream.initialCount)) return result;
    return execution.answer(() => ({ [key]: result.initial }));
  } catch (error) {
    return whole(Promise.reject(error));
  }
}
