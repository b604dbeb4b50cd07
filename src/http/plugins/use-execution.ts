// Executes operations with the gateway's executor and its limits, over HTTP and WebSocket alike.
// The context of a request is created here, because refused requests need none.
import type { ExecutionArgs } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import type { AnswerLimits } from '../../execution/execution-budget.ts';
import { limitedExecution } from '../../execution/executor.ts';
import { REPORT_HEADER } from './use-upstream-report.ts';

/**
 * Whether the response may begin early: not for GET, whose ETag needs the whole, nor with an
 * upstream report at the end.
 */
const isIncremental = ({ method, headers }: Request): boolean =>
  method === 'POST' && headers.get(REPORT_HEADER) !== '1';

/**
 * @param limits - what an answer may hold
 * @param openContext - makes the context of a request
 */
export const useExecution = (
  limits: AnswerLimits,
  openContext: (request: Request) => Promise<object>,
): Plugin => ({
  onExecute({ executeFn, setExecuteFn, context: { request } }) {
    const execute = limitedExecution(limits, executeFn, isIncremental(request));
    setExecuteFn(async (args: ExecutionArgs) => {
      // Plugins that read the result see the same context.
      args.contextValue = await openContext(request);
      return execute(args);
    });
  },
});
