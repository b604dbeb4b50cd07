// Completes lists. An object that occurs several times is completed once; long lists yield to the
// event loop.
import { GraphQLError, responsePathAsArray } from 'graphql';
import type { ExecutionBudget } from './execution-budget.ts';
import type { OutputShape, Path, PlannedField } from './field-plan.ts';
import { guard, isPromise } from './promises.ts';

/** Members of a list after which the time is looked at: numbers and words take next to none. */
const LEAVES_AT_ONCE = 256;
const OBJECTS_AT_ONCE = 4;

/** The execution that a list is part of. */
export interface ListExecution {
  readonly budget: ExecutionBudget;
  readonly errors: readonly GraphQLError[];
  /** Completes an item at its place; one that fails is null where it may be. */
  completeCaught(field: PlannedField, shape: OutputShape, path: Path, item: unknown): unknown;
}

const isLeaf = (shape: OutputShape): boolean =>
  shape.kind === 'leaf' || (shape.kind === 'nonNull' && isLeaf(shape.of));

/** Whether an error stands at a place or below it. */
function hasErrorBelow(errors: readonly GraphQLError[], place: Path): boolean {
  if (errors.length === 0) return false;
  const path = responsePathAsArray(place);
  return errors.some((error) => path.every((key, i) => error.path?.[i] === key));
}

export function completeList(
  execution: ListExecution,
  field: PlannedField,
  of: OutputShape,
  path: Path,
  value: unknown,
): unknown[] | Promise<unknown[]> {
  if (typeof value !== 'object' || value === null || !(Symbol.iterator in value))
    throw new GraphQLError(
      `Expected Iterable, but did not find one for field "${field.parent.name}.${field.definition.name}".`,
    );
  const { budget, errors } = execution;
  const given: readonly unknown[] = Array.isArray(value) ? value : [...(value as Iterable<unknown>)];
  const step = isLeaf(of) ? LEAVES_AT_ONCE : OBJECTS_AT_ONCE;
  /** Where each object stands first, of a list that holds one several times. */
  const seen = !isLeaf(of) && new Set(given).size < given.length ? new Map<unknown, Path>() : undefined;
  const items: unknown[] = [];
  let waits = false;
  // Those at the end may fail before it is their turn.
  guard(given);

  /** Reuses the completed value of a repeated object, unless it has errors: their paths differ. */
  function completeItem(item: unknown): unknown {
    const place: Path = { prev: path, key: items.length, typename: undefined };
    const before = seen?.get(item);
    if (before === undefined) {
      seen?.set(item, place);
      return execution.completeCaught(field, of, place, item);
    }
    const reuse = (completed: unknown): unknown => {
      if (hasErrorBelow(errors, before)) return execution.completeCaught(field, of, place, item);
      if (typeof completed === 'object' && completed !== null) budget.spendObject(completed);
      return completed;
    };
    const completed = items[Number(before.key)];
    return isPromise(completed) ? completed.then(reuse) : reuse(completed);
  }

  function completeFrom(from: number): unknown[] | Promise<unknown[]> {
    try {
      for (let i = from; i < given.length; i += 1) {
        if (i > from && i % step === 0 && budget.isTurnOver()) {
          if (waits) guard(items.slice(from));
          return budget.nextTurn().then(() => completeFrom(i));
        }
        budget.spend(1);
        const completed = completeItem(given[i]);
        waits ||= isPromise(completed);
        items.push(completed);
      }
    } catch (error) {
      if (waits) guard(items.slice(from));
      throw error;
    }
    return waits ? Promise.all(items) : items;
  }
  return completeFrom(0);
}
