// The route /examples/{name}: the pages of examples/browser, the operations examples/*.graphql, and
// under /examples/graphql-ws/ the library that one of the pages imports.
import { pageCsp } from '../csp.ts';
import { type BrowserExample, type Example, readGraphqlWs } from '../pages/examples.ts';
import type { Route } from '../plugins/use-routes.ts';
import { type CachedPage, cachedPageResponse, cachePage, PAGE_HEADERS, textResponse } from './responses.ts';

interface ServedFile {
  readonly page: CachedPage;
  readonly headers: Record<string, string>;
}

const TEXT_HEADERS = { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-cache' };
const SCRIPT_HEADERS = {
  'content-type': 'text/javascript; charset=utf-8',
  'cache-control': 'no-cache',
  'cross-origin-resource-policy': 'same-origin',
};

/** The route. Only these files are served; no other file can be asked for. */
export function exampleRoute(examples: readonly BrowserExample[], operations: readonly Example[]): Route {
  const files = new Map<string, ServedFile>();
  for (const { name, text } of examples)
    files.set(`/examples/${name}`, {
      page: cachePage(Buffer.from(text)),
      headers: { ...PAGE_HEADERS, 'content-security-policy': pageCsp(text) },
    });
  for (const { name, query } of operations)
    files.set(`/examples/${name}.graphql`, { page: cachePage(Buffer.from(query)), headers: TEXT_HEADERS });
  for (const [name, bytes] of examples.length > 0 ? readGraphqlWs() : [])
    files.set(`/examples/graphql-ws/${name}`, { page: cachePage(bytes), headers: SCRIPT_HEADERS });
  const missing = `There is no such example. There are ${[...files.keys()].join(', ')}.`;
  return {
    path: /^\/examples\//,
    answer({ request, url }) {
      const file = files.get(url.pathname);
      return file === undefined
        ? textResponse(404, missing)
        : cachedPageResponse(request, file.page, file.headers);
    },
  };
}
