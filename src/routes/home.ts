// GET /: a person who opens the bare address is led to GraphiQL, or told where to ask.
import type { Route } from '../plugins/use-routes.ts';
import { plain, readOnly } from './answers.ts';

/** The route. @param graphiql - whether there is a page to be led to */
export const homeRoute =
  (graphiql: boolean): Route =>
  async (request, url) => {
    if (url.pathname !== '/') return null;
    return readOnly(request, async () =>
      graphiql
        ? new Response(null, { status: 302, headers: { location: '/graphql', 'cache-control': 'no-store' } })
        : plain(200, 'FoldAtlas answers GraphQL at /graphql.'),
    );
  };
