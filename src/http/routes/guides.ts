// GET /docs/{name}.md: the guides as plain text.
import type { DocsFile } from '../pages/docs-files.ts';
import type { Route } from '../plugins/use-routes.ts';
import { cachedPageResponse, cachePage } from './cached-page.ts';
import { handleGetOrHead, textResponse } from './responses.ts';

/** The route. Only these guides are served; no other file can be asked for. */
export function guideRoute(guides: readonly DocsFile[]): Route {
  const kept = new Map(guides.map(({ name, text }) => [`/docs/${name}`, cachePage(Buffer.from(text))]));
  return (request, url) => {
    if (!url.pathname.startsWith('/docs/')) return null;
    const guide = kept.get(url.pathname);
    return handleGetOrHead(request, async () =>
      guide === undefined
        ? textResponse(404, `There are ${[...kept.keys()].join(', ')}.`)
        : cachedPageResponse(request, guide, {
            'content-type': 'text/plain; charset=utf-8',
            'cache-control': 'no-cache',
          }),
    );
  };
}
