// Chooses the executor: ours, or the tools' executor over the counted schema for deferred fragments
// and for streamed lists below the root.
import type { ExecutionArgs, ExecutionResult } from 'graphql';
import { countedSchema, countFor } from './counted-schema.ts';
import { executeOperation } from './execute-query.ts';
import { type AnswerLimits, type Ending, ExecutionBudget } from './execution-budget.ts';
import type { IncrementalResult } from './incremental-result.ts';
import { documentParts } from './streamed-list.ts';

type Execute<Result> = (args: ExecutionArgs) => Result;

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** The signal of a request, where its context has one. */
function endingOf(context: unknown): Ending | undefined {
  if (!isObject(context) || !('upstream' in context)) return undefined;
  const { upstream } = context;
  if (!isObject(upstream) || !('signal' in upstream)) return undefined;
  const { signal } = upstream;
  return isObject(signal) && 'aborted' in signal && 'reason' in signal
    ? {
        get aborted() {
          return signal.aborted === true;
        },
        get reason() {
          return signal.reason;
        },
      }
    : undefined;
}

/**
 * Executes operations within limits.
 *
 * @param other - executes what ours does not support
 * @param isIncremental - whether the transport takes a single-list answer item by item
 */
export function limitedExecution<Result>(
  limits: AnswerLimits,
  other: Execute<Result>,
): Execute<Result | Promise<ExecutionResult>>;
export function limitedExecution<Result>(
  limits: AnswerLimits,
  other: Execute<Result>,
  isIncremental: boolean,
): Execute<Result | Promise<ExecutionResult | IncrementalResult>>;
export function limitedExecution<Result>(
  limits: AnswerLimits,
  other: Execute<Result>,
  isIncremental = false,
): Execute<Result | Promise<ExecutionResult | IncrementalResult>> {
  return (args) => {
    const { schema, document, contextValue, rootValue, variableValues, operationName } = args;
    const ending = endingOf(contextValue);
    const { stream, needsOtherExecutor } = documentParts(document);
    const isOther = needsOtherExecutor || (stream !== undefined && !isIncremental);
    const own = isOther
      ? undefined
      : executeOperation({
          schema,
          document,
          contextValue,
          rootValue,
          variableValues: variableValues ?? undefined,
          operationName,
          limits,
          ending,
          grows: isIncremental,
          stream,
        });
    if (own !== undefined) return own;
    if (isObject(contextValue)) countFor(contextValue, new ExecutionBudget(limits, ending, contextValue));
    return other({ ...args, schema: countedSchema(schema) });
  };
}
