// The cache of Atlas data between requests, in two tiers: a bounded map in this process, and behind
// it a Redis where replicas share one. Public data only. Errors
// are never cached; a broken store is bypassed. Identical loads in flight are shared.
import { LRUCache } from 'lru-cache';
import { createSingleFlight } from '../../async/single-flight.ts';

/** A namespace of the cache. Values must not be changed after they were put in or taken out. */
export type Cache<T> = ReturnType<typeof openCache<T>>;

/**
 * One namespace of the second tier. Never throws; values that it cannot read in time are missing.
 * What is set is written a moment later.
 */
export interface SharedCache {
  getMany(keys: readonly string[]): Promise<Map<string, unknown>>;
  set(key: string, value: unknown, ttl: number): void;
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
  /**
   * Milliseconds after that in which a stale value is returned while it is refreshed; 0 if absent.
   */
  readonly stale?: number;
  readonly maxBytes: number;
  /** Roughly what a value takes in memory. */
  readonly sizeOf: (value: T) => number;
  /** Whether a loaded value is cached; every value when absent. */
  readonly isCacheable?: (value: T) => boolean;
  readonly onError: (error: unknown) => void;
  /** Called for every look-up: values found in memory, in the second tier, and not at all. */
  readonly onLookup?: ((namespace: string, found: Found) => void) | undefined;
  readonly shared?: SharedCache | undefined;
}

/** A value and until when it is fresh, in milliseconds since the epoch. */
interface StoredValue<T> {
  readonly v: T;
  readonly until: number;
}

type Read<R> = (signal?: AbortSignal) => Promise<R>;

/** What an entry of the first tier takes beside its key and value, about. */
const OVERHEAD = 200;

/** Opens a namespace. */
export function openCache<T>(options: CacheOptions<T>) {
  const { namespace, ttl, stale = 0, maxBytes, sizeOf, shared, onError, onLookup } = options;
  const { isCacheable = () => true } = options;
  const local = new LRUCache<string, StoredValue<T>>({
    maxSize: maxBytes,
    maxEntrySize: Math.floor(maxBytes / 2),
    // lru-cache takes whole numbers.
    sizeCalculation: ({ v }, key) => Math.ceil(key.length + sizeOf(v) + OVERHEAD),
  });
  const singleFlight = createSingleFlight();

  /** lru-cache takes whole milliseconds; 0 would be no end at all. */
  const setLocal = (key: string, entry: StoredValue<T>, milliseconds: number): void => {
    if (milliseconds > 0) local.set(key, entry, { ttl: Math.ceil(milliseconds) });
    else local.delete(key);
  };

  /** Looks in the second tier for what the first has not. */
  const readShared = async (
    found: Map<string, StoredValue<T>>,
    missing: readonly string[],
  ): Promise<Map<string, StoredValue<T>>> => {
    const memory = found.size;
    for (const [key, value] of (await shared?.getMany(missing)) ?? []) {
      // Only this namespace writes under its name, and the name changes when the shape does.
      const entry = value as StoredValue<T>;
      found.set(key, entry);
      setLocal(key, entry, entry.until + stale - Date.now());
    }
    const store = found.size - memory;
    onLookup?.(namespace, { memory, store, missing: missing.length - store });
    return found;
  };
  /** Waits only where the second tier has to be asked: most look-ups of a list end here. */
  const readMany = (
    keys: readonly string[],
  ): Map<string, StoredValue<T>> | Promise<Map<string, StoredValue<T>>> => {
    const found = new Map<string, StoredValue<T>>();
    const missing: string[] = [];
    for (const key of keys) {
      const entry = local.get(key);
      if (entry === undefined) missing.push(key);
      else found.set(key, entry);
    }
    if (missing.length > 0 && shared !== undefined) return readShared(found, missing);
    onLookup?.(namespace, { memory: found.size, store: 0, missing: missing.length });
    return found;
  };
  const fresh = (found: ReadonlyMap<string, StoredValue<T>>): Map<string, T> => {
    const now = Date.now();
    const values = new Map<string, T>();
    for (const [key, { v, until }] of found) if (until > now) values.set(key, v);
    return values;
  };
  const getMany = (keys: readonly string[]): Map<string, T> | Promise<Map<string, T>> => {
    const found = readMany(keys);
    return found instanceof Promise ? found.then(fresh) : fresh(found);
  };
  const set = (key: string, value: T, keep = ttl): void => {
    const entry: StoredValue<T> = { v: value, until: Date.now() + keep };
    setLocal(key, entry, keep + stale);
    shared?.set(key, entry, keep + stale);
  };
  const load = async <R extends T | null>(key: string, read: Read<R>, signal?: AbortSignal): Promise<R> => {
    const value = await read(signal);
    if (value !== null && isCacheable(value)) set(key, value);
    return value;
  };

  return {
    /** The fresh cached values, by key; synchronous when the second tier need not be read. */
    getMany,
    /** The cached value of a key; undefined when there is no fresh one. */
    get: async (key: string) => (await getMany([key])).get(key),
    /**
     * Caches a value.
     *
     * @param ttl - milliseconds, when other than the namespace's
     */
    set,
    /**
     * The cached value of a key, else the result of `read`, which identical calls in flight share.
     * A stale value is returned at once while `read` refreshes it. Null and values that are not
     * cacheable are not cached.
     *
     * @param read - receives the signal that aborts after the last caller; none in the background
     * @param options.onHit - called when the value was cached
     */
    wrap: <R extends T | null>(
      key: string,
      read: Read<R>,
      { signal, onHit }: { readonly signal?: AbortSignal | undefined; readonly onHit?: () => void } = {},
    ): Promise<T | R> =>
      singleFlight(key, signal, async (run) => {
        const entry = (await readMany([key])).get(key);
        if (entry === undefined) return load(key, read, run.signal);
        onHit?.();
        if (entry.until <= Date.now())
          singleFlight(`refresh ${key}`, undefined, () => load(key, read)).catch(onError);
        return entry.v;
      }),
  };
}
