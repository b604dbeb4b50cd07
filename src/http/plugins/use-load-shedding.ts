// The limits of requests as Yoga sees them: load shedding and rate limits. For requests over a
// connection, the HTTP server has decided already (limits/request-limits.ts); in-process requests
// are decided here.
import type { GraphQLError } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { overloaded } from '../auth/auth-errors.ts';
import { nodeRequestOf } from '../auth/node-request.ts';
import type { LoadShedder } from '../limits/load-shedding.ts';
import { EXEMPT_PATHS, limitedRequestOf, type RefusalReason } from '../limits/request-limits.ts';
import { createErrorResponse } from './error-response.ts';

const isStream = (response: Response): boolean =>
  /^(text\/event-stream|multipart\/)/.test(response.headers.get('content-type') ?? '');

/** Refuses requests beyond the limits of the process. @param onRefused - called for each refusal */
export const useLoadShedding = (
  pressure: LoadShedder,
  onRefused: (reason: RefusalReason, error: GraphQLError, request: Request) => void,
): Plugin => {
  const leaving = new WeakMap<Request, () => void>();
  return {
    onRequest({ request, url, serverContext, endResponse }) {
      if (EXEMPT_PATHS.includes(url.pathname)) return;
      const limited = limitedRequestOf(nodeRequestOf(serverContext));
      const leave = limited === undefined ? pressure.enter() : limited.leave;
      const busy = leave === null ? ({ reason: 'busy', error: overloaded() } as const) : undefined;
      const refusal = limited?.refusal ?? busy;
      if (leave !== null) leaving.set(request, leave);
      if (refusal === undefined) return;
      onRefused(refusal.reason, refusal.error, request);
      endResponse(createErrorResponse(request, refusal.error));
    },
    onResponse({ request, response, serverContext }) {
      // Event streams have a limit of their own.
      if (nodeRequestOf(serverContext) === undefined || isStream(response)) leaving.get(request)?.();
    },
  };
};
