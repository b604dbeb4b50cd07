// The routes /assets/{name}.{version}.{ending} under immutable URLs, /docs/{name}.md, a page for
// browsers and the Markdown itself for others, /examples/{name}, and the answer for addresses at
// which there is nothing.
import { prefersHtml } from '../graphql/media-type.ts';
import type { Assets } from '../pages/assets.ts';
import { readDocsPictures } from '../pages/docs-files.ts';
import { type BrowserExample, type Example, readGraphqlWs } from '../pages/examples.ts';
import { type GuidePages, guidePage, missingPage } from '../pages/guide-page.ts';
import { pageCsp, textOf } from '../pages/html.ts';
import type { ServeFile, StaticFile } from './file-cache.ts';
import { PAGE_HEADERS, type Route, TEXT_HEADERS, textResponse } from './responses.ts';

/** For the version of another release it sends the present file, which caches must not store. */
export const assetRoute = (assets: Assets, serve: ServeFile): Route => ({
  path: /^\/assets\/([^/]+)$/,
  answer({ request, parts: [file = ''] }) {
    const found = assets.find(file);
    if (found === null) return textResponse(404, 'There is no such file.');
    const { name, type, load, isCurrent } = found;
    const make = async (): Promise<StaticFile> => ({
      content: await load(),
      headers: { 'content-type': type, 'cross-origin-resource-policy': 'same-origin' },
    });
    return serve(request, name, make, {
      'cache-control': isCurrent ? 'public, max-age=31536000, immutable' : 'no-store',
    });
  },
});

const isPageWanted = (request: Request): boolean => prefersHtml(request.headers.get('accept'), 'text/plain');

/** A 404: a page with links for browsers, a line of text for others. */
function missing(pages: GuidePages, request: Request, { pathname }: URL, what: string): Response {
  if (!isPageWanted(request)) return textResponse(404, what, { vary: 'accept' });
  const root = '../'.repeat(pathname.split('/').length - 2);
  return new Response(textOf(missingPage(pages, root, what)), {
    status: 404,
    headers: { ...PAGE_HEADERS, 'cache-control': 'no-store', vary: 'accept' },
  });
}

/** The guides as pages for browsers, as Markdown for others; the pictures in them. */
export function guideRoute(pages: GuidePages, serve: ServeFile): Route {
  const guides = new Map(pages.guides.map((guide) => [`/docs/${guide.name}`, guide]));
  const pictures = new Map([...readDocsPictures()].map(([name, bytes]) => [`/docs/${name}`, bytes]));
  const what = `There is no such guide. There are ${[...guides.keys()].join(', ')}.`;
  return {
    path: /^\/docs\//,
    answer({ request, url }) {
      const path = url.pathname;
      const [guide, picture] = [guides.get(path), pictures.get(path)];
      if (picture !== undefined) {
        const type = path.endsWith('.svg') ? 'image/svg+xml' : 'image/webp';
        const headers = { 'content-type': type, 'cache-control': 'no-cache' };
        return serve(request, path, () => ({ content: picture, headers }));
      }
      if (guide === undefined) return missing(pages, request, url, what);
      if (!isPageWanted(request))
        return serve(request, path, () => ({ content: guide.text, headers: TEXT_HEADERS }));
      const make = () => ({ content: textOf(guidePage(pages, guide)), headers: PAGE_HEADERS });
      return serve(request, `${path} ${pages.site.isSandbox()}`, make);
    },
  };
}

const SCRIPT_HEADERS = {
  'content-type': 'text/javascript; charset=utf-8',
  'cache-control': 'no-cache',
  'cross-origin-resource-policy': 'same-origin',
};

/**
 * The pages of examples/browser, the operations examples/*.graphql, and under /examples/graphql-ws/
 * the library that one of the pages imports. No other file can be asked for.
 */
export function exampleRoute(
  examples: readonly BrowserExample[],
  operations: readonly Example[],
  pages: GuidePages,
  serve: ServeFile,
): Route {
  const files = new Map<string, StaticFile>();
  for (const { name, text } of examples)
    files.set(`/examples/${name}`, {
      content: text,
      headers: { ...PAGE_HEADERS, 'content-security-policy': pageCsp(text) },
    });
  for (const { name, query } of operations)
    files.set(`/examples/${name}.graphql`, { content: query, headers: TEXT_HEADERS });
  for (const [name, content] of examples.length > 0 ? readGraphqlWs() : [])
    files.set(`/examples/graphql-ws/${name}`, { content, headers: SCRIPT_HEADERS });
  const what = `There is no such example. There are ${[...files.keys()].join(', ')}.`;
  return {
    path: /^\/examples\//,
    answer({ request, url }) {
      const file = files.get(url.pathname);
      if (file !== undefined) return serve(request, url.pathname, () => file);
      // The front page lists them.
      if (url.pathname === '/examples/' && operations.length > 0)
        return textResponse(302, [...files.keys()].join('\n'), { location: '../#examples' });
      return missing(pages, request, url, what);
    },
  };
}

const NOTHING =
  'There is nothing at this address. GraphQL is at /graphql, the list of all addresses at /, ' +
  'the guides at /docs/README.md.';

/** The last route: what no other has. */
export const missingRoute = (pages: GuidePages): Route => ({
  path: /^(?!\/graphql$)/,
  isForAllMethods: true,
  answer: ({ request, url }) => missing(pages, request, url, NOTHING),
});
