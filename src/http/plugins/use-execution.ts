// Executes operations with our executor, within the limits of an answer, over HTTP and WebSocket alike. The context of a request is made
// here: what is refused before needs none.
import type { ExecutionArgs } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import type { AnswerLimits } from '../../execution/execution-budget.ts';
import { limitedExecution } from '../../execution/executor.ts';
import { REPORT_HEADER } from './use-upstream-report.ts';

/** Whether an answer may begin before all of it is there: not one by GET, whose tag is made of all of it, nor one that ends with a report. */
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
      // Plugins that look at the result are told of the same context.
      args.contextValue = await openContext(request);
      return execute(args);
    });
  },
});
