// Executes operations with our executor, within the limits of an answer, over HTTP and WebSocket alike.
import type { Plugin } from 'graphql-yoga';
import type { AnswerLimits } from '../execution/execution-budget.ts';
import { limitedExecution } from '../execution/executor.ts';
import { REPORT_HEADER } from './use-upstream-report.ts';

/** Whether an answer may begin before all of it is there: not one by GET, whose tag is made of all of it, nor one that ends with a report. */
const isIncremental = ({ method, headers }: Request): boolean =>
  method === 'POST' && headers.get(REPORT_HEADER) !== '1';

/** @param limits - what an answer may hold */
export const useAnswerLimits = (limits: AnswerLimits): Plugin => ({
  onExecute({ executeFn, setExecuteFn, context: { request } }) {
    setExecuteFn(limitedExecution(limits, executeFn, isIncremental(request)));
  },
});
