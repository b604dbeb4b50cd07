// Completes lists. An object that occurs several times is completed once; long lists yield to the
// event loop.
import { GraphQLError, responsePathAsArray } from 'graphql';
import { guard, isLeafShape, isPromise, type Path, type Run } from './execution-run.ts';
import type { OutputShape, PlannedField } from './field-plan.ts';
import { IncrementalList } from './incremental-list.ts';

/** Members of a list after which the time is looked at: numbers and words take next to none. */
const LEAVES_AT_ONCE = 256;
export const OBJECTS_AT_ONCE = 4;

/** Completes an item at its place; one that fails is null where it may be. */
type CompleteItem = (item: unknown, place: Path) => unknown;

/** A list that is being completed. */
interface ListInProgress {
  readonly run: Run;
  readonly of: OutputShape;
  readonly completeItem: CompleteItem;
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

/** Reuses the completed value of a repeated object, unless it has errors: their paths differ. */
function completeNext(list: ListInProgress, item: unknown): unknown {
  const { run, path, seen } = list;
  const place: Path = { prev: path, key: list.items.length, typename: undefined };
  const complete = (): unknown => list.completeItem(item, place);
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
      const completed = completeNext(list, given[i]);
      list.waits ||= isPromise(completed);
      items.push(completed);
    }
  } catch (error) {
    if (list.waits) guard(items);
    throw error;
  }
  return list.waits ? Promise.all(items) : items;
}

export function completeList(
  run: Run,
  field: PlannedField,
  of: OutputShape,
  path: Path,
  value: unknown,
  completeItem: CompleteItem,
): unknown[] | Promise<unknown[]> {
  if (value instanceof IncrementalList)
    return value.all().then((items) => completeList(run, field, of, path, items, completeItem));
  if (typeof value !== 'object' || value === null || !(Symbol.iterator in value))
    throw new GraphQLError(
      `Expected Iterable, but did not find one for field "${field.parent.name}.${field.definition.name}".`,
    );
  const given: readonly unknown[] = Array.isArray(value) ? value : [...(value as Iterable<unknown>)];
  const repeats = !isLeafShape(of) && new Set(given).size < given.length;
  const seen = repeats ? new Map<unknown, SeenItem>() : undefined;
  return completeMore({ run, of, completeItem, path, given, items: [], seen, waits: false });
}
