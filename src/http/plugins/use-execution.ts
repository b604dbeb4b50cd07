// Creates the context of an operation when it is executed, because refused requests need none, and
// checks its cost. Each event of a subscription is executed in a context of its own.
import { mapAsyncIterator } from '@graphql-tools/utils';
import {
  createSourceEventStream,
  type DocumentNode,
  type ExecutionArgs,
  type ExecutionResult,
  execute,
  GraphQLError,
} from 'graphql';
import type { Plugin } from 'graphql-yoga';
import type { Config } from '../../config.ts';
import type { GatewayContext } from '../../context.ts';
import { createPrivateField } from '../../private-field.ts';
import type { Authenticator } from '../auth/authenticate.ts';
import { clientAddress } from '../auth/client-address.ts';
import { rateLimited } from '../errors.ts';
import { createConcurrencyQuota } from '../limits/concurrency-quota.ts';
import { costError, estimateCost } from './cost-limit.ts';
import { noteAbsences } from './response-caching.ts';

export function useExecution(
  config: Config,
  openContext: (request: Request) => Promise<GatewayContext>,
  callers: Pick<Authenticator, 'identify'>,
): Plugin {
  const maxSubscriptions = config.MAX_SUBSCRIPTIONS;
  const places = createConcurrencyQuota(maxSubscriptions);

  /** Opens the context of an operation. @throws GraphQLError QUERY_TOO_EXPENSIVE */
  async function openChecked(args: ExecutionArgs, request: Request): Promise<GatewayContext> {
    const context = await openContext(request);
    const cost = estimateCost(args);
    if (cost === undefined) return context;
    context.upstream.onCost?.(cost.calls);
    const error = costError(cost, config);
    if (error !== undefined) throw error;
    return context;
  }

  /** Subscribes in a context of the request; each event is then executed in one of its own. */
  async function subscribe(args: ExecutionArgs, request: Request): Promise<Results | ExecutionResult> {
    const context = await openChecked(args, request);
    args.contextValue = context;
    const source = await createSourceEventStream(args);
    return isStream(source) ? executeEach(source, createEventExecutor(args, context)) : source;
  }

  return {
    onExecute({ executeFn, setExecuteFn, context: { request } }) {
      setExecuteFn(async (args: ExecutionArgs) => {
        const context = await openChecked(args, request);
        noteAbsences(request, context.upstream.absences);
        args.contextValue = context;
        return executeFn(args);
      });
    },
    onSubscribe({ setSubscribeFn, args: { contextValue } }) {
      const { request } = contextValue;
      setSubscribeFn(async (args: ExecutionArgs) => {
        const { principal } = await callers.identify(request);
        const leave = places.take(principal ?? clientAddress(request) ?? 'anonymous');
        if (leave === null) return { errors: [rateLimited(tooManyOpen(maxSubscriptions), RETRY_SECONDS)] };
        // Also releases the slot of a client that disconnected while no event was read.
        request.signal.addEventListener('abort', leave, { once: true });
        if (request.signal.aborted) leave();
        try {
          const results = await subscribe(args, request);
          if (isStream(results)) return releaseOnReturn(results, leave);
          leave();
          return results;
        } catch (error) {
          leave();
          throw error;
        }
      });
    },
  };
}

const RETRY_SECONDS = 10;
const tooManyOpen = (most: number): string =>
  `You have ${most} subscriptions open (MAX_SUBSCRIPTIONS). End one, then open another.`;

type Results = AsyncIterable<ExecutionResult>;

const isStream = <T>(source: AsyncIterable<T> | object): source is AsyncIterable<T> =>
  Symbol.asyncIterator in source;

/** The same results, whose end, however it comes, gives the place back. */
const releaseOnReturn = (results: Results, leave: () => void): AsyncIterableIterator<ExecutionResult> =>
  mapAsyncIterator(
    results,
    (result) => result,
    (error: unknown) => {
      leave();
      throw error;
    },
    leave,
  );

/**
 * Answers single events of one stream, each in a context of its own: the request's loaders would
 * repeat their first result and its deadline would pass.
 */
function createEventExecutor(
  args: ExecutionArgs,
  context: GatewayContext,
): (event: unknown) => Promise<ExecutionResult> {
  const { principal, isRouter, publicUrl, clientSignal } = context;
  // Nothing else of a caller decides about answers.
  const question = executionKeyOf(args, [principal, isRouter, publicUrl]);
  return async (rootValue) => {
    const open = await context.fresh();
    const answer = async () => execute({ ...args, rootValue, contextValue: open() });
    return shareExecution(rootValue, question, answer, () => !clientSignal.aborted);
  };
}

/**
 * Executes the operation for each event; leaving the stream leaves the source at once. A stream
 * whose caller may not continue ends with the reason.
 */
function executeEach(
  source: AsyncIterable<unknown>,
  answer: (event: unknown) => Promise<ExecutionResult>,
): AsyncIterableIterator<ExecutionResult> {
  const events = source[Symbol.asyncIterator]();
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

let lastDocument = 0;
const documents = new WeakMap<DocumentNode, number>();

/**
 * The key under which streams share results: equal questions to one event have equal answers.
 *
 * @param audience - what else decides the result: the caller and the gateway's URL
 */
export function executionKeyOf(
  { document, operationName, variableValues }: ExecutionArgs,
  audience: readonly unknown[],
): string {
  // Numbered by the parser's cached document; a document that left the cache gets a new number and
  // is not shared.
  const number = documents.get(document) ?? ++lastDocument;
  documents.set(document, number);
  return JSON.stringify([number, operationName, variableValues, audience]);
}

const answers = createPrivateField<object, Map<string, Promise<ExecutionResult | null>>>();

/**
 * The result for an event: that of another stream with the same object and key, or a new one.
 * Results with errors are not shared.
 *
 * @param isStill - whether the client is still connected; the result for one that left may be
 *   incomplete
 */
export async function shareExecution(
  event: unknown,
  question: string,
  execute: () => Promise<ExecutionResult>,
  isStill: () => boolean,
): Promise<ExecutionResult> {
  if (typeof event !== 'object' || event === null) return execute();
  const known = answers.get(event)?.get(question);
  if (known !== undefined) return (await known) ?? execute();
  const executing = execute();
  const of = answers.get(event) ?? new Map<string, Promise<ExecutionResult | null>>();
  answers.set(event, of);
  of.set(
    question,
    executing.then(
      (result) => (result.errors === undefined && isStill() ? result : null),
      () => null,
    ),
  );
  return executing;
}
