// GET /graphql in a browser: GraphiQL. Everything else at that address is GraphQL's own.

import { pagePolicy } from '../csp.ts';
import { type GraphiqlPage, graphiqlPage } from '../pages/graphiql-page.ts';
import { textOf } from '../pages/html.ts';
import type { Route } from '../plugins/use-routes.ts';
import { keep, keptAnswer, PAGE_HEADERS, wantsPage } from './cached-page.ts';

/** The route. */
export function graphiqlRoute(page: GraphiqlPage): Route {
  const text = textOf(graphiqlPage(page));
  const kept = keep(Buffer.from(text));
  const headers = { ...PAGE_HEADERS, 'content-security-policy': pagePolicy(text) };
  return (request, url) =>
    url.pathname === '/graphql' &&
    (request.method === 'GET' || request.method === 'HEAD') &&
    wantsPage(request)
      ? keptAnswer(request, kept, headers)
      : null;
}
