// GET /reference and GET /schema.graphql: the schema for readers and code generators; closed with
// introspection.
import { type GraphQLSchema, lexicographicSortSchema, printSchema } from 'graphql';
import { textOf } from '../pages/html.ts';
import { type ReferenceOptions, referencePage } from '../pages/reference/page.ts';
import type { Route } from '../plugins/use-routes.ts';
import { type CachedPage, cachedPageResponse, cachePage, PAGE_HEADERS } from './cached-page.ts';
import { handleGetOrHead, textResponse } from './responses.ts';

const once = (make: () => string): (() => CachedPage) => {
  let kept: CachedPage | undefined;
  return () => {
    kept ??= cachePage(Buffer.from(make()));
    return kept;
  };
};

/** Rendered on first use, then cached: the schema of a process does not change. */
export function referenceRoute(options: ReferenceOptions): Route {
  const page = once(() => textOf(referencePage(options)));
  const sdl = once(() => printed(options.schema));
  const answers: Readonly<Record<string, (request: Request) => Promise<Response>>> = {
    '/reference': (request) => cachedPageResponse(request, page(), PAGE_HEADERS),
    '/schema.graphql': (request) =>
      cachedPageResponse(request, sdl(), {
        'content-type': 'text/plain; charset=utf-8',
        'cache-control': 'no-cache',
      }),
  };
  return async (request, url) => {
    const answer = answers[url.pathname];
    if (answer === undefined) return null;
    return handleGetOrHead(request, async () =>
      options.places.reference
        ? answer(request)
        : textResponse(404, 'The schema is not shown here, because introspection is closed (INTROSPECTION).'),
    );
  };
}

const printed = (schema: GraphQLSchema): string => `${printSchema(lexicographicSortSchema(schema))}\n`;
