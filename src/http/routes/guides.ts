// The routes /docs/{name}.md, a page for browsers and the Markdown itself for others, and the
// answer for addresses at which there is nothing.
import { prefersHtml } from '../graphql/media-type.ts';
import { readDocsPictures } from '../pages/docs-files.ts';
import { type GuidePages, guidePage, missingPage } from '../pages/guide-page.ts';
import { textOf } from '../pages/html.ts';
import type { Route } from '../plugins/use-routes.ts';
import { cachedPageResponse, cachePage, once, oncePer, PAGE_HEADERS, textResponse } from './responses.ts';

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

const NO_CACHE = { 'cache-control': 'no-cache' };
const TEXT_HEADERS = { ...NO_CACHE, 'content-type': 'text/plain; charset=utf-8' };
const pictureHeaders = (path: string) => ({
  ...NO_CACHE,
  'content-type': path.endsWith('.svg') ? 'image/svg+xml' : 'image/webp',
});

/** The route of the guides. Only these files are served; no other file can be asked for. */
export function guideRoute(pages: GuidePages): Route {
  const files = new Map(
    pages.guides.map((guide) => [
      `/docs/${guide.name}`,
      {
        text: once(() => cachePage(Buffer.from(guide.text))),
        page: oncePer(pages.site.isSandbox, () => cachePage(Buffer.from(textOf(guidePage(pages, guide))))),
      },
    ]),
  );
  const pictures = new Map(
    [...readDocsPictures()].map(([name, bytes]) => [`/docs/${name}`, cachePage(bytes)]),
  );
  const what = `There is no such guide. There are ${[...files.keys()].join(', ')}.`;
  return {
    path: /^\/docs\//,
    answer({ request, url }) {
      const [file, picture] = [files.get(url.pathname), pictures.get(url.pathname)];
      if (picture !== undefined) return cachedPageResponse(request, picture, pictureHeaders(url.pathname));
      if (file === undefined) return missing(pages, request, url, what);
      return isPageWanted(request)
        ? cachedPageResponse(request, file.page(), PAGE_HEADERS)
        : cachedPageResponse(request, file.text(), TEXT_HEADERS);
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
