// Chooses the store of token buckets by its URL.
import { openMemoryRates, type TokenBucketStore } from './token-bucket.ts';
import { openRedisRates } from './token-bucket-redis.ts';
import { openSqliteRates } from './token-bucket-sqlite.ts';

/** A file of their own: counting must not wait for what must not be lost. */
const rateFile = (file: string): string => `${file.replace(/\.(db|sqlite3?)$/, '')}.rate.db`;

/**
 * Opens the buckets.
 *
 * @param storeUrl - `memory:`, `sqlite:PATH`, `redis://…` or `rediss://…`
 */
export function openRates(storeUrl: string, onError: (error: unknown) => void): TokenBucketStore {
  if (/^rediss?:/.test(storeUrl)) return openRedisRates(storeUrl, onError);
  const file = /^sqlite:(.+)$/.exec(storeUrl)?.[1];
  if (file === undefined) return openMemoryRates();
  try {
    return openSqliteRates(rateFile(file));
  } catch (error) {
    // Counts in a file that cannot be written are no reason not to start.
    onError(error);
    return openMemoryRates();
  }
}
