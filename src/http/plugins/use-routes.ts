// Lets routes answer requests before GraphQL does.
import type { Plugin } from 'graphql-yoga';
import { setExchange } from '../exchange.ts';
import type { ServerContext } from '../handler.ts';
import { answerRoute, type Route } from '../routes/route.ts';

export const useRoutes = (routes: readonly Route[]): Plugin<object, ServerContext> => ({
  onRequest({ request: given, serverContext: { exchange }, fetchAPI, setRequest, endResponse }) {
    if (exchange === undefined) throw new Error('This request has passed no limits.');
    const isGraphql = exchange.path === '/graphql';
    let request = given;
    // Yoga knows GET and POST only.
    if (isGraphql && given.method === 'HEAD') {
      const { headers, signal } = given;
      request = new fetchAPI.Request(given.url, { method: 'GET', headers, signal });
      setRequest(request);
    }
    setExchange(request, exchange);
    if (isGraphql && given.method === 'POST') return undefined;
    return answerRoute(routes, request).then((response) => response && endResponse(response));
  },
});
