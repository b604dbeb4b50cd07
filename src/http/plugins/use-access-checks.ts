// Refuses requests before their body is parsed: by host, credentials, load and rate limit.
import { GraphQLError } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { hostNotAllowed, overloaded, rateLimited } from '../auth/auth-errors.ts';
import type { Authenticator } from '../auth/authenticate.ts';
import { isAllowedHost } from '../auth/loopback.ts';
import { nodeRequestOf } from '../auth/node-request.ts';
import { toClientError } from '../graphql/serialize-result.ts';
import type { Admission } from '../limits/admission.ts';
import type { LoadShedder } from '../limits/load-shedding.ts';
import type { RateLimitResult } from '../limits/rate-limit.ts';
import { EXEMPT_PATHS, limitedRequestOf, type Refusal } from '../limits/request-limits.ts';
import type { ClientErrors } from './errors.ts';

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

const isStream = (response: Response): boolean =>
  /^(text\/event-stream|multipart\/)/.test(response.headers.get('content-type') ?? '');

export interface AccessCheckOptions {
  readonly pressure: LoadShedder;
  readonly admission: Admission;
  /** Reads credentials; absent where none are needed. */
  readonly callers: Pick<Authenticator, 'identify'> | undefined;
  readonly errors: Pick<ClientErrors, 'count' | 'countRefusal'>;
}

/**
 * Refuses requests beyond the limits of the process, then those beyond the caller's rate limit, then
 * POSTs without valid credentials. Of a request that came over a connection the limits have been
 * asked already.
 */
export function useAccessChecks({ pressure, admission, callers, errors }: AccessCheckOptions): Plugin {
  const leaving = new WeakMap<Request, () => void>();
  const verdicts = new WeakMap<Request, RateLimitResult>();

  /** Why a request is refused by its caller's rate limit. */
  function rateRefusal(request: Request, verdict: RateLimitResult | null): Refusal | undefined {
    if (verdict !== null) verdicts.set(request, verdict);
    return verdict === null || verdict.allowed
      ? undefined
      : { reason: 'rate', error: rateLimitError(verdict) };
  }

  return {
    onRequest({ request, url, serverContext, endResponse }) {
      const incoming = nodeRequestOf(serverContext);
      const limited = limitedRequestOf(incoming);
      if (limited === undefined) admission.note(request, incoming);
      else admission.attachToRequest(request, limited.arrival);
      if (EXEMPT_PATHS.includes(url.pathname)) return;
      const refuse = ({ reason, error }: Refusal): void => {
        errors.countRefusal(reason, error, request);
        endResponse(createErrorResponse(request, error));
      };
      const leave = limited === undefined ? pressure.enter() : limited.leave;
      if (leave !== null) leaving.set(request, leave);
      if (limited?.refusal !== undefined) return refuse(limited.refusal);
      if (leave === null) return refuse({ reason: 'busy', error: overloaded() });
      const proceed = (verdict: RateLimitResult | null): Promise<void> | undefined => {
        const refusal = rateRefusal(request, verdict);
        if (refusal !== undefined) return void refuse(refusal);
        if (callers === undefined || request.method !== 'POST') return undefined;
        return callers.identify(request).then(
          () => undefined,
          (error: unknown) => {
            if (!(error instanceof GraphQLError)) throw error;
            errors.count(error, request);
            endResponse(createErrorResponse(request, error));
          },
        );
      };
      if (limited !== undefined) return proceed(limited.arrival.verdict);
      return admission.spend(request).then(proceed);
    },
    onResponse({ request, response, serverContext }) {
      const { headers } = response;
      // Event streams have a limit of their own.
      if (nodeRequestOf(serverContext) === undefined || isStream(response)) leaving.get(request)?.();
      const verdict = verdicts.get(request);
      // What many are given says nothing of one.
      if (verdict === undefined || headers.get('cache-control')?.includes('public') === true) return;
      for (const [name, value] of Object.entries(rateLimitHeaders(verdict))) headers.set(name, value);
    },
  };
}

interface Http {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
}

const isHttp = (value: unknown): value is Http =>
  typeof value === 'object' && value !== null && 'status' in value && 'headers' in value;

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
  return new Response(JSON.stringify({ errors: [toClientError(error)] }), {
    status,
    headers: { 'content-type': `${accepted ? type : 'application/json'}; charset=utf-8`, ...common },
  });
}
