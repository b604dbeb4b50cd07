// Answers the gateway's file routes before GraphQL sees the request.
import type { Plugin } from 'graphql-yoga';
import { nodeResponseOf } from '../auth/node-request.ts';
import { streamOf } from '../graphql/stream-body.ts';

/**
 * A route: its response, or null for other paths. The last argument is the server adapter's
 * context.
 */
export type Route = (
  request: Request,
  url: URL,
  serverContext?: unknown,
) => Promise<Response | null> | Response | null;

/** Asks each route in turn; the first that answers wins. A POST to GraphQL is for none of them. */
export const useRoutes = (routes: readonly Route[]): Plugin => ({
  onRequest({ request, url, serverContext, endResponse }) {
    if (request.method === 'POST' && url.pathname === '/graphql') return undefined;
    const ask = async (): Promise<void> => {
      const asked = new URL(request.url);
      for (const route of routes) {
        const response = await route(request, asked, serverContext);
        if (response !== null) return endResponse(cancelOnDisconnect(response, serverContext));
      }
    };
    return ask();
  },
});

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
