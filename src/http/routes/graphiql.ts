// GET /graphql in a browser: GraphiQL. Everything else at that address is GraphQL's own.

import { pageCsp } from '../csp.ts';
import { type GraphiqlPage, graphiqlPage } from '../pages/graphiql-page.ts';
import { textOf } from '../pages/html.ts';
import type { Route } from '../plugins/use-routes.ts';
import { acceptsHtml, cachedPageResponse, cachePage, PAGE_HEADERS } from './cached-page.ts';

/** The route. */
export function graphiqlRoute(page: GraphiqlPage): Route {
  const text = textOf(graphiqlPage(page));
  const kept = cachePage(Buffer.from(text));
  const headers = { ...PAGE_HEADERS, 'content-security-policy': pageCsp(text) };
  return (request, url) =>
    url.pathname === '/graphql' &&
    (request.method === 'GET' || request.method === 'HEAD') &&
    acceptsHtml(request)
      ? cachedPageResponse(request, kept, headers)
      : null;
}
