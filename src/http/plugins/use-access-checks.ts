// Refuses requests before their body is parsed: by host, credentials, load and rate limit.
import { GraphQLError } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { hostNotAllowed, overloaded, rateLimited } from '../auth/auth-errors.ts';
import type { Authenticator } from '../auth/authenticate.ts';
import { isAllowedHost } from '../auth/loopback.ts';
import { nodeRequestOf } from '../auth/node-request.ts';
import type { Admission } from '../limits/admission.ts';
import type { LoadShedder } from '../limits/load-shedding.ts';
import type { RateLimitResult } from '../limits/rate-limit.ts';
import { EXEMPT_PATHS, limitedRequestOf, type RefusalReason } from '../limits/request-limits.ts';

/**
 * Refuses requests whose Host header names another server (DNS rebinding).
 *
 * @param publicUrl - the gateway's URL when it is behind a proxy
 */
export const useHostCheck = (publicUrl: string | undefined): Plugin => ({
  onRequest({ request, serverContext, endResponse }) {
    const incoming = nodeRequestOf(serverContext);
    if (incoming !== undefined && !isAllowedHost(incoming.headers.host, publicUrl))
      endResponse(createErrorResponse(request, hostNotAllowed()));
  },
});

/**
 * Refuses POSTs without valid credentials before their body is read.
 *
 * @param onRefused - called for each refusal
 */
export const useProof = (
  callers: Pick<Authenticator, 'identify'>,
  onRefused: (error: GraphQLError, request: Request) => void,
): Plugin => ({
  async onRequest({ request, endResponse }) {
    if (request.method !== 'POST') return;
    try {
      await callers.identify(request);
    } catch (error) {
      if (!(error instanceof GraphQLError)) throw error;
      onRefused(error, request);
      endResponse(createErrorResponse(request, error));
    }
  },
});

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

interface Http {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
}

const isHttp = (value: unknown): value is Http =>
  typeof value === 'object' && value !== null && 'status' in value && 'headers' in value;

/** An error without what it says to HTTP. */
export function stripHttpExtensions(error: GraphQLError): GraphQLError {
  const { http: _, ...extensions } = error.extensions;
  return new GraphQLError(error.message, {
    extensions,
    nodes: error.nodes ?? null,
    source: error.source ?? null,
    positions: error.positions ?? null,
  });
}

/** Makes the answer. @param error - with `extensions.http` */
function createErrorResponse(request: Request, error: GraphQLError): Response {
  const { http } = error.extensions;
  const { status, headers } = isHttp(http) ? http : { status: 500, headers: {} };
  const common = { 'cache-control': 'no-store', ...headers };
  if (!new URL(request.url).pathname.startsWith('/graphql')) {
    return new Response(`${error.message}\n`, {
      status,
      headers: { 'content-type': 'text/plain; charset=utf-8', ...common },
    });
  }
  const type = 'application/graphql-response+json';
  const accepted = request.headers.get('accept')?.includes(type) === true;
  return new Response(JSON.stringify({ errors: [stripHttpExtensions(error)] }), {
    status,
    headers: { 'content-type': `${accepted ? type : 'application/json'}; charset=utf-8`, ...common },
  });
}
