// What is kept between requests of what the Atlas said, in two tiers: a bounded map in this process, and behind it the
// store that outlives it or is shared by several. A crowd that asks for the same thing causes one call. Public data only;
// errors are never kept; a broken store is bypassed, never a failure. It must not know what it holds.
import { LRUCache } from 'lru-cache';

/** A namespace of the cache. Values must not be changed after they were put in or taken out. */
export interface Cache<T> {
  /** The value kept under a key; undefined when there is none that is fresh. */
  get(key: string): Promise<T | undefined>;
  /** Those of the values that are kept and fresh, by key; at once where no store has to be asked. */
  getMany(keys: readonly string[]): Map<string, T> | Promise<Map<string, T>>;
  /**
   * Keeps a value.
   *
   * @param ttl - milliseconds, when other than the namespace's
   * @param tiers - `memory` for what may never be asked for again: writing it down costs more than all else that is done for it
   */
  set(key: string, value: T, ttl?: number, tiers?: 'memory' | 'all'): void;
  /**
   * The value kept under a key, else that of `load`, which runs once for all who ask at the same time. A value that is no
   * longer fresh is given at once while `load` runs behind it. Null, undefined and what is not cacheable are given but not kept.
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
  /** Whether a loaded value is cached; every value when absent. */
  readonly isCacheable?: (value: T) => boolean;
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

/** What an entry of the first tier takes beside its key and value, about. */
const OVERHEAD = 200;

/** Opens a namespace. */
export function openCache<T>(options: CacheOptions<T>): Cache<T> {
  const { namespace, ttl, stale = 0, maxBytes, sizeOf, shared, onError, onLookup } = options;
  const { isCacheable = () => true } = options;
  const local = new LRUCache<string, Kept<T>>({
    maxSize: maxBytes,
    maxEntrySize: Math.floor(maxBytes / 2),
    // lru-cache takes whole numbers.
    sizeCalculation: ({ v }, key) => Math.ceil(key.length + sizeOf(v) + OVERHEAD),
  });
  const inFlight = new Map<string, Promise<unknown>>();

  /** lru-cache takes whole milliseconds; 0 would be no end at all. */
  const setLocal = (key: string, kept: Kept<T>, milliseconds: number): void => {
    if (milliseconds > 0) local.set(key, kept, { ttl: Math.ceil(milliseconds) });
    else local.delete(key);
  };

  /** Looks in the second tier for what the first has not. */
  const readShared = async (
    found: Map<string, Kept<T>>,
    missing: readonly string[],
  ): Promise<Map<string, Kept<T>>> => {
    const memory = found.size;
    for (const [key, { value, expires }] of (await shared?.getMany(missing)) ?? []) {
      // Only this namespace writes under its name, and the name changes when the shape does.
      const kept = value as Kept<T>;
      found.set(key, kept);
      setLocal(key, kept, expires === undefined ? ttl + stale : expires - Date.now());
    }
    const store = found.size - memory;
    onLookup?.(namespace, { memory, store, missing: missing.length - store });
    return found;
  };
  /** Waits only where the second tier has to be asked: most look-ups of a list end here. */
  const readMany = (keys: readonly string[]): Map<string, Kept<T>> | Promise<Map<string, Kept<T>>> => {
    const found = new Map<string, Kept<T>>();
    const missing: string[] = [];
    for (const key of keys) {
      const kept = local.get(key);
      if (kept === undefined) missing.push(key);
      else found.set(key, kept);
    }
    if (missing.length > 0 && shared !== undefined) return readShared(found, missing);
    onLookup?.(namespace, { memory: found.size, store: 0, missing: missing.length });
    return found;
  };
  const fresh = (found: ReadonlyMap<string, Kept<T>>): Map<string, T> => {
    const now = Date.now();
    const values = new Map<string, T>();
    for (const [key, { v, until }] of found) if (until > now) values.set(key, v);
    return values;
  };
  const getMany: Cache<T>['getMany'] = (keys) => {
    const found = readMany(keys);
    return found instanceof Promise ? found.then(fresh) : fresh(found);
  };
  const set: Cache<T>['set'] = (key, value, keep = ttl, tiers = 'all') => {
    const kept: Kept<T> = { v: value, until: Date.now() + keep };
    setLocal(key, kept, keep + stale);
    // Nobody waits for the second tier.
    if (tiers === 'all') void shared?.set(key, kept, keep + stale);
  };
  const refresh = <R extends T | null>(key: string, load: () => Promise<R>): Promise<R> => {
    const running = inFlight.get(key) as Promise<R> | undefined;
    if (running !== undefined) return running;
    const loading = load().then((value) => {
      if (value !== null && value !== undefined && isCacheable(value)) set(key, value);
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
