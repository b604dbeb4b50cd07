// What is kept between requests of what the Atlas said, in two tiers: a bounded map in this process, and behind it the
// store that outlives it or is shared by several. A crowd that asks for the same thing causes one call. Public data only;
// errors are never kept; a broken store is bypassed, never a failure. It must not know what it holds.
import Keyv from 'keyv';
import { LRUCache } from 'lru-cache';

/** A namespace of the cache. Values must not be changed after they were put in or taken out. */
export interface Cache<T> {
  /** The value kept under a key; undefined when there is none that is fresh. */
  get(key: string): Promise<T | undefined>;
  /** Those of the values that are kept and fresh, by key. */
  getMany(keys: readonly string[]): Promise<Map<string, T>>;
  /**
   * Keeps a value.
   *
   * @param ttl - milliseconds, when other than the namespace's
   * @param tiers - `memory` for what may never be asked for again: writing it down costs more than all else that is done for it
   */
  set(key: string, value: T, ttl?: number, tiers?: 'memory' | 'all'): Promise<void>;
  /**
   * The value kept under a key, else that of `load`, which runs once for all who ask at the same time. A value that is no
   * longer fresh is given at once while `load` runs behind it. Null and undefined are given but not kept.
   *
   * @param onHit - told when the value was kept
   */
  wrap<R extends T | null>(key: string, load: () => Promise<R>, onHit?: () => void): Promise<T | R>;
}

/** One namespace of the second tier. It never throws and answers soon: what it cannot give, or has no time to keep, is missing. */
export interface SharedCache {
  getMany(keys: readonly string[]): Promise<Map<string, { value: unknown; expires: number | undefined }>>;
  set(key: string, value: unknown, ttl: number): Promise<void>;
}

/** How many of the values of a look-up were where. */
export interface Found {
  readonly memory: number;
  readonly store: number;
  readonly missing: number;
}

export interface CacheOptions<T> {
  readonly namespace: string;
  /** Milliseconds that a value stays fresh. */
  readonly ttl: number;
  /** Milliseconds after that in which it may still be given while a newer one is fetched; none when absent. */
  readonly stale?: number;
  readonly maxBytes: number;
  /** Roughly what a value takes in memory. */
  readonly sizeOf: (value: T) => number;
  readonly onError: (error: unknown) => void;
  /** Told of every look-up: how many values were found in memory, in the second tier, and not at all. */
  readonly onLookup?: ((namespace: string, found: Found) => void) | undefined;
  readonly shared?: SharedCache | undefined;
}

/** A value and until when it is fresh, in milliseconds since the epoch. */
interface Kept<T> {
  readonly v: T;
  readonly until: number;
}

/** lru-cache as a Keyv store: Keyv passes the TTL as a number, which lru-cache would not take for one. */
function boundedStore(maxBytes: number, sizeOf: (value: unknown) => number) {
  const entries = new LRUCache<string, { value: unknown }>({
    maxSize: maxBytes,
    sizeCalculation: ({ value }) => Math.max(1, Math.ceil(sizeOf(value))),
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

/** The first tier. Values go in and out by reference: in memory nothing is serialised. */
function openLocal<T>({ maxBytes, sizeOf, onError }: CacheOptions<T>): Keyv<Kept<T>> {
  // Keyv hands its store {value, expires}.
  const size = (entry: unknown) =>
    typeof entry === 'object' && entry !== null && 'value' in entry ? sizeOf((entry.value as Kept<T>).v) : 1;
  const keyv = new Keyv<Kept<T>>({
    store: boundedStore(maxBytes, size),
    useKeyPrefix: false,
    throwOnErrors: true,
  });
  keyv.serialize = undefined;
  keyv.deserialize = undefined;
  keyv.on('error', onError);
  return keyv;
}

/** Opens a namespace. */
export function openCache<T>(options: CacheOptions<T>): Cache<T> {
  const { namespace, ttl, stale = 0, shared, onError, onLookup } = options;
  const local = openLocal(options);
  const inFlight = new Map<string, Promise<unknown>>();

  const readLocal = async (key: string): Promise<Kept<T> | undefined> => {
    try {
      return await local.get(key);
    } catch (error) {
      onError(error);
      return undefined;
    }
  };
  const writeLocal = (key: string, kept: Kept<T>, keep: number): Promise<unknown> =>
    local.set(key, kept, keep).catch(onError);

  const readMany = async (keys: readonly string[]): Promise<Map<string, Kept<T>>> => {
    const found = new Map<string, Kept<T>>();
    const missing: string[] = [];
    for (const [i, kept] of (await Promise.all(keys.map(readLocal))).entries()) {
      const key = keys[i] ?? '';
      if (kept === undefined) missing.push(key);
      else found.set(key, kept);
    }
    const memory = found.size;
    const tell = () =>
      onLookup?.(namespace, { memory, store: found.size - memory, missing: keys.length - found.size });
    if (shared === undefined || missing.length === 0) {
      tell();
      return found;
    }
    for (const [key, { value, expires }] of await shared.getMany(missing)) {
      // Only this namespace writes under its name, and the name changes when the shape does.
      const kept = value as Kept<T>;
      found.set(key, kept);
      const left = expires === undefined ? ttl + stale : expires - Date.now();
      if (left > 0) await writeLocal(key, kept, left);
    }
    tell();
    return found;
  };
  const getMany = async (keys: readonly string[]): Promise<Map<string, T>> => {
    const now = Date.now();
    const found = await readMany(keys);
    return new Map([...found].filter(([, { until }]) => until > now).map(([key, { v }]) => [key, v]));
  };
  const set: Cache<T>['set'] = async (key, value, fresh = ttl, tiers = 'all') => {
    const kept: Kept<T> = { v: value, until: Date.now() + fresh };
    await writeLocal(key, kept, fresh + stale);
    // Nobody waits for the second tier.
    if (tiers === 'all') void shared?.set(key, kept, fresh + stale);
  };
  const refresh = <R extends T | null>(key: string, load: () => Promise<R>): Promise<R> => {
    const running = inFlight.get(key) as Promise<R> | undefined;
    if (running !== undefined) return running;
    const loading = load().then(async (value) => {
      if (value !== null && value !== undefined) await set(key, value);
      return value;
    });
    inFlight.set(key, loading);
    const end = () => inFlight.delete(key);
    loading.then(end, end);
    return loading;
  };

  return {
    getMany,
    get: async (key) => (await getMany([key])).get(key),
    set,
    async wrap<R extends T | null>(key: string, load: () => Promise<R>, onHit?: () => void) {
      const kept = (await readMany([key])).get(key);
      if (kept === undefined) return refresh(key, load);
      onHit?.();
      if (kept.until <= Date.now()) refresh(key, load).catch(onError);
      return kept.v;
    },
  };
}
