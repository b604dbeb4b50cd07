// The cache's second tier in Redis or Valkey, shared by several gateways.
import { openRedis, readUsage } from '../redis-connection.ts';
import type { ByteStore } from './shared-cache.ts';

/** The cache writes while less than this share of the server's memory is used. */
const CACHE_SHARE = 0.75;
const LOOK_MS = 1_000;

/**
 * Connects in the background, and again when the connection is lost: meanwhile every use fails.
 *
 * @param url - `redis://` or `rediss://`, with user, password and database where needed
 * @param onError - called with every lost connection
 */
export function openRedisBytes(url: string, onError: (error: unknown) => void): ByteStore {
  const redis = openRedis(url, onError, { asBytes: true });
  let looking: Promise<boolean> = Promise.resolve(true);
  let lookedAt = Number.NEGATIVE_INFINITY;
  /**
   * On a server without eviction, the last quarter of memory is left to data that must be written.
   */
  const look = async (): Promise<boolean> => {
    const { usedBytes, limitBytes, evicts } = readUsage(String(await redis.send('INFO', 'memory')));
    return limitBytes === null || evicts || usedBytes < limitBytes * CACHE_SHARE;
  };
  const hasRoom = (): Promise<boolean> => {
    if (performance.now() - lookedAt > LOOK_MS) {
      lookedAt = performance.now();
      // A server may forbid the question; it then refuses what is too much by itself.
      looking = look().catch(() => true);
    }
    return looking;
  };
  return {
    async getMany(keys) {
      const found = await redis.send('MGET', ...keys);
      return Array.isArray(found)
        ? found.map((bytes: unknown) => (Buffer.isBuffer(bytes) ? bytes : undefined))
        : [];
    },
    async setMany(entries) {
      if (!(await hasRoom())) return;
      // In one round trip: the client sends together what is asked in one turn.
      await Promise.all(
        entries.map(({ key, bytes, ttl }) => redis.send('SET', key, bytes, 'PX', String(Math.ceil(ttl)))),
      );
    },
    delete: async (key) => (await redis.send('DEL', key)) === 1,
    close: redis.close,
  };
}
