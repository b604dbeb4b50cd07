// Limits the open subscriptions of a caller, over event streams and WebSockets together.
import type { ExecutionArgs, ExecutionResult } from 'graphql';
import type { Plugin, YogaInitialContext } from 'graphql-yoga';
import { rateLimited } from '../auth/auth-errors.ts';
import type { Admission } from '../limits/admission.ts';
import type { ConcurrencyQuota } from '../limits/subscription-quota.ts';

const RETRY_SECONDS = 10;

type Results = AsyncIterable<ExecutionResult>;

const isResults = (result: unknown): result is Results =>
  typeof result === 'object' && result !== null && Symbol.asyncIterator in result;

/** The same results, whose end, however it comes, gives the place back. */
function releaseOnReturn(results: Results, leave: () => void): AsyncIterableIterator<ExecutionResult> {
  const source = results[Symbol.asyncIterator]();
  return {
    async next() {
      try {
        const result = await source.next();
        if (result.done === true) leave();
        return result;
      } catch (error) {
        leave();
        throw error;
      }
    },
    async return() {
      leave();
      await source.return?.();
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

/** @param most - subscriptions of one caller, for the message */
export const useSubscriptionLimit = (
  admission: Admission,
  places: ConcurrencyQuota,
  most: number,
): Plugin<YogaInitialContext> => ({
  onSubscribe({ subscribeFn, setSubscribeFn, args }) {
    const { request } = args.contextValue;
    setSubscribeFn(async (subscribing: ExecutionArgs) => {
      const leave = places.take(await admission.accounts(request));
      if (leave === null) {
        const message = `You have ${most} subscriptions open (MAX_SUBSCRIPTIONS). End one, then open another.`;
        return { errors: [rateLimited(message, RETRY_SECONDS)] };
      }
      // Also releases the slot of a client that disconnected while no event was read.
      request.signal.addEventListener('abort', leave, { once: true });
      if (request.signal.aborted) leave();
      try {
        const results: unknown = await subscribeFn(subscribing);
        if (isResults(results)) return releaseOnReturn(results, leave);
        leave();
        return results;
      } catch (error) {
        leave();
        throw error;
      }
    });
  },
});
