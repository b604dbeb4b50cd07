// Answers in parts (`@defer`, `@stream`) of another executor: how many parts they may have, and an error
// for each part that was cut because the answer became too large.
import {
  type ExecutionArgs,
  type ExecutionResult,
  GraphQLError,
  getOperationAST,
  getVariableValues,
  locatedError,
} from 'graphql';
import { documentFacts } from './document-facts.ts';
import type { ExecutionBudget } from './execution-budget.ts';
import { queryCost } from './query-cost.ts';

/**
 * Parts that an answer may have. Each takes some kilobytes, whatever it holds, until all are sent, and
 * the executor looks through those that wait whenever one is there or fails.
 */
const MAX_PARTS = 2000;

/** Refuses an answer in too many parts. @throws GraphQLError QUERY_TOO_EXPENSIVE */
export function checkParts({ schema, document, operationName, variableValues }: ExecutionArgs): void {
  const operation = getOperationAST(document, operationName);
  const { fragments, hasParts } = documentFacts(document);
  if (operation == null || !hasParts) return;
  const { coerced } = getVariableValues(
    schema,
    operation.variableDefinitions ?? [],
    variableValues ?? {},
    // The executor refuses variables that it cannot read.
    { maxErrors: 1 },
  );
  if (coerced === undefined) return;
  const { parts } = queryCost({ schema, fragments, operation, variableValues: coerced });
  if (parts <= MAX_PARTS) return;
  throw new GraphQLError(
    `The answer could come in ${parts} parts, more than the ${MAX_PARTS} parts that are allowed: each ` +
      '@defer makes one for each object that it is selected on, each @stream one for each item. Put ' +
      '@defer further up, or ask for shorter lists.',
    { extensions: { code: 'QUERY_TOO_EXPENSIVE', retryable: false } },
  );
}

/** Objects or items of an answer that come later (incremental delivery, 2022-08-24). */
interface LaterResult {
  readonly path?: readonly (string | number)[] | undefined;
  readonly label?: string | undefined;
  readonly items?: unknown;
  readonly data?: unknown;
}

/** A result of another executor; when it comes in parts, one of them. */
interface Part extends ExecutionResult {
  readonly incremental?: readonly LaterResult[] | undefined;
  readonly hasNext?: boolean;
}

export type Results = Part | AsyncIterable<Part>;

/** Marks what was cut because the answer became too large: null without an error would mean absence. */
function sayCut(part: Part, budget: ExecutionBudget): Part {
  const { stopped } = budget;
  if (stopped === undefined) return part;
  const { incremental } = part;
  const errors = [locatedError(stopped.error, undefined)];
  if (incremental === undefined) return 'data' in part ? { data: null, errors } : part;
  return {
    ...part,
    incremental: incremental.map((later) => ({
      ...later,
      ...('items' in later ? { items: null } : { data: null }),
      errors,
    })),
  };
}

function sayCuts(parts: AsyncIterable<Part>, budget: ExecutionBudget): AsyncIterableIterator<Part> {
  const source = parts[Symbol.asyncIterator]();
  let hasEnded = false;
  return {
    async next() {
      const next = hasEnded ? ({ done: true, value: undefined } as const) : await source.next();
      if (next.done === true) return { done: true, value: undefined };
      const part = sayCut(next.value, budget);
      // Nothing follows an answer that was cut in its first part.
      if (part !== next.value && part.incremental === undefined) {
        hasEnded = true;
        await source.return?.();
        return { done: false, value: { ...part, hasNext: false } };
      }
      return { done: false, value: part };
    },
    async return() {
      await source.return?.();
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

/** The result of another executor, with an error for each part that was cut. */
export const withCuts = (result: Results, budget: ExecutionBudget): Results =>
  Symbol.asyncIterator in result ? sayCuts(result, budget) : sayCut(result, budget);
