// Executes subscriptions: each event in a context of its own, because the loaders of the request
// would repeat their first result and its deadline would pass. Limits how many a caller has open.
import { mapAsyncIterator } from '@graphql-tools/utils';
import {
  createSourceEventStream,
  type DocumentNode,
  type ExecutionArgs,
  type ExecutionResult,
  execute,
  GraphQLError,
} from 'graphql';
import type { Config } from '../../../config.ts';
import type { GatewayContext } from '../../../context.ts';
import { createConcurrencyQuota } from '../../access/concurrency-quota.ts';
import { identifyCaller } from '../../exchange.ts';
import { httpError, rateLimited } from '../../failures/errors.ts';
import { negotiateEventStreamType } from '../media-type.ts';
import type { OperationContext, OperationPlugin } from '../operation-context.ts';
import { MAX_VARIABLE_ERRORS, type OpenOperation } from './use-execution.ts';

type Results = AsyncIterable<ExecutionResult>;

const isStream = <T>(source: AsyncIterable<T> | object): source is AsyncIterable<T> =>
  Symbol.asyncIterator in source;

const RETRY_SECONDS = 10;
const tooManyOpen = (most: number): string =>
  `You have ${most} subscriptions open (MAX_SUBSCRIPTIONS). End one, then open another.`;

const streamNotAccepted = (): GraphQLError =>
  httpError(406, 'A subscription is a stream: accept text/event-stream or multipart/mixed.');

export function useSubscriptions(
  { MAX_SUBSCRIPTIONS }: Config,
  openOperation: OpenOperation,
): OperationPlugin {
  const quota = createConcurrencyQuota(MAX_SUBSCRIPTIONS);

  async function subscribe(
    args: ExecutionArgs,
    context: OperationContext,
  ): Promise<Results | ExecutionResult> {
    const contextValue = await openOperation(args, context);
    const opened = { ...args, contextValue, options: { maxCoercionErrors: MAX_VARIABLE_ERRORS } };
    const source = await createSourceEventStream(opened);
    return isStream(source) ? executeEach(source, createEventExecutor(opened, contextValue)) : source;
  }

  return {
    onSubscribe({ setSubscribeFn, setResultAndStopExecution, args: { contextValue } }) {
      const context: OperationContext = contextValue;
      const { exchange } = context;
      const { headers, signal, address } = exchange;
      if (negotiateEventStreamType(headers.accept ?? null) === null)
        return setResultAndStopExecution({ errors: [streamNotAccepted()] });
      setSubscribeFn(async (args: ExecutionArgs) => {
        const { principal } = identifyCaller(exchange);
        const release = quota.acquire(principal ?? address ?? 'anonymous');
        if (release === null) return { errors: [rateLimited(tooManyOpen(MAX_SUBSCRIPTIONS), RETRY_SECONDS)] };
        // Also releases the slot of a client that disconnected while no event was read.
        signal.addEventListener('abort', release, { once: true });
        if (signal.aborted) release();
        try {
          const results = await subscribe(args, context);
          if (isStream(results)) return withEnd(results, release);
          release();
          return results;
        } catch (error) {
          release();
          throw error;
        }
      });
    },
  };
}

/** The same results; calls `onEnd` when they end, fail, or are no longer read. */
const withEnd = (results: Results, onEnd: () => void): AsyncIterableIterator<ExecutionResult> =>
  mapAsyncIterator(
    results,
    (result) => result,
    (error: unknown) => {
      onEnd();
      throw error;
    },
    onEnd,
  );

type ExecuteEvent = (event: unknown) => Promise<ExecutionResult>;

/**
 * Executes the operation for each event. The stream of a caller who may not continue ends with the
 * reason.
 */
function executeEach(
  source: AsyncIterable<unknown>,
  executeEvent: ExecuteEvent,
): AsyncIterableIterator<ExecutionResult> {
  const events = source[Symbol.asyncIterator]();
  return mapAsyncIterator(events, async (event): Promise<ExecutionResult> => {
    try {
      return await executeEvent(event);
    } catch (error) {
      if (!(error instanceof GraphQLError)) throw error;
      await events.return?.();
      return { errors: [error] };
    }
  });
}

function createEventExecutor(args: ExecutionArgs, context: GatewayContext): ExecuteEvent {
  const { principal, isRouter, publicUrl, clientSignal } = context;
  // Results depend on nothing else of a caller.
  const key = executionKey(args, [principal, isRouter, publicUrl]);
  return async (rootValue) => {
    const open = await context.fresh();
    const executeOne = async () => execute({ ...args, rootValue, contextValue: open() });
    return shareExecution(rootValue, key, executeOne, () => !clientSignal.aborted);
  };
}

let lastDocument = 0;
const documentNumbers = new WeakMap<DocumentNode, number>();

/**
 * The key under which streams share results: the same operation of the same caller has the same
 * result for one event.
 *
 * @param audience - everything else that the result depends on: the caller and the gateway's URL
 */
export function executionKey(
  { document, operationName, variableValues }: ExecutionArgs,
  audience: readonly unknown[],
): string {
  // Numbered by the parser's cached document; a document that left the cache gets a new number.
  const number = documentNumbers.get(document) ?? ++lastDocument;
  documentNumbers.set(document, number);
  return JSON.stringify([number, operationName, variableValues, audience]);
}

const sharedResults = new WeakMap<object, Map<string, Promise<ExecutionResult | null>>>();

/**
 * The result for an event: that of another stream with the same event and key, or a new one.
 * Results with errors are not shared.
 *
 * @param isConnected - false once the client has disconnected: its result may be incomplete
 */
export async function shareExecution(
  event: unknown,
  key: string,
  executeEvent: () => Promise<ExecutionResult>,
  isConnected: () => boolean,
): Promise<ExecutionResult> {
  if (typeof event !== 'object' || event === null) return executeEvent();
  const results = sharedResults.get(event) ?? new Map<string, Promise<ExecutionResult | null>>();
  sharedResults.set(event, results);
  const shared = results.get(key);
  if (shared !== undefined) return (await shared) ?? executeEvent();
  const executing = executeEvent();
  results.set(
    key,
    executing.then(
      (result) => (result.errors === undefined && isConnected() ? result : null),
      () => null,
    ),
  );
  return executing;
}
