// The cache's second tier in Redis or Valkey, shared by several gateways.
import { createRequire } from 'node:module';
import type { KeyvStoreAdapter } from 'keyv';
import { readUsage } from '../redis-connection.ts';
import type { ByteStore } from './shared-cache.ts';

/** RESP's type of a string of bytes, which is given as a Buffer rather than decoded as text. */
const BLOB_STRING = 36;
/** The client, loaded only where it is used. */
const keyvRedis = () => createRequire(import.meta.url)('@keyv/redis') as typeof import('@keyv/redis');
/** The cache writes while less than this share of the server's memory is used. */
const CACHE_SHARE = 0.75;
const LOOK_MS = 1_000;
/** Commands that may wait for an answer; more are refused at once. */
const MAX_QUEUED_COMMANDS = 2000;

/**
 * Connects in the background, and again when the connection is lost: meanwhile every use fails at
 * once.
 *
 * @param url - `redis://` or `rediss://`, with user, password and database where needed
 * @param onError - called with every lost connection
 */
export function openRedisBytes(url: string, onError: (error: unknown) => void): ByteStore {
  const { default: KeyvRedis } = keyvRedis();
  const redis = new KeyvRedis<Buffer>(
    {
      url,
      disableOfflineQueue: true,
      commandsQueueMaxLength: MAX_QUEUED_COMMANDS,
      commandOptions: { typeMapping: { [BLOB_STRING]: Buffer } },
      socket: {
        connectTimeout: 2_000,
        reconnectStrategy: (tries: number) => Math.min(50 * 2 ** tries, 5_000) * (0.5 + Math.random()),
      },
    },
    { throwOnErrors: true, throwOnConnectError: true },
  );
  // A command that fails throws, too.
  redis.on('error', () => undefined);
  redis.client.on('error', onError);
  // Commands sent before the first connection wait for it, up to their caller's time limit.
  const connected = redis.client.connect().catch(onError);
  const store: KeyvStoreAdapter = redis;
  let looking: Promise<boolean> = Promise.resolve(true);
  let lookedAt = Number.NEGATIVE_INFINITY;
  /**
   * On a server without eviction, the last quarter of memory is left to data that must be written.
   */
  const look = async (): Promise<boolean> => {
    const { client } = redis;
    if (!('info' in client)) return true;
    const { usedBytes, limitBytes, evicts } = readUsage(String(await client.info('memory')));
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
      await connected;
      const found: unknown[] = (await store.getMany?.([...keys])) ?? [];
      return found.map((bytes) => (Buffer.isBuffer(bytes) ? bytes : undefined));
    },
    async setMany(entries) {
      await connected;
      if (!(await hasRoom())) return;
      // In one round trip: the client sends together what is asked in one turn.
      await Promise.all(entries.map(({ key, bytes, ttl }) => store.set(key, bytes, Math.ceil(ttl))));
    },
    async delete(key) {
      await connected;
      return store.delete(key);
    },
    async close() {
      redis.client.destroy();
    },
  };
}
