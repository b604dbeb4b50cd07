// The routes beside GraphQL: the first one that takes a request answers it. Here are the rules of
// all of them: methods, HEAD, streamed files, and failures of the service as HTTP statuses.
import type { GraphQLError } from 'graphql';
import { plainText } from '../../plain-text.ts';
import { StoreError } from '../../store/redis-connection.ts';
import { STATUS_BY_CODE } from '../errors.ts';
import { getExchange } from '../exchange.ts';
import { cancelSource, toBodyStream } from '../graphql/result-stream.ts';
import { isMonitoring } from '../server/request-target.ts';
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
  readonly fail: Fail;
}

/** Counts and logs a failure, as GraphQL does. @returns what the client may be told of it */
export type Fail = (error: unknown) => GraphQLError;

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

/** A failure as an HTTP answer. */
function failureResponse(error: unknown, { message, extensions }: GraphQLError): Response {
  const { code, http, retryAfterSeconds } = extensions;
  const seconds = error instanceof StoreError ? STORE_RETRY_SECONDS : retryAfterSeconds;
  const status = http?.status ?? STATUS_BY_CODE[String(code)] ?? 502;
  return textResponse(status, message, {
    ...(typeof seconds === 'number' ? { 'retry-after': String(seconds) } : {}),
    ...(status === 401 ? { 'www-authenticate': 'Bearer' } : {}),
  });
}

const STORE_RETRY_SECONDS = 5;

const METHODS = {
  GET: ['GET, HEAD', 'This address can only be read. GraphQL is at /graphql.'],
  POST: ['POST', 'Send requests to this address by POST.'],
} as const;

async function withoutBody(answered: RouteAnswer): Promise<Response> {
  if (answered instanceof Response) await answered.body?.cancel();
  else await cancelSource(answered.body);
  return new Response(null, { status: answered.status, headers: answered.headers });
}

/** The parameters that a path takes. */
const knownParameters = (described: Exclude<Route['described'], undefined>, path: string): string[] =>
  Object.entries(described).flatMap(([template, { query = {} }]) => {
    const pattern = template.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+');
    return new RegExp(`^${pattern}$`).test(path) ? Object.keys(query) : [];
  });

/** Refuses parameters that would have no effect; null where there is none of them. */
function refuseUnknownParameters({ described }: Route, { pathname, searchParams }: URL): Response | null {
  if (described === undefined || isMonitoring(pathname)) return null;
  const known = knownParameters(described, pathname);
  const unknown = [...searchParams.keys()].find((name) => !known.includes(name));
  if (unknown === undefined) return null;
  const takes = known.length === 0 ? 'none' : known.map((name) => `\`${name}\``).join(', ');
  const name = plainText(unknown.slice(0, 40));
  return textResponse(400, `There is no parameter \`${name}\` here. This address takes ${takes}.`);
}

/** Runs a route for its method, and refuses others. */
async function runRoute(route: Route, asked: RouteRequest): Promise<RouteAnswer> {
  const { method = 'GET', answer } = route;
  if (method === 'any') return answer(asked);
  const { request } = asked;
  const [allow, refusal] = METHODS[method];
  if (!allow.split(', ').includes(request.method)) return textResponse(405, refusal, { allow });
  const unknown = refuseUnknownParameters(route, asked.url);
  if (unknown !== null) return unknown;
  try {
    const answered = await answer(asked);
    return request.method === 'HEAD' ? await withoutBody(answered) : answered;
  } catch (error) {
    if (request.signal.aborted) throw error;
    return failureResponse(error, asked.fail(error));
  }
}

/** The answer of the first route that takes the request; undefined where none does. */
export async function answerRoute(
  routes: readonly Route[],
  request: Request,
  fail: Fail,
): Promise<Response | undefined> {
  const url = new URL(request.url);
  for (const route of routes) {
    const [found, ...parts] = route.path.exec(url.pathname) ?? [];
    if (found === undefined || route.takes?.(request) === false) continue;
    const asked = { request, url, parts, fail };
    const answered = await runRoute(route, asked);
    if (answered instanceof Response) return answered;
    const { body, status, headers } = answered;
    const failed = (error: unknown): void => {
      if (!request.signal.aborted) fail(error);
    };
    return new Response(toBodyStream(body, getExchange(request).connection, failed), {
      status,
      headers,
    });
  }
  return undefined;
}
