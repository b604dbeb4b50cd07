// Refuses requests while the process has as much to do as it can, before it suffers. A request is under way until its answer is
// sent; event streams have a limit of their own. It must not know what is asked.
import type { GraphQLError } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { outgoingOf } from '../callers/connection.ts';
import { overloaded } from '../callers/refusal.ts';
import type { Pressure } from '../load/pressure.ts';
import { refused } from './refused.ts';
import { NEVER_REFUSED } from './use-rate-limit.ts';

const isStream = (response: Response): boolean =>
  /^(text\/event-stream|multipart\/)/.test(response.headers.get('content-type') ?? '');

/** @param onRefused - told of every refusal */
export const useShedding = (
  pressure: Pressure,
  onRefused: (error: GraphQLError, request: Request) => void,
): Plugin => {
  const leaving = new WeakMap<Request, () => void>();
  return {
    onRequest({ request, url, serverContext, endResponse }) {
      if (NEVER_REFUSED.includes(url.pathname)) return;
      const leave = pressure.enter();
      if (leave === null) {
        const error = overloaded();
        onRefused(error, request);
        return endResponse(refused(request, error));
      }
      leaving.set(request, leave);
      outgoingOf(serverContext)?.once('close', leave);
    },
    onResponse({ request, response, serverContext }) {
      if (outgoingOf(serverContext) === undefined || isStream(response)) leaving.get(request)?.();
    },
  };
};
