// The routes: the first one for the path and the method of a request that takes it answers it. Here
// are the rules of all of them: methods and parameters.
import { plainText } from '../../plain-text.ts';
import type { Exchange, HttpResponse } from '../exchange.ts';
import { httpError } from '../failures/errors.ts';
import { isMonitoring } from '../server/request-target.ts';
import { allowHeader, type Method } from '../server/response-headers.ts';
import type { RouteDescription } from './description.ts';
import { textResponse } from './responses.ts';

/** A request for a route. */
export interface RouteRequest {
  readonly exchange: Exchange;
  readonly url: URL;
  /** The groups of the route's path. */
  readonly parts: readonly string[];
}

const READ: readonly Method[] = ['GET', 'HEAD'];

/** Answers the requests for some paths. */
export interface Route {
  readonly path: RegExp;
  /** Which requests by its methods it takes; all when absent. */
  readonly takes?: (exchange: Exchange) => boolean;
  /** GET and HEAD when absent. */
  readonly methods?: readonly Method[];
  /** Whether what it answers may be the same for every caller. */
  readonly isPublic?: boolean;
  /** For /openapi.json, by path; absent for pages, and for routes with a protocol of their own. */
  readonly described?: Readonly<Record<string, RouteDescription>>;
  readonly answer: (asked: RouteRequest) => Promise<HttpResponse> | HttpResponse;
}

/** The methods that the routes of a path take; none where there is no route. */
export const findMethods = (routes: readonly Route[], path: string): readonly Method[] => [
  ...new Set(routes.flatMap((route) => (route.path.test(path) ? (route.methods ?? READ) : []))),
];

/** The refusal of a method that no route of the path takes. */
function refuseMethod(methods: readonly Method[]): Error {
  const verbs = methods.filter((method) => method !== 'HEAD').join(' or ');
  return httpError(405, `Send requests to this address by ${verbs}.`, { headers: allowHeader(methods) });
}

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

/** Runs a route, unless the request has parameters that it does not know. */
async function runRoute(route: Route, asked: RouteRequest): Promise<HttpResponse> {
  const { answer, isPublic = false } = route;
  const { exchange } = asked;
  const unknown = refuseUnknownParameters(route, asked.url);
  if (unknown !== null) return unknown;
  return isPublic ? exchange.share(async (shared) => answer({ ...asked, exchange: shared })) : answer(asked);
}

/**
 * The answer of the first route that takes the request; 404 where no route has the path.
 *
 * @throws GraphQLError (405) where none has the method
 */
export async function answerRoute(routes: readonly Route[], exchange: Exchange): Promise<HttpResponse> {
  const url = new URL(exchange.origin + exchange.url);
  for (const route of routes) {
    const { path, methods = READ, takes } = route;
    const [found, ...parts] = path.exec(url.pathname) ?? [];
    if (found === undefined || !methods.some((method) => method === exchange.method)) continue;
    if (takes?.(exchange) !== false) return runRoute(route, { exchange, url, parts });
  }
  const methods = findMethods(routes, url.pathname);
  if (methods.length > 0) throw refuseMethod(methods);
  return textResponse(
    404,
    'There is nothing at this address. GraphQL is at /graphql, an overview at /llms.txt.',
  );
}
