// Refuses requests before their body is parsed: by credentials, load and rate limit.
import type { IncomingMessage } from 'node:http';
import { GraphQLError } from 'graphql';
import type { Config } from '../../config.ts';
import type { AccessControl } from '../access-control.ts';
import type { Authenticator } from '../auth/authenticate.ts';
import { overloaded, rateLimited } from '../errors.ts';
import { toClientError } from '../graphql/serialize-result.ts';
import type { RateLimitResult } from '../limits/rate-limit.ts';
import { EXEMPT_PATHS, limitedRequestOf, type RefusalReason } from '../limits/request-limits.ts';
import type { ClientErrors } from './errors.ts';

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

/** Why a request is refused for its credentials; null when it is not. */
export async function credentialsError(
  callers: Pick<Authenticator, 'identify'>,
  request: Request,
): Promise<GraphQLError | null> {
  try {
    await callers.identify(request);
    return null;
  } catch (error) {
    if (error instanceof GraphQLError) return error;
    throw error;
  }
}

/** What the checks have said of a request. */
export interface AccessVerdict {
  readonly refusal?: GraphQLError;
  /** What is left of its caller's rate limit; absent where nothing is counted. */
  readonly rate?: RateLimitResult | null;
  /** Gives its place among the running requests back, once or more often. */
  readonly leave?: () => void;
}

export interface AccessCheckSources {
  readonly config: Config;
  readonly accessControl: Pick<AccessControl, 'pressure' | 'admission' | 'callers'>;
  readonly errors: Pick<ClientErrors, 'count' | 'countRefusal'>;
}

/**
 * Refuses requests beyond the limits of the process, then those beyond the caller's rate limit, then
 * POSTs without valid credentials. Of a request that came over a connection the limits have been
 * asked already.
 */
export async function checkAccess(
  { config, accessControl, errors }: AccessCheckSources,
  request: Request,
  pathname: string,
  incoming: IncomingMessage | undefined,
): Promise<AccessVerdict> {
  const { pressure, admission, callers } = accessControl;
  const limited = limitedRequestOf(incoming);
  if (limited === undefined) admission.note(request, incoming);
  else admission.attachToRequest(request, limited.arrival);
  if (EXEMPT_PATHS.includes(pathname)) return {};
  const refuse = (reason: RefusalReason, refusal: GraphQLError): GraphQLError => {
    errors.countRefusal(reason, refusal, request);
    return refusal;
  };
  const leave = limited === undefined ? pressure.enter() : limited.leave;
  if (leave === null) return { refusal: refuse('busy', overloaded()) };
  if (limited?.refusal !== undefined)
    return { leave, refusal: refuse(limited.refusal.reason, limited.refusal.error) };
  const rate = limited === undefined ? await admission.spend(request) : limited.arrival.verdict;
  if (rate?.allowed === false) return { leave, rate, refusal: refuse('rate', rateLimitError(rate)) };
  if (!config.proofNeeded || request.method !== 'POST') return { leave, rate };
  const refusal = await credentialsError(callers, request);
  if (refusal === null) return { leave, rate };
  errors.count(refusal, request);
  return { leave, rate, refusal };
}

interface Http {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
}

const isHttp = (value: unknown): value is Http =>
  typeof value === 'object' && value !== null && 'status' in value && 'headers' in value;

/** The answer to a refused request. @param error - with `extensions.http` */
export function refusalResponse(request: Request, pathname: string, error: GraphQLError): Response {
  const { http } = error.extensions;
  const { status, headers } = isHttp(http) ? http : { status: 500, headers: {} };
  const common = { 'cache-control': 'no-store', ...headers };
  if (!pathname.startsWith('/graphql')) {
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
