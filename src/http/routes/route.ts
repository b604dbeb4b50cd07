// The routes beside GraphQL: the first one that takes a request answers it. Here are the rules of
// all of them: methods, HEAD, streamed files, and failures of the service as HTTP statuses.
import { GraphQLError } from 'graphql';
import { StoreError } from '../../store/redis-connection.ts';
import { UpstreamError } from '../../upstream/errors.ts';
import { STATUS_BY_CODE } from '../errors.ts';
import { getExchange } from '../exchange.ts';
import { cancelSource, toBodyStream } from '../graphql/result-stream.ts';
import { isAbort, STORE_AWAY, TOOK_TOO_LONG } from '../plugins/mask-error.ts';
import type { RouteDescription } from './description.ts';
import { textResponse } from './responses.ts';

/**
 * A file that is sent while it is read: its source is cancelled when the client disconnects, and
 * the connection is cut when the source fails.
 */
export interface StreamedFile {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: AsyncIterable<Uint8Array>;
}

export type RouteAnswer = Response | StreamedFile;

/** A request for a route. */
export interface RouteRequest {
  readonly request: Request;
  readonly url: URL;
  /** The groups of the route's path. */
  readonly parts: readonly string[];
}

/** Answers the requests for some paths. */
export interface Route {
  readonly path: RegExp;
  /** Which requests for the path it takes; all when absent. */
  readonly takes?: (request: Request) => boolean;
  /** GET when absent, and HEAD with it. */
  readonly method?: 'GET' | 'POST' | 'any';
  /** For /openapi.json, by path; absent for pages, and for routes with a protocol of their own. */
  readonly described?: Readonly<Record<string, RouteDescription>>;
  readonly answer: (asked: RouteRequest) => Promise<RouteAnswer> | RouteAnswer;
}

/** A failure with a code as an HTTP answer; undefined for any other error. */
function failureResponse(error: unknown): Response | undefined {
  if (error instanceof StoreError) return textResponse(503, STORE_AWAY, { 'retry-after': '5' });
  if (!(error instanceof UpstreamError || error instanceof GraphQLError)) return undefined;
  const { code, retryAfterSeconds }: Readonly<Record<string, unknown>> =
    error instanceof UpstreamError ? { ...error.failure } : error.extensions;
  if (typeof code !== 'string') return undefined;
  const own = error instanceof GraphQLError ? error.extensions.http?.status : undefined;
  const status = own ?? STATUS_BY_CODE[code] ?? 502;
  return textResponse(status, error.message, {
    ...(typeof retryAfterSeconds === 'number' ? { 'retry-after': String(retryAfterSeconds) } : {}),
    ...(status === 401 ? { 'www-authenticate': 'Bearer' } : {}),
  });
}

const METHODS = {
  GET: ['GET, HEAD', 'This address can only be read. GraphQL is at /graphql.'],
  POST: ['POST', 'Send requests to this address by POST.'],
} as const;

async function withoutBody(answered: RouteAnswer): Promise<Response> {
  if (answered instanceof Response) await answered.body?.cancel();
  else await cancelSource(answered.body);
  return new Response(null, { status: answered.status, headers: answered.headers });
}

/** Runs a route for its method, and refuses others. */
async function runRoute({ method = 'GET', answer }: Route, asked: RouteRequest): Promise<RouteAnswer> {
  if (method === 'any') return answer(asked);
  const { request } = asked;
  const [allow, refusal] = METHODS[method];
  if (!allow.split(', ').includes(request.method)) return textResponse(405, refusal, { allow });
  try {
    const answered = await answer(asked);
    return request.method === 'HEAD' ? await withoutBody(answered) : answered;
  } catch (error) {
    const isLate = isAbort(error) && !request.signal.aborted;
    const response = isLate ? textResponse(504, TOOK_TOO_LONG) : failureResponse(error);
    if (response === undefined) throw error;
    return response;
  }
}

/** The answer of the first route that takes the request; undefined where none does. */
export async function answerRoute(routes: readonly Route[], request: Request): Promise<Response | undefined> {
  const url = new URL(request.url);
  for (const route of routes) {
    const [found, ...parts] = route.path.exec(url.pathname) ?? [];
    if (found === undefined || route.takes?.(request) === false) continue;
    const answered = await runRoute(route, { request, url, parts });
    if (answered instanceof Response) return answered;
    const { body, status, headers } = answered;
    return new Response(toBodyStream(body, getExchange(request).connection), { status, headers });
  }
  return undefined;
}
