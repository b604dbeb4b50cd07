// Answers the gateway's file routes before GraphQL sees the request.
import { nodeResponseOf } from '../auth/node-request.ts';
import { streamOf } from '../graphql/stream-body.ts';
import { handleGetOrHead } from '../routes/responses.ts';

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
  readonly answer: (asked: RouteRequest) => Promise<Response> | Response;
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
    const response =
      isForAllMethods === true
        ? await answer(asked)
        : await handleGetOrHead(request, async () => answer(asked));
    return cancelOnDisconnect(response, serverContext);
  }
  return undefined;
}

/**
 * Ties the body of a response to its connection, which the server adapter does not: the source is
 * left when the client disconnects, and no client takes a partial file for a whole one.
 *
 * @param serverContext - the server adapter's; without a connection the response is returned as it
 *   is
 */
function cancelOnDisconnect(response: Response, serverContext: unknown): Response {
  const connection = nodeResponseOf(serverContext);
  if (connection === undefined || response.body === null) return response;
  const reader = response.body.getReader();
  const source: AsyncIterator<Uint8Array, undefined> = {
    next: async () => {
      const { done, value } = await reader.read();
      return done ? { done, value: undefined } : { done, value };
    },
    return: async () => {
      await reader.cancel();
      return { done: true, value: undefined };
    },
  };
  const body = streamOf({ [Symbol.asyncIterator]: () => source }, { write: (bytes) => bytes, connection });
  const { status, statusText, headers } = response;
  return new Response(body, { status, statusText, headers });
}
