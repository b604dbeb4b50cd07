// The cache of Atlas data between requests, in two tiers: an LRU map in this process, and behind it
// a Redis where replicas share one. Public data only. Errors are never cached, and identical loads
// in flight are shared.
import { LRUCache } from 'lru-cache';
import { createSingleFlight } from '../../async/single-flight.ts';
import type { SharedCache } from './shared-cache.ts';

export type { SharedCache } from './shared-cache.ts';

/** A namespace of the cache. Values must not be changed after they were put in or taken out. */
export interface Cache<T> {
  /** The fresh cached values by key. */
  getMany(keys: readonly string[]): Promise<Map<string, T>>;
  /** The cached value of a key; undefined when there is no fresh one. */
  get(key: string): Promise<T | undefined>;
  /** The estimated memory of the values in this process. */
  bytes(): number;
  /** Caches a value. @param ttl - milliseconds, when other than the namespace's */
  set(key: string, value: T, ttl?: number): void;
  /**
   * The cached value of a key, else the result of `read`, which identical calls in flight share. A
   * stale value is returned at once while `read` refreshes it. Null and values that are not
   * cacheable are not cached.
   *
   * @param read - receives the signal that aborts after the last caller; none in the background
   */
  wrap<R extends T | null>(
    key: string,
    read: (signal?: AbortSignal) => Promise<R>,
    options?: WrapOptions,
  ): Promise<T | R>;
}

export interface WrapOptions {
  readonly signal?: AbortSignal | undefined;
  /** Called when the value was cached. */
  readonly onHit?: () => void;
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
  readonly estimateBytes: (value: T) => number;
  /** Whether a loaded value is cached; every value when absent. */
  readonly isCacheable?: (value: T) => boolean;
  /** Called when a refresh in the background fails. */
  readonly onError: (error: unknown) => void;
  /** Called for every look-up: values found in memory, in the second tier, and not at all. */
  readonly onLookup?: ((namespace: string, found: Found) => void) | undefined;
  readonly shared?: SharedCache | undefined;
}

/**
 * A value and until when it is fresh, in milliseconds since the epoch. Both tiers have it, so that
 * lru-cache keeps no times of its own.
 */
interface Entry<T> {
  readonly value: T;
  readonly until: number;
}

/** Memory of an entry beside its key and value, about. */
const ENTRY_BYTES = 200;

/** Creates a namespace. */
export function createCache<T>(options: CacheOptions<T>): Cache<T> {
  const { namespace, ttl, stale = 0, maxBytes, estimateBytes, shared, onError, onLookup } = options;
  const { isCacheable = () => true } = options;
  const local = new LRUCache<string, Entry<T>>({
    maxSize: maxBytes,
    // A large value must not drive out all others.
    maxEntrySize: Math.floor(maxBytes / 2),
    // lru-cache takes whole numbers.
    sizeCalculation: ({ value }, key) => Math.ceil(key.length + estimateBytes(value) + ENTRY_BYTES),
  });
  const singleFlight = createSingleFlight();

  /** Milliseconds until an entry is of no use. */
  const timeLeft = ({ until }: Entry<T>): number => Math.ceil(until + stale - Date.now());

  async function readEntries(keys: readonly string[]): Promise<Map<string, Entry<T>>> {
    const found = new Map<string, Entry<T>>();
    for (const key of keys) {
      const entry = local.get(key);
      if (entry !== undefined && timeLeft(entry) > 0) found.set(key, entry);
    }
    const memory = found.size;
    const missing = keys.filter((key) => !found.has(key));
    if (missing.length > 0 && shared !== undefined)
      for (const [key, stored] of await shared.getMany(missing)) {
        // Only this namespace writes under its name, and the name changes when the shape does.
        const entry = stored as Entry<T>;
        if (timeLeft(entry) <= 0) continue;
        found.set(key, entry);
        local.set(key, entry);
      }
    onLookup?.(namespace, { memory, store: found.size - memory, missing: keys.length - found.size });
    return found;
  }

  async function getMany(keys: readonly string[]): Promise<Map<string, T>> {
    const now = Date.now();
    const fresh = new Map<string, T>();
    for (const [key, { value, until }] of await readEntries(keys)) if (until > now) fresh.set(key, value);
    return fresh;
  }

  function set(key: string, value: T, keepMs = ttl): void {
    const entry: Entry<T> = { value, until: Date.now() + keepMs };
    const left = timeLeft(entry);
    if (left <= 0) return;
    local.set(key, entry);
    shared?.set(key, entry, left);
  }

  return {
    getMany,
    bytes: () => local.calculatedSize,
    get: async (key) => (await getMany([key])).get(key),
    set,
    wrap: async <R extends T | null>(
      key: string,
      read: (signal?: AbortSignal) => Promise<R>,
      { signal, onHit }: WrapOptions = {},
    ): Promise<T | R> => {
      async function load(running?: AbortSignal): Promise<R> {
        const value = await read(running);
        if (value !== null && isCacheable(value)) set(key, value);
        return value;
      }
      const known = local.get(key);
      if (known !== undefined && known.until > Date.now()) {
        onLookup?.(namespace, { memory: 1, store: 0, missing: 0 });
        onHit?.();
        return known.value;
      }
      return singleFlight(key, signal, async (run): Promise<T | R> => {
        const entry = (await readEntries([key])).get(key);
        if (entry === undefined) return load(run.signal);
        onHit?.();
        if (entry.until <= Date.now()) singleFlight(`refresh ${key}`, undefined, () => load()).catch(onError);
        return entry.value;
      });
    },
  };
}
