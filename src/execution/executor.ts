// Chooses the executor: ours, or the tools' executor over the counted schema for deferred fragments
// and for streamed lists below the root.
import type { ExecutionArgs, ExecutionResult } from 'graphql';
import { countedSchema, countFor } from './counted-schema.ts';
import { executeOperation } from './execute-query.ts';
import { type AnswerLimits, ExecutionBudget } from './execution-budget.ts';
import type { IncrementalResult } from './incremental-result.ts';
import { documentParts } from './streamed-list.ts';

type Execute<Result> = (args: ExecutionArgs) => Result;

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
    const { stream, needsOtherExecutor } = documentParts(args.document);
    if (!needsOtherExecutor && (stream === undefined || isIncremental)) {
      const own = executeOperation({
        contextValue: undefined,
        ...args,
        limits,
        grows: isIncremental,
        stream,
      });
      if (own !== undefined) return own;
    }
    const { contextValue, schema } = args;
    if (typeof contextValue === 'object' && contextValue !== null)
      countFor(contextValue, new ExecutionBudget(limits, contextValue));
    return other({ ...args, schema: countedSchema(schema) });
  };
}
