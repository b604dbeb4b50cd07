// Strong entity tags: made from the bytes that they name, and found in what a client says that it
// has.
import { hash } from 'node:crypto';

/** The tag of a content, with its quotes. Make it once for what is kept. */
export const createEtag = (content: string | Uint8Array): string =>
  `"${hash('sha256', content, 'base64url').slice(0, 27)}"`;

/** Whether an If-None-Match header names a tag, or any. */
export const matchesIfNoneMatch = (ifNoneMatch: string | null | undefined, etag: string): boolean =>
  ifNoneMatch?.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag || tag.trim() === '*') ??
  false;
