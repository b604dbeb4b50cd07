// The schema with resolvers that count their results, for the executor of operations with `@defer`
// or `@stream`.
import { collectSubFields, MapperKind, mapSchema, memoize1, memoize5 } from '@graphql-tools/utils';
import {
  defaultFieldResolver,
  type FieldNode,
  type GraphQLError,
  type GraphQLFieldConfig,
  type GraphQLOutputType,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isAbstractType,
  isCompositeType,
  isListType,
  isNonNullType,
  isObjectType,
} from 'graphql';
import { createPrivateField } from '../private-field.ts';
import { isStreamed, isStreamedFromFirst } from './document-facts.ts';
import type { ExecutionBudget } from './execution-budget.ts';
import { IncrementalList } from './incremental-list.ts';
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

type Variables = GraphQLResolveInfo['variableValues'];
type Fragments = GraphQLResolveInfo['fragments'];

/** How many parts each object that a field gives begins: of its possible types, the most. */
const deferredBelow = memoize5(
  (
    schema: GraphQLSchema,
    fragments: Fragments,
    coerced: Variables,
    returnType: GraphQLOutputType,
    nodes: readonly FieldNode[],
  ): number => {
    const type = getNamedType(returnType);
    const own = isObjectType(type) ? [type] : [];
    const types = isAbstractType(type) ? schema.getPossibleTypes(type) : own;
    const variables = { coerced, sources: {} };
    return Math.max(
      0,
      ...types.map((one) => collectSubFields(schema, fragments, variables, one, [...nodes]).patches.length),
    );
  },
);

/** How many parts each value, or each item of a list, that a field gives begins. */
const partsOfEach = (info: GraphQLResolveInfo): number =>
  deferredBelow(info.schema, info.fragments, info.variableValues, info.returnType, info.fieldNodes) +
  (isStreamed(info) ? 1 : 0);

async function* countedItems(
  items: AsyncIterable<unknown>,
  count: () => void,
): AsyncGenerator<unknown, void, undefined> {
  for await (const item of items) {
    count();
    yield item;
  }
}

function counted(config: GraphQLFieldConfig<unknown, unknown>): GraphQLFieldConfig<unknown, unknown> {
  const resolve = config.resolve ?? defaultFieldResolver;
  const isJson = String(config.type).replace('!', '') === 'JSON';
  const mayBeNull = !isNonNullType(config.type);
  const list = getNullableType(config.type);
  const isItemNullable = isListType(list) && !isNonNullType(list.ofType);
  const hasParts = isListType(list) || isCompositeType(getNamedType(config.type));
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
        if (value instanceof IncrementalList) {
          // A part that begins with items while others are not there forgets them as well.
          if (!isStreamedFromFirst(info)) return value.all().then(count);
          return countedItems(value, () => budget.spendParts(partsOfEach(info)));
        }
        if (hasParts && typeof value === 'object' && value !== null)
          budget.spendParts(partsOfEach(info) * (Array.isArray(value) ? value.length : 1));
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

/** Errors of a part without the repetitions of the one that ended the execution. */
export function withoutRepetitions(errors: readonly GraphQLError[]): GraphQLError[] {
  const isEnd = ({ extensions }: GraphQLError): boolean => extensions.code === 'QUERY_TOO_EXPENSIVE';
  const end = errors.find(isEnd);
  return errors.filter((error) => error === end || !isEnd(error));
}
