// The routes beside GraphQL: the first one that takes a request answers it. Here are the rules of
// all of them: methods and parameters.
import { plainText } from '../../plain-text.ts';
import type { Exchange, HttpResponse } from '../exchange.ts';
import { isMonitoring } from '../server/request-target.ts';
import type { RouteDescription } from './description.ts';
import { textResponse } from './responses.ts';

/** A request for a route. */
export interface RouteRequest {
  readonly exchange: Exchange;
  readonly url: URL;
  /** The groups of the route's path. */
  readonly parts: readonly string[];
}

/** Answers the requests for some paths. */
export interface Route {
  readonly path: RegExp;
  /** Which requests for the path it takes; all when absent. */
  readonly takes?: (exchange: Exchange) => boolean;
  /** GET when absent, and HEAD with it. */
  readonly method?: 'GET' | 'POST' | 'any';
  /** Whether what it answers may be the same for every caller. */
  readonly isPublic?: boolean;
  /** For /openapi.json, by path; absent for pages, and for routes with a protocol of their own. */
  readonly described?: Readonly<Record<string, RouteDescription>>;
  readonly answer: (asked: RouteRequest) => Promise<HttpResponse> | HttpResponse;
}

const METHODS = {
  GET: ['GET, HEAD', 'This address can only be read. GraphQL is at /graphql.'],
  POST: ['POST', 'Send requests to this address by POST.'],
} as const;

/** The parameters that a path takes. */
const knownParameters = (described: Exclude<Route['described'], undefined>, path: string): string[] =>
  Object.entries(described).flatMap(([template, { query = {} }]) => {
    const pattern = template.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+');
    return new RegExp(`^${pattern}$`).test(path) ? Object.keys(query) : [];
  });

/** Refuses parameters that would have no effect; null where there is none of them. */
function refuseUnknownParameters({ described }: Route, { pathname, searchParams }: URL): HttpResponse | null {
  if (described === undefined || isMonitoring(pathname)) return null;
  const known = knownParameters(described, pathname);
  const unknown = [...searchParams.keys()].find((name) => !known.includes(name));
  if (unknown === undefined) return null;
  const takes = known.length === 0 ? 'none' : known.map((name) => `\`${name}\``).join(', ');
  const name = plainText(unknown.slice(0, 40));
  return textResponse(400, `There is no parameter \`${name}\` here. This address takes ${takes}.`);
}

/** Runs a route for its method, and refuses others. */
async function runRoute(route: Route, asked: RouteRequest): Promise<HttpResponse> {
  const { method = 'GET', answer, isPublic = false } = route;
  if (method === 'any') return answer(asked);
  const { exchange } = asked;
  const [allow, refusal] = METHODS[method];
  if (!allow.split(', ').includes(exchange.method)) return textResponse(405, refusal, { allow });
  const unknown = refuseUnknownParameters(route, asked.url);
  if (unknown !== null) return unknown;
  return isPublic ? exchange.share(async (shared) => answer({ ...asked, exchange: shared })) : answer(asked);
}

/** The answer of the first route that takes the request; undefined where none does. */
export async function answerRoute(
  routes: readonly Route[],
  exchange: Exchange,
): Promise<HttpResponse | undefined> {
  const url = new URL(exchange.origin + exchange.url);
  for (const route of routes) {
    const [found, ...parts] = route.path.exec(url.pathname) ?? [];
    if (found === undefined || route.takes?.(exchange) === false) continue;
    return runRoute(route, { exchange, url, parts });
  }
  return undefined;
}
