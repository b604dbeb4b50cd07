// What is kept between requests of what the Atlas said: keyv in front of a bounded map, with in-flight sharing so that
// a crowd that asks for the same thing causes one call. Public data only; errors are never kept; a broken cache is
// bypassed, never a failure. It must not know what it holds.
import Keyv from 'keyv';
import { LRUCache } from 'lru-cache';

/** A namespace of the cache. Values must not be changed after they were put in or taken out. */
export interface Cache<T> {
  /** The value kept under a key; undefined when there is none. */
  get(key: string): Promise<T | undefined>;
  /** Those of the values that are kept, by key. */
  getMany(keys: readonly string[]): Promise<Map<string, T>>;
  /** Keeps a value. @param ttl - milliseconds, when other than the namespace's */
  set(key: string, value: T, ttl?: number): Promise<void>;
  /** The value kept under a key, else that of `load`, which runs once for all who ask at the same time. Null and undefined are given but not kept. */
  wrap<R extends T | null>(key: string, load: () => Promise<R>): Promise<T | R>;
}

export interface CacheOptions<T> {
  readonly namespace: string;
  /** Milliseconds that a value stays good. */
  readonly ttl: number;
  readonly maxBytes: number;
  /** Roughly what a value takes in memory. */
  readonly sizeOf: (value: T) => number;
  readonly onError: (error: unknown) => void;
}

/** lru-cache as a Keyv store: Keyv passes the TTL as a number, which lru-cache would not take for one. */
function boundedStore(maxBytes: number, sizeOf: (value: unknown) => number) {
  const entries = new LRUCache<string, { value: unknown }>({
    maxSize: maxBytes,
    sizeCalculation: ({ value }) => Math.max(1, sizeOf(value)),
  });
  return {
    get: (key: string) => entries.get(key)?.value,
    set: (key: string, value: unknown, ttl?: number) =>
      entries.set(key, { value }, ttl === undefined ? {} : { ttl }),
    delete: (key: string) => entries.delete(key),
    clear: () => entries.clear(),
    has: (key: string) => entries.has(key),
  };
}

/** Opens a namespace in memory. */
export function openCache<T>(o: CacheOptions<T>): Cache<T> {
  // Keyv hands the store {value, expires}; in memory nothing is serialised, so values go in and out by reference.
  const sizeOf = (entry: unknown) =>
    typeof entry === 'object' && entry !== null && 'value' in entry ? o.sizeOf(entry.value as T) : 1;
  const keyv = new Keyv<T>({
    store: boundedStore(o.maxBytes, sizeOf),
    namespace: o.namespace,
    ttl: o.ttl,
    useKeyPrefix: false,
    throwOnErrors: true,
  });
  keyv.serialize = undefined;
  keyv.deserialize = undefined;
  const inFlight = new Map<string, Promise<unknown>>();

  const get = async (key: string): Promise<T | undefined> => {
    try {
      return await keyv.get(key);
    } catch (error) {
      o.onError(error);
      return undefined;
    }
  };
  const set = async (key: string, value: T, ttl?: number): Promise<void> => {
    try {
      await keyv.set(key, value, ttl);
    } catch (error) {
      o.onError(error);
    }
  };
  return {
    get,
    async getMany(keys) {
      const values = await Promise.all(keys.map(get));
      return new Map(
        keys.flatMap((key, i) => {
          const value = values[i];
          return value === undefined ? [] : [[key, value] as const];
        }),
      );
    },
    set,
    async wrap<R extends T | null>(key: string, load: () => Promise<R>) {
      const kept = await get(key);
      if (kept !== undefined) return kept;
      const running = inFlight.get(key) as Promise<R> | undefined;
      if (running !== undefined) return running;
      const loading = load().then(async (value) => {
        if (value !== null && value !== undefined) await set(key, value);
        return value;
      });
      inFlight.set(key, loading);
      try {
        return await loading;
      } finally {
        inFlight.delete(key);
      }
    },
  };
}
