// The second tier of the cache: Keyv namespaces over SQLite or Redis. The cache bypasses a slow or
// broken store.
import Keyv from 'keyv';
import { takeTokens } from '../rate-limit/token-bucket.ts';
import type { SharedCache } from './cache.ts';
import { decodeEntry, type EncodedEntry, encodeEntry } from './cache-codec.ts';
import { createStoreGuard, type StoreGuard } from './circuit-guard.ts';

/** A byte store with a time to live in milliseconds for each entry. */
export interface ByteStore {
  /** As many values as keys, in their order. */
  getMany(keys: readonly string[]): Promise<(Buffer | undefined)[]>;
  set(key: string, bytes: Buffer, ttl: number): Promise<void>;
  delete(key: string): Promise<boolean>;
  close(): Promise<void>;
}

/** Changes with the shape or the encoding of entries, so that older ones are never read. */
const SHAPE = 'foldatlas-2';
const READ_TIMEOUT_MS = 100;
/** Nothing waits for a write, and a large one takes its time. */
const WRITE_TIMEOUT_MS = 5_000;
const MAX_FAILURES = 5;
const PAUSE_MS = 5_000;
/**
 * Writes of a namespace. Writing a record costs more than answering from it: of a flood of new keys
 * most are not written; a key that is requested again gets another chance.
 */
const WRITES_PER_MINUTE = 2_400;
const MAX_TTL_MS = 366 * 24 * 3_600_000;

/**
 * Adapts a byte store to Keyv, encoding Keyv's `{ value, expires }`.
 *
 * @param reading - limits the time of the store alone: decoding a large entry takes longer on a
 *   busy machine
 */
function toKeyvStore(store: ByteStore, reading: StoreGuard) {
  const getMany = async (keys: string[]): Promise<(EncodedEntry | undefined)[]> => {
    const found = (await reading(() => store.getMany(keys))) ?? [];
    return Promise.all(found.map((bytes) => (bytes === undefined ? undefined : decodeEntry(bytes))));
  };
  return {
    getMany,
    get: async (key: string) => (await getMany([key]))[0],
    async set(key: string, entry: EncodedEntry, ttl = MAX_TTL_MS) {
      await store.set(key, await encodeEntry(entry), ttl);
    },
    delete: (key: string) => store.delete(key),
    async clear() {
      throw new Error('A store that is shared with others is never cleared.');
    },
  };
}

export interface SharedStore {
  namespace(name: string): SharedCache;
  close(): Promise<void>;
}

/**
 * Opens the tier.
 *
 * @param onError - called with every failure; the cache then bypasses the store
 */
export function openSharedStore(store: ByteStore, onError: (error: unknown) => void): SharedStore {
  const rules = { failures: MAX_FAILURES, pause: PAUSE_MS, onError };
  const reading = createStoreGuard({ ...rules, timeout: READ_TIMEOUT_MS });
  const writing = createStoreGuard({ ...rules, timeout: WRITE_TIMEOUT_MS });
  const writes = new Set<Promise<unknown>>();
  return {
    namespace(name) {
      const keyv = new Keyv<unknown>({
        store: toKeyvStore(store, reading),
        namespace: `${SHAPE}:${name}`,
        throwOnErrors: true,
        emitErrors: false,
      });
      keyv.serialize = undefined;
      keyv.deserialize = undefined;
      let writesFullAt = 0;
      return {
        async getMany(keys) {
          const found = await keyv.getManyRaw([...keys]);
          return new Map(
            keys.flatMap((key, i) => {
              const { value, expires } = found[i] ?? {};
              return value === undefined ? [] : [[key, { value, expires }] as const];
            }),
          );
        },
        async set(key, value, ttl) {
          const write = { key: name, tokens: 1, perMinute: WRITES_PER_MINUTE };
          const { granted, fullAt } = takeTokens(writesFullAt, performance.now(), write);
          writesFullAt = fullAt;
          if (granted === 0) return;
          const written = writing(() => keyv.set(key, value, ttl));
          writes.add(written);
          await written;
          writes.delete(written);
        },
      };
    },
    async close() {
      await Promise.all(writes);
      await store.close();
    },
  };
}
