// Answers the gateway's file routes before GraphQL sees the request.
import { nodeResponseOf } from '../auth/node-request.ts';
import { streamOf } from '../graphql/stream-body.ts';
import { handleGetOrHead, type RouteAnswer } from '../routes/responses.ts';

/** A request for a route. */
export interface RouteRequest {
  readonly request: Request;
  readonly url: URL;
  /** What the groups of the route's path found. */
  readonly parts: readonly string[];
  /** The server adapter's. */
  readonly serverContext: unknown;
}

/** What answers some paths. */
export interface Route {
  readonly path: RegExp;
  /** Which requests for the path it takes; all when absent. */
  readonly takes?: (request: Request) => boolean;
  /** Whether it answers other methods than GET and HEAD too, which are refused otherwise. */
  readonly isForAllMethods?: boolean;
  readonly answer: (asked: RouteRequest) => Promise<RouteAnswer> | RouteAnswer;
}

/** The answer of the first route that takes the request. A POST to GraphQL is for none of them. */
export async function answerRoute(
  routes: readonly Route[],
  request: Request,
  serverContext: unknown,
): Promise<Response | undefined> {
  const url = new URL(request.url);
  for (const { path, takes, isForAllMethods, answer } of routes) {
    const [found, ...parts] = path.exec(url.pathname) ?? [];
    if (found === undefined || takes?.(request) === false) continue;
    const asked = { request, url, parts, serverContext };
    const answered =
      isForAllMethods === true
        ? await answer(asked)
        : await handleGetOrHead(request, async () => answer(asked));
    if (answered instanceof Response) return answered;
    const connection = nodeResponseOf(serverContext);
    const { body, status, headers } = answered;
    return new Response(streamOf(body, { write: (bytes) => bytes, connection }), { status, headers });
  }
  return undefined;
}
