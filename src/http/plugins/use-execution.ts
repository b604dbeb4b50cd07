// Executes operations with the gateway's executor and its limits, over HTTP and WebSocket alike.
// The context of a request is created here, because refused requests need none.
import {
  createSourceEventStream,
  type ExecutionArgs,
  type ExecutionResult,
  execute,
  GraphQLError,
} from 'graphql';
import type { Plugin } from 'graphql-yoga';
import type { AnswerLimits } from '../../execution/execution-budget.ts';
import { limitedExecution } from '../../execution/executor.ts';
import { executionKeyOf, shareExecution } from './event-result-sharing.ts';
import { REPORT_HEADER } from './use-telemetry.ts';

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

/** A context that can make another one for the same caller. */
interface Renewable {
  readonly principal: string | null;
  readonly isRouter: boolean;
  readonly publicUrl: string;
  readonly clientSignal: AbortSignal;
  /** Makes sure that the caller may go on. @returns makes the context */
  fresh(): Promise<() => object>;
}

const canCreateContext = (context: unknown): context is Renewable & object =>
  typeof context === 'object' &&
  context !== null &&
  'fresh' in context &&
  typeof context.fresh === 'function';

const isStream = (source: object): source is AsyncIterable<unknown> => Symbol.asyncIterator in source;

/** Answers single events of one stream. */
function createEventExecutor(
  args: ExecutionArgs,
  limits: AnswerLimits,
): (event: unknown) => Promise<ExecutionResult> {
  const executeEvent = limitedExecution(limits, execute);
  const context: unknown = args.contextValue;
  if (!canCreateContext(context)) return async (rootValue) => executeEvent({ ...args, rootValue });
  const { principal, isRouter, publicUrl, clientSignal } = context;
  // Nothing else of a caller decides about answers.
  const question = executionKeyOf(args, [principal, isRouter, publicUrl]);
  const isStill = () => !clientSignal.aborted;
  return async (rootValue) => {
    const open = await context.fresh();
    const answer = async () => executeEvent({ ...args, rootValue, contextValue: open() });
    return shareExecution(rootValue, question, answer, isStill);
  };
}

/** Executes the operation for each event; leaving the stream leaves the source at once. */
function executeEach(
  source: AsyncIterable<unknown>,
  args: ExecutionArgs,
  limits: AnswerLimits,
): AsyncIterableIterator<ExecutionResult> {
  const events = source[Symbol.asyncIterator]();
  const answer = createEventExecutor(args, limits);
  let refused = false;
  return {
    async next() {
      const event = refused ? ({ done: true } as const) : await events.next();
      if (event.done === true) return { done: true, value: undefined };
      try {
        return { done: false, value: await answer(event.value) };
      } catch (error) {
        // The stream of a caller whose credentials have expired ends with that error.
        if (!(error instanceof GraphQLError)) throw error;
        refused = true;
        await events.return?.();
        return { done: false, value: { errors: [error] } };
      }
    },
    async return() {
      await events.return?.();
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

/**
 * Gives each event of a subscription its own context: the request's loaders would repeat their
 * first result and its deadline would pass. A stream whose caller may not continue ends with the
 * reason.
 *
 * @param limits - of the result of an event
 * @param openContext - creates the context of a request
 */
export const usePerEventContext = (
  limits: AnswerLimits,
  openContext: (request: Request) => Promise<object>,
): Plugin => ({
  onSubscribe({ setSubscribeFn, args: { contextValue } }) {
    const { request } = contextValue;
    setSubscribeFn(async (args: ExecutionArgs) => {
      args.contextValue = await openContext(request);
      const source = await createSourceEventStream(args);
      return isStream(source) ? executeEach(source, args, limits) : source;
    });
  },
});
