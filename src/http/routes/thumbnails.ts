// GET /thumbnails/{hash}/{type}.png: the image of a structure, which is immutable for browsers and
// CDNs.

import { matchesIfNoneMatch } from '../../etag.ts';
import type { Upstream } from '../../upstream/http/upstream-client.ts';
import { THUMBNAIL_TYPES, type Thumbnails } from '../../upstream/reads/thumbnails.ts';
import type { Route } from '../plugins/use-routes.ts';
import { handleGetOrHead, textResponse } from './responses.ts';

const PATTERN = /^\/thumbnails\/([^/]+)\/([^/]+)\.png$/;
const TYPES: readonly string[] = Object.values(THUMBNAIL_TYPES);

/**
 * The route.
 *
 * @param open - the upstream as this request sees it
 */
export const thumbnailRoute =
  (thumbnails: Thumbnails, open: (request: Request) => Promise<Upstream>): Route =>
  async (request, url) => {
    const [, hash, type] = PATTERN.exec(url.pathname) ?? [];
    if (hash === undefined || type === undefined) return null;
    return handleGetOrHead(request, async () => {
      if (!/^[0-9a-f]{32}$/.test(hash))
        return textResponse(400, 'The hash must be 32 lower-case hexadecimal characters.');
      if (!TYPES.includes(type))
        return textResponse(404, `There are thumbnails ${TYPES.map((t) => `${t}.png`).join(' and ')}.`);
      const thumbnail = await thumbnails.get(await open(request), hash, type);
      if (thumbnail === null)
        return textResponse(404, 'There is no such protein, or it has no structure to draw.');
      const headers = {
        'cache-control': 'public, max-age=31536000, immutable',
        etag: thumbnail.etag,
        'content-type': 'image/png',
        'x-content-type-options': 'nosniff',
        'cross-origin-resource-policy': 'cross-origin',
      };
      if (matchesIfNoneMatch(request.headers.get('if-none-match'), thumbnail.etag))
        return new Response(null, { status: 304, headers });
      return new Response(thumbnail.png, {
        headers: { ...headers, 'content-length': String(thumbnail.png.byteLength) },
      });
    });
  };
