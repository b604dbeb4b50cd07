// The schema with resolvers that count their results, for the executor of operations with `@defer`
// or `@stream`.
import { MapperKind, mapSchema, memoize1 } from '@graphql-tools/utils';
import {
  defaultFieldResolver,
  type GraphQLFieldConfig,
  type GraphQLSchema,
  getNullableType,
  isListType,
  isNonNullType,
} from 'graphql';
import { createPrivateField } from '../private-field.ts';
import type { ExecutionBudget } from './execution-budget.ts';
import { guard } from './promises.ts';

const budgets = createPrivateField<object, ExecutionBudget>();

/** Has the resolvers of a counted schema count for executions with this context. */
export function countFor(context: object, budget: ExecutionBudget): void {
  budgets.set(context, budget);
}

/** Members of a list after which the time is looked at. */
const AT_ONCE = 32;

/**
 * A list of promises, also where its members are there: the executor forgets the pending items of a
 * list when one of the others throws, and an item that then fails ends the process. Long lists give
 * other work its turn between their members.
 */
function inTurns(
  list: readonly unknown[],
  budget: ExecutionBudget,
  toFailure: (error: unknown) => null,
): Promise<unknown>[] {
  let turn = Promise.resolve();
  return list.map((item, i) => {
    if (i > 0 && i % AT_ONCE === 0)
      turn = turn.then(() => (budget.isTurnOver() ? budget.nextTurn() : undefined));
    return turn.then(() => item).catch(toFailure);
  });
}

function countedList(
  list: readonly unknown[],
  budget: ExecutionBudget,
  toFailure: (error: unknown) => null,
): readonly unknown[] {
  // Those at the end may fail before it is their turn, or after one that is too much.
  guard(list);
  for (const item of list) {
    budget.spend(1);
    if (Array.isArray(item)) budget.spend(item.length);
    else if (typeof item === 'string') budget.spendLeaf(item);
  }
  return list.some((item) => typeof item === 'object') ? inTurns(list, budget, toFailure) : list;
}

/** Counts what fails, until too much has: what is null then stands for one error. */
const failureIn =
  (budget: ExecutionBudget, mayBeNull: boolean) =>
  (error: unknown): null => {
    if (budget.stopped !== undefined && mayBeNull) return null;
    budget.spendError();
    throw error;
  };

function counted(config: GraphQLFieldConfig<unknown, unknown>): GraphQLFieldConfig<unknown, unknown> {
  const resolve = config.resolve ?? defaultFieldResolver;
  const isJson = String(config.type).replace('!', '') === 'JSON';
  const mayBeNull = !isNonNullType(config.type);
  const list = getNullableType(config.type);
  const isItemNullable = isListType(list) && !isNonNullType(list.ofType);
  return {
    ...config,
    resolve(source, args, context, info) {
      const budget = typeof context === 'object' && context !== null ? budgets.get(context) : undefined;
      if (budget === undefined) return resolve(source, args, context, info);
      // The error is reported once; all other fields are null.
      if (budget.stopped !== undefined && mayBeNull) return null;
      budget.spend(1);
      const count = (value: unknown): unknown => {
        if (budget.stopped !== undefined && mayBeNull) return null;
        if (Array.isArray(value)) return countedList(value, budget, failureIn(budget, isItemNullable));
        if (isJson || typeof value !== 'object') budget.spendLeaf(value);
        return value;
      };
      const value: unknown = resolve(source, args, context, info);
      if (!(value instanceof Promise)) return count(value);
      // It may fail after it was one too many.
      guard([value]);
      budget.spendPending();
      return value.then(count, failureIn(budget, mayBeNull));
    },
  };
}

/** The same schema, whose resolvers count; the same whenever asked. */
export const countedSchema = memoize1(
  (schema: GraphQLSchema): GraphQLSchema => mapSchema(schema, { [MapperKind.OBJECT_FIELD]: counted }),
);
