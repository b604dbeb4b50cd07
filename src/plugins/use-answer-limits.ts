// Executes operations within the limits of an answer, over HTTP and WebSocket alike.
import type { Plugin } from 'graphql-yoga';
import type { AnswerLimits } from '../execution/execution-budget.ts';
import { limitedExecution } from '../execution/executor.ts';

/** @param limits - what an answer may hold */
export const useAnswerLimits = (limits: AnswerLimits): Plugin => ({
  onExecute({ executeFn, setExecuteFn }) {
    setExecuteFn(limitedExecution(limits, executeFn));
  },
});
