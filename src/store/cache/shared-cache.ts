// The second tier of the cache: Keyv over Redis, where replicas share it. The cache bypasses a slow
// or broken store, and no request waits for a write.
import { createRequire } from 'node:module';
import { promisify } from 'node:util';
import { brotliCompress, brotliDecompress, constants } from 'node:zlib';
import type { Keyv, KeyvEntry } from 'keyv';
import { withTimeout } from '../../async/deadline.ts';
import { openRedis, type RedisConnection, readMemoryUsage } from '../redis-connection.ts';

/** One namespace of the second tier. Values that it cannot read in time are missing. */
export interface SharedCache {
  getMany(keys: readonly string[]): Promise<Map<string, unknown>>;
  /** Writes a value a moment later. @param ttl - milliseconds */
  set(key: string, value: unknown, ttl: number): void;
}

export interface SharedStore {
  namespace(name: string): SharedCache;
  /** Writes what is still to be written, then disconnects. */
  close(): Promise<void>;
}

/** Changes with the shape or the encoding of entries, so that older ones are never read. */
const PREFIX = 'foldatlas:cache:8';
const READ_TIMEOUT_MS = 100;
const WRITE_TIMEOUT_MS = 5_000;
/** How long the store is bypassed after a failure. */
const PAUSE_MS = 1_000;
/**
 * Entries of this time are written together: one by one they cost more than the answers they come
 * from.
 */
const COLLECT_MS = 100;
/** Entries in one write: a batch fails together. */
const BATCH_ENTRIES = 64;
/**
 * On a server without eviction, the last quarter of memory is left to data that must be written.
 */
const MAX_MEMORY_SHARE = 0.75;

const compress = promisify(brotliCompress);
const decompress = promisify(brotliDecompress);
/** Quality 4 takes three times as long for a tenth less. */
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } };
const COMPRESS_FROM_CHARACTERS = 16 * 1024;
/** Begins compressed entries. No JSON text begins so. */
const COMPRESSED = 'br:';

/** Structures shrink to a quarter; images do not, and stay as they are. */
async function pack(json: string): Promise<string> {
  if (json.length < COMPRESS_FROM_CHARACTERS) return json;
  const packed = COMPRESSED + (await compress(json, BROTLI)).toString('base64');
  return packed.length < json.length * 0.9 ? packed : json;
}

const unpack = async (text: string): Promise<string> =>
  text.startsWith(COMPRESSED)
    ? String(await decompress(Buffer.from(text.slice(COMPRESSED.length), 'base64')))
    : text;

function limitTime<T>(work: Promise<T>, milliseconds: number): Promise<T> {
  return withTimeout(work, milliseconds, () => {
    throw new Error(`The store did not answer within ${milliseconds} ms.`);
  });
}

/** Keyv's JSON, which holds Buffers as base64, compressed where it is long. */
function openKeyv(redis: RedisConnection): Keyv {
  const load = createRequire(import.meta.url);
  // Loaded here: a gateway without Redis needs neither.
  const { default: KeyvRedis } = load('@keyv/redis') as typeof import('@keyv/redis');
  const { Keyv } = load('keyv') as typeof import('keyv');

  /** Limits the time of Redis alone: on a busy machine, decoding a large entry takes longer. */
  class TimedRedis extends KeyvRedis<string> {
    override getMany<U>(keys: string[]) {
      return limitTime(
        redis.connected().then(() => super.getMany<U>(keys)),
        READ_TIMEOUT_MS,
      );
    }
    override setMany(entries: KeyvEntry[]) {
      return limitTime(super.setMany(entries), WRITE_TIMEOUT_MS);
    }
  }
  const store = new TimedRedis(redis.client, { throwOnErrors: true });
  const keyv = new Keyv({ store, useKeyPrefix: false, throwOnErrors: true });
  // Keys have a prefix of ours.
  keyv.namespace = undefined;
  const { serialize, deserialize } = keyv;
  if (serialize === undefined || deserialize === undefined) throw new Error('Keyv has no serializer.');
  keyv.serialize = async (entry) => pack(await serialize(entry));
  keyv.deserialize = async (text) => deserialize(await unpack(text));
  // Errors are thrown as well.
  keyv.on('error', () => undefined);
  return keyv;
}

function openRedisCache(url: string, report: (error: unknown) => void): SharedStore {
  let isClosed = false;
  // Work for a client that has disconnected may read or write after the end.
  const onError = (error: unknown): void => {
    if (!isClosed) report(error);
  };
  const redis = openRedis(url, onError);
  const keyv = openKeyv(redis);
  const attempt = createStoreGuard(onError, redis.reconnect);
  let collected: { key: string; value: unknown; ttl: number }[] = [];
  let writing = Promise.resolve();

  async function hasRoom(): Promise<boolean> {
    // A server may forbid the question; it then refuses what is too much by itself.
    const usage = await readMemoryUsage(redis).catch(() => null);
    if (usage === null || usage.limitBytes === null || usage.evicts) return true;
    return usage.usedBytes < usage.limitBytes * MAX_MEMORY_SHARE;
  }
  async function writeAll(entries: typeof collected): Promise<void> {
    if (!(await hasRoom())) return;
    for (let i = 0; i < entries.length; i += BATCH_ENTRIES)
      await attempt(() => keyv.setMany(entries.slice(i, i + BATCH_ENTRIES)));
  }
  function flush(): void {
    const entries = collected;
    collected = [];
    if (entries.length > 0) writing = writing.then(() => writeAll(entries));
  }

  return {
    namespace(name) {
      const prefix = `${PREFIX}:${name}:`;
      return {
        async getMany(keys) {
          if (isClosed) return new Map();
          const stored = keys.map((key) => prefix + key);
          const values = await attempt(() => keyv.getMany<unknown>(stored));
          return new Map(keys.flatMap((key, i) => (values?.[i] == null ? [] : [[key, values[i]] as const])));
        },
        set(key, value, ttl) {
          if (isClosed) return;
          const entry = { key: prefix + key, value, ttl: Math.ceil(ttl) };
          if (collected.push(entry) === 1) setTimeout(flush, COLLECT_MS).unref();
        },
      };
    },
    async close() {
      flush();
      await writing;
      isClosed = true;
      await redis.close();
    },
  };
}

/** Runs a use of the store. Undefined when it failed, or the store is bypassed. */
export type StoreGuard = <T>(use: () => Promise<T>) => Promise<T | undefined>;

/**
 * Bypasses a store for a moment after each failure.
 *
 * @param onError - called with every failure
 * @param onFailure - called then as well, to mend the connection
 */
export function createStoreGuard(onError: (error: unknown) => void, onFailure: () => void): StoreGuard {
  let bypassedUntil = 0;
  return async (use) => {
    if (performance.now() < bypassedUntil) return undefined;
    try {
      return await use();
    } catch (error) {
      bypassedUntil = performance.now() + PAUSE_MS;
      onError(error);
      onFailure();
      return undefined;
    }
  };
}

/**
 * Opens the second tier; undefined without a Redis.
 *
 * @param storeUrl - `memory:`, `sqlite:PATH`, `redis://…` or `rediss://…`
 * @param onError - called with every failure; the cache then bypasses the store
 */
export const openSharedCache = (
  storeUrl: string,
  onError: (error: unknown) => void,
): SharedStore | undefined => (/^rediss?:/.test(storeUrl) ? openRedisCache(storeUrl, onError) : undefined);
