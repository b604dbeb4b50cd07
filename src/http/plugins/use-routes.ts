// Answers the gateway's file routes before GraphQL sees the request.
import type { Plugin } from 'graphql-yoga';
import { cancelOnDisconnect } from './cancel-on-disconnect.ts';

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
