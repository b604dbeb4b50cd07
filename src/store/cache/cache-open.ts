// Chooses the cache's second tier by its URL.
import { openRedisBytes } from './cache-redis.ts';
import { openSharedStore, type SharedStore } from './cache-shared.ts';
import { openSqliteBytes } from './cache-sqlite.ts';

/** The cache has a file of its own beside the ledger's: it may be deleted at any time. */
const cacheFile = (file: string): string => `${file.replace(/\.(db|sqlite3?)$/, '')}.cache.db`;

/**
 * Opens the second tier.
 *
 * @param storeUrl - `memory:` (no second tier), `sqlite:PATH`, `redis://…` or `rediss://…`
 * @param onError - called with every failure; the cache then bypasses the store
 */
export function openSharedCache(
  storeUrl: string,
  onError: (error: unknown) => void,
): SharedStore | undefined {
  if (storeUrl === 'memory:') return undefined;
  if (/^rediss?:/.test(storeUrl)) return openSharedStore(openRedisBytes(storeUrl, onError), onError);
  const file = /^sqlite:(.+)$/.exec(storeUrl)?.[1];
  if (file === undefined) throw new Error('STORE_URL must be memory:, sqlite:PATH, redis://… or rediss://….');
  try {
    return openSharedStore(openSqliteBytes(cacheFile(file)), onError);
  } catch (error) {
    // A file that cannot be read is no reason not to start: everything can be fetched anew.
    onError(error);
    return undefined;
  }
}
