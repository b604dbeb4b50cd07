// Opens the context of an operation when it is executed, because refused requests need none, and
// refuses operations that may cost too much.
import type { ExecutionArgs } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import type { Config } from '../../../config.ts';
import type { GatewayContext } from '../../../context.ts';
import { estimateCost } from '../../../schema/estimate-cost.ts';
import { getExchange } from '../../exchange.ts';
import { costError } from './cost-limit.ts';

/**
 * Opens the context of an operation.
 *
 * @throws GraphQLError QUERY_TOO_EXPENSIVE, or what refuses the caller
 */
export type OpenOperation = (args: ExecutionArgs, request: Request) => Promise<GatewayContext>;

/** A result of fewer values, none of which is a long text, is serialized in one piece. */
const SMALL_VALUES = 500;

/** Mistakes in variables that are reported. graphql-js writes the wrong value into the text of each. */
export const MAX_VARIABLE_ERRORS = 5;

/** @param openContext - opens the context of a request */
export function createOperationOpener(
  config: Config,
  openContext: (request: Request) => Promise<GatewayContext>,
): OpenOperation {
  return async (args, request) => {
    const context = await openContext(request);
    const cost = estimateCost(args);
    if (cost === undefined) return context;
    context.upstream.onCost?.(cost.calls);
    getExchange(request).isSmall = cost.values < SMALL_VALUES;
    const error = costError(cost, config);
    if (error !== undefined) throw error;
    return context;
  };
}

export function useExecution(openOperation: OpenOperation): Plugin {
  return {
    onExecute({ args: hookArgs, executeFn, setExecuteFn, context: { request } }) {
      // The hooks that run after the execution see these arguments.
      const args: ExecutionArgs = hookArgs;
      args.options = { maxCoercionErrors: MAX_VARIABLE_ERRORS };
      setExecuteFn(async () => {
        args.contextValue = await openOperation(args, request);
        return executeFn(args);
      });
    },
  };
}
