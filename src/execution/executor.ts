// Chooses the executor: ours, or the tools' executor over the counted schema for deferred fragments
// and for streamed lists below the root.
import type { ExecutionArgs, ExecutionResult } from 'graphql';
import { countedSchema, countFor } from './counted-schema.ts';
import { executeOperation } from './execute-query.ts';
import { type AnswerLimits, ExecutionBudget } from './execution-budget.ts';
import { documentParts } from './streamed-list.ts';

/**
 * Executes operations within limits.
 *
 * @param other - executes what ours does not support
 * @param isIncremental - whether the transport takes a single-list answer item by item: the result
 *   may then be an IncrementalResult
 */
export function limitedExecution<Result>(
  limits: AnswerLimits,
  other: (args: ExecutionArgs) => Result,
  isIncremental = false,
): (args: ExecutionArgs) => Result | Promise<ExecutionResult> {
  return (args) => {
    const { stream, needsOtherExecutor } = documentParts(args.document);
    if (!needsOtherExecutor && (stream === undefined || isIncremental)) {
      const own = executeOperation({ limits, grows: isIncremental, stream, ...args });
      if (own !== undefined) return own;
    }
    const { contextValue, schema } = args;
    if (typeof contextValue === 'object' && contextValue !== null)
      countFor(contextValue, new ExecutionBudget(limits, contextValue));
    return other({ ...args, schema: countedSchema(schema) });
  };
}
