// The second tier of the cache: Keyv namespaces over Redis, where replicas share it. The cache bypasses a slow
// or broken store. Nothing waits for a write: entries are collected for a moment and written together.
import Keyv from 'keyv';
import { withTimeout } from '../../async/deadline.ts';
import { takeTokens } from '../rate-limit/token-bucket.ts';
import type { SharedCache } from './cache.ts';
import { openRedisBytes } from './cache-redis.ts';
import { decodeEntry, type EncodedEntry, encodeEntry } from './entry-codec.ts';

/** An entry as it is stored, with its time to live in milliseconds. */
export interface StoredBytes {
  readonly key: string;
  readonly bytes: Buffer;
  readonly ttl: number;
}

/** A byte store with a time to live for each entry. */
export interface ByteStore {
  /** As many values as keys, in their order. */
  getMany(keys: readonly string[]): Promise<(Buffer | undefined)[]>;
  setMany(entries: readonly StoredBytes[]): Promise<void>;
  delete(key: string): Promise<boolean>;
  close(): Promise<void>;
}

/** Changes with the shape or the encoding of entries, so that older ones are never read. */
const SHAPE = 'foldatlas-5';
const READ_TIMEOUT_MS = 100;
const WRITE_TIMEOUT_MS = 5_000;
/** Entries of this time are written together: one by one, they cost more than the answers they come from. */
const COLLECT_MS = 100;
/** Entries and bytes that the store is given at once. */
const BATCH_ENTRIES = 64;
const BATCH_BYTES = 512 * 1024;
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
 * @param writing - the same for writes
 * @param onError - called for every entry that cannot be encoded; the others are written
 */
function toKeyvStore(
  store: ByteStore,
  reading: StoreGuard,
  writing: StoreGuard,
  onError: (error: unknown) => void,
) {
  const getMany = async (keys: string[]): Promise<(EncodedEntry | undefined)[]> => {
    const found = (await reading(() => store.getMany(keys))) ?? [];
    // Of most new keys nothing is there.
    if (found.every((bytes) => bytes === undefined)) return found.map(() => undefined);
    return Promise.all(found.map((bytes) => (bytes === undefined ? undefined : decodeEntry(bytes))));
  };
  const setMany = async (entries: { key: string; value: EncodedEntry; ttl?: number }[]) => {
    let batch: StoredBytes[] = [];
    let size = 0;
    for (const [i, { key, value, ttl = MAX_TTL_MS }] of entries.entries()) {
      try {
        const bytes = await encodeEntry(value);
        batch.push({ key, bytes, ttl });
        size += bytes.length;
      } catch (error) {
        onError(error);
      }
      if (batch.length < BATCH_ENTRIES && size < BATCH_BYTES && i < entries.length - 1) continue;
      const full = batch;
      batch = [];
      size = 0;
      await writing(() => store.setMany(full));
    }
  };
  return {
    getMany,
    get: async (key: string) => (await getMany([key]))[0],
    setMany,
    set: (key: string, value: EncodedEntry, ttl?: number) =>
      setMany([ttl === undefined ? { key, value } : { key, value, ttl }]),
    delete: async (key: string) => store.delete(key),
    async clear() {
      throw new Error('A store that is shared with others is never cleared.');
    },
  };
}

export type SharedStore = ReturnType<typeof openSharedStore>;

/**
 * Opens the tier.
 *
 * @param report - called with every failure; the cache then bypasses the store
 */
function openSharedStore(store: ByteStore, report: (error: unknown) => void) {
  let isClosed = false;
  // What goes on for a client that has left may read or write after the end.
  const onError = (error: unknown): void => {
    if (!isClosed) report(error);
  };
  const rules = { failures: MAX_FAILURES, pause: PAUSE_MS, onError };
  const reading = createStoreGuard({ ...rules, timeout: READ_TIMEOUT_MS });
  const writing = createStoreGuard({ ...rules, timeout: WRITE_TIMEOUT_MS });
  const keyvStore = toKeyvStore(store, reading, writing, onError);
  const flushes: (() => void)[] = [];
  /** The end of all writes so far. */
  let written: Promise<void> = Promise.resolve();
  return {
    namespace(name: string): SharedCache {
      const keyv = new Keyv<unknown>({
        store: keyvStore,
        namespace: `${SHAPE}:${name}`,
        throwOnErrors: true,
        emitErrors: false,
      });
      keyv.serialize = undefined;
      keyv.deserialize = undefined;
      let writesFullAt = 0;
      let collected: { key: string; value: unknown; ttl: number }[] = [];
      const flush = (): void => {
        const entries = collected;
        collected = [];
        const before = written;
        written = keyv
          .setMany(entries)
          .catch(onError)
          .then(() => before);
      };
      flushes.push(flush);
      return {
        async getMany(keys) {
          const found = await keyv.getManyRaw([...keys]);
          return new Map(
            keys.map((key, i) => [key, found[i]?.value] as const).filter(([, value]) => value != null),
          );
        },
        set(key, value, ttl) {
          const write = { key: name, tokens: 1, perMinute: WRITES_PER_MINUTE };
          const { granted, fullAt } = takeTokens(writesFullAt, performance.now(), write);
          writesFullAt = fullAt;
          if (granted === 0) return;
          if (collected.push({ key, value, ttl }) === 1) setTimeout(flush, COLLECT_MS).unref();
        },
      };
    },
    async close() {
      for (const flush of flushes) flush();
      await written;
      isClosed = true;
      await store.close();
    },
  };
}

export interface GuardOptions {
  /** Milliseconds that one use may take. */
  readonly timeout: number;
  /** Failures in a row after which the store is left alone. */
  readonly failures: number;
  /** Milliseconds that it is left alone, after which one use tries again. */
  readonly pause: number;
  /** Called with every failure. */
  readonly onError: (error: unknown) => void;
}

/** Runs a use of the store. Undefined when it failed, timed out, or the circuit is open. */
export type StoreGuard = <T>(use: () => Promise<T>) => Promise<T | undefined>;

/** All uses of one store share a guard. */
export function createStoreGuard({ timeout, failures, pause, onError }: GuardOptions): StoreGuard {
  let failed = 0;
  let closedUntil = 0;
  const onTimeout = (): never => {
    throw new Error(`The store did not answer within ${timeout} ms.`);
  };

  return async <T>(use: () => Promise<T>): Promise<T | undefined> => {
    if (failed >= failures) {
      if (performance.now() < closedUntil) return undefined;
      closedUntil = performance.now() + pause;
    }
    try {
      const result = await withTimeout(use(), timeout, onTimeout);
      failed = 0;
      return result;
    } catch (error) {
      failed += 1;
      closedUntil = performance.now() + pause;
      onError(error);
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
): SharedStore | undefined =>
  /^rediss?:/.test(storeUrl) ? openSharedStore(openRedisBytes(storeUrl, onError), onError) : undefined;
