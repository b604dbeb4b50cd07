// The limits of requests as Yoga sees them: load shedding and rate limits. For requests over a
// connection, the HTTP server has decided already (limits/request-limits.ts); in-process requests
// are decided here.
import type { GraphQLError } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { overloaded, rateLimited } from '../auth/auth-errors.ts';
import { nodeRequestOf } from '../auth/node-request.ts';
import type { Admission } from '../limits/admission.ts';
import type { LoadShedder } from '../limits/load-shedding.ts';
import type { RateLimitResult } from '../limits/rate-limit.ts';
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

/** The error of a caller without tokens left. */
export const rateLimitError = ({ limit, retryAfterSeconds }: RateLimitResult): GraphQLError =>
  rateLimited(
    `These are more than ${limit} requests in a minute (RATE_LIMIT_PER_MINUTE). ` +
      `Try again in ${retryAfterSeconds} s.`,
    retryAfterSeconds,
  );

/** The caller's rate limit as response headers. */
export const rateLimitHeaders = ({ limit, remaining, resetSeconds }: RateLimitResult) => ({
  'ratelimit-limit': String(limit),
  'ratelimit-remaining': String(remaining),
  'ratelimit-reset': String(resetSeconds),
});

function say(headers: Headers, verdict: RateLimitResult): void {
  // What many are given says nothing of one.
  if (headers.get('cache-control')?.includes('public') === true) return;
  for (const [name, value] of Object.entries(rateLimitHeaders(verdict))) headers.set(name, value);
}

/** Counts requests against the caller's rate limit. @param onRefused - called for each refusal */
export const useRateLimit = (
  admission: Admission,
  onRefused: (error: GraphQLError, request: Request) => void,
): Plugin => {
  const verdicts = new WeakMap<Request, RateLimitResult>();
  return {
    onRequest({ request, url, serverContext, endResponse }) {
      const incoming = nodeRequestOf(serverContext);
      const arrival = limitedRequestOf(incoming)?.arrival;
      if (arrival === undefined) admission.note(request, incoming);
      else admission.attachToRequest(request, arrival);
      if (EXEMPT_PATHS.includes(url.pathname) || request.method === 'OPTIONS') return;
      const apply = (verdict: RateLimitResult | null): void => {
        if (verdict === null) return;
        verdicts.set(request, verdict);
        if (verdict.allowed) return;
        const error = rateLimitError(verdict);
        onRefused(error, request);
        endResponse(createErrorResponse(request, error));
      };
      if (arrival === undefined) return admission.spend(request).then(apply);
      return apply(arrival.verdict);
    },
    onResponse({ request, response }) {
      const verdict = verdicts.get(request);
      if (verdict !== undefined) say(response.headers, verdict);
    },
  };
};
