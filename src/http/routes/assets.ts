// GET /assets/{name}.{version}.{ending}: files of the pages. Browsers cache them as immutable,
// because the URL has a hash.
import type { Asset, Assets } from '../pages/assets.ts';
import type { Route } from '../plugins/use-routes.ts';
import { type CachedPage, cachedPageResponse, cachePage } from './cached-page.ts';
import { handleGetOrHead, textResponse } from './responses.ts';

/**
 * The route. For the version of another release it sends the present file, which caches must not
 * store.
 */
export function assetRoute(assets: Assets): Route {
  const kept = new Map<Asset, Promise<CachedPage>>();
  const keptOf = (asset: Asset): Promise<CachedPage> => {
    const known = kept.get(asset);
    if (known !== undefined) return known;
    const reading = asset.load().then(cachePage);
    kept.set(asset, reading);
    return reading;
  };
  return async (request, url) => {
    const [, file] = /^\/assets\/([^/]+)$/.exec(url.pathname) ?? [];
    if (file === undefined) return null;
    return handleGetOrHead(request, async () => {
      const found = assets.find(file);
      if (found === null) return textResponse(404, 'There is no such file.');
      return cachedPageResponse(request, await keptOf(found.asset), {
        'content-type': found.asset.type,
        'cache-control': found.current ? 'public, max-age=31536000, immutable' : 'no-store',
        'cross-origin-resource-policy': 'same-origin',
      });
    });
  };
}
