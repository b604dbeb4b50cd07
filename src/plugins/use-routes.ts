// Answers the gateway's file routes before GraphQL sees the request. It knows no route by itself.
import type { Plugin } from 'graphql-yoga';
import { tiedResponse } from './tied-response.ts';

/** A route: answers what is its own, and null what is not. The last argument is what the server adapter was called with. */
export type Route = (
  request: Request,
  url: URL,
  serverContext?: unknown,
) => Promise<Response | null> | Response | null;

/** Asks each route in turn; the first that answers wins. */
export const useRoutes = (routes: readonly Route[]): Plugin => ({
  async onRequest({ request, serverContext, endResponse }) {
    const url = new URL(request.url);
    for (const route of routes) {
      const response = await route(request, url, serverContext);
      if (response !== null) return endResponse(tiedResponse(response, serverContext));
    }
  },
});
