// Opens the context of an operation when it is executed, because refused requests need none, and
// refuses operations that may cost too much.
import type { ExecutionArgs } from 'graphql';
import type { Config } from '../../../config.ts';
import type { GatewayContext } from '../../../context.ts';
import { estimateCost } from '../../../schema/estimate-cost.ts';
import type { Exchange } from '../../exchange.ts';
import type { OperationContext, OperationPlugin } from '../operation-context.ts';
import { costError } from './cost-limit.ts';

/**
 * Opens the context of an operation.
 *
 * @throws GraphQLError QUERY_TOO_EXPENSIVE, or what refuses the caller
 */
export type OpenOperation = (args: ExecutionArgs, context: OperationContext) => Promise<GatewayContext>;

/**
 * Mistakes in variables that are reported. graphql-js writes the wrong value into the text of each.
 */
export const MAX_VARIABLE_ERRORS = 5;

/** @param openContext - opens the context of a request */
export function createOperationOpener(
  config: Config,
  openContext: (exchange: Exchange) => Promise<GatewayContext>,
): OpenOperation {
  return async (args, context) => {
    const resolvers = await openContext(context.exchange);
    context.resolvers = resolvers;
    const cost = estimateCost(args);
    if (cost === undefined) return resolvers;
    context.cost = cost;
    resolvers.upstream.onCost?.(cost.calls);
    const error = costError(cost, config);
    if (error !== undefined) throw error;
    return resolvers;
  };
}

export function useExecution(openOperation: OpenOperation): OperationPlugin {
  return {
    onExecute({ args: hookArgs, executeFn, setExecuteFn, context }) {
      // The hooks that run after the execution see these arguments.
      const args: ExecutionArgs = hookArgs;
      args.options = { maxCoercionErrors: MAX_VARIABLE_ERRORS };
      setExecuteFn(async () => {
        args.contextValue = await openOperation(args, context);
        return executeFn(args);
      });
    },
  };
}
