// Thumbnails of structures, cached for all callers.
import { createEtag } from '../../etag.ts';
import * as atlas from '../atlas.ts';
import type { Upstream } from '../http/call.ts';
import { type CachedReads, cachedRead } from './cached-reads.ts';

/** Our word for a thumbnail type, as it stands in URLs, and the upstream's. */
export const THUMBNAIL_TYPES = { PLDDT: 'plddt', PCT_CHARACTERIZED: 'pct-characterized' } as const;

export interface Thumbnail {
  readonly png: Buffer<ArrayBuffer>;
  /** A strong entity tag, with its quotes; computed once and cached with the bytes. */
  readonly etag: string;
}

export interface Thumbnails {
  /** The image, or null when the protein or its structure does not exist. */
  get(up: Upstream, hash: string, type: string): Promise<Thumbnail | null>;
}

export const createThumbnails = (reads: CachedReads<Thumbnail>): Thumbnails => ({
  get: (up, hash, type) =>
    cachedRead(reads, up, `${type}:${hash}`, async (shared) => {
      const bytes = await atlas.thumbnail(shared, hash, type);
      if (bytes === null) return null;
      const png = Buffer.from(bytes);
      return { png, etag: createEtag(png) };
    }),
});
