// The second tier of the cache: Keyv namespaces over SQLite or Redis. The cache bypasses a slow or
// broken store.
import { promisify } from 'node:util';
import { deserialize, serialize } from 'node:v8';
import { brotliCompress, brotliDecompress, constants } from 'node:zlib';
import Keyv from 'keyv';
import { withTimeout } from '../../async/deadline.ts';
import { executionTurns } from '../../async/turn-clock.ts';
import { takeTokens } from '../rate-limit/token-bucket.ts';
import type { SharedCache } from './cache.ts';
import { openRedisBytes } from './cache-redis.ts';
import { openSqliteBytes } from './cache-sqlite.ts';

/** A byte store with a time to live in milliseconds for each entry. */
export interface ByteStore {
  /** As many values as keys, in their order. */
  getMany(keys: readonly string[]): Promise<(Buffer | undefined)[]>;
  set(key: string, bytes: Buffer, ttl: number): Promise<void>;
  delete(key: string): Promise<boolean>;
  close(): Promise<void>;
}

/** Changes with the shape or the encoding of entries, so that older ones are never read. */
const SHAPE = 'foldatlas-4';
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
      // An answer of the service may bring hundreds of entries, each of which takes a while.
      await executionTurns.turn();
      await store.set(key, await encodeEntry(entry), ttl);
    },
    delete: (key: string) => store.delete(key),
    async clear() {
      throw new Error('A store that is shared with others is never cleared.');
    },
  };
}

export type SharedStore = ReturnType<typeof openSharedStore>;

/**
 * Opens the tier.
 *
 * @param onError - called with every failure; the cache then bypasses the store
 */
function openSharedStore(store: ByteStore, onError: (error: unknown) => void) {
  const rules = { failures: MAX_FAILURES, pause: PAUSE_MS, onError };
  const reading = createStoreGuard({ ...rules, timeout: READ_TIMEOUT_MS });
  const writing = createStoreGuard({ ...rules, timeout: WRITE_TIMEOUT_MS });
  const writes = new Set<Promise<unknown>>();
  return {
    namespace(name: string): SharedCache {
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
            keys.map((key, i) => [key, found[i]?.value] as const).filter(([, value]) => value != null),
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

/** The cache has a file of its own beside the ledger's: it may be deleted at any time. */
const cacheFile = (file: string): string => `${file.replace(/\.(db|sqlite3?)$/, '')}.cache.db`;

/**
 * Opens the second tier.
 *
 * @param storeUrl - `memory:` (no second tier), `sqlite:PATH`, `redis://…` or `rediss://…`
 * @param onError - called with every failure; the cache then bypasses the store
 */
export function openSharedCache(
  storeUrl: string,
  onError: (error: unknown) => void,
): SharedStore | undefined {
  if (storeUrl === 'memory:') return undefined;
  if (/^rediss?:/.test(storeUrl)) return openSharedStore(openRedisBytes(storeUrl, onError), onError);
  const file = /^sqlite:(.+)$/.exec(storeUrl)?.[1];
  if (file === undefined) throw new Error('STORE_URL must be memory:, sqlite:PATH, redis://… or rediss://….');
  try {
    return openSharedStore(openSqliteBytes(cacheFile(file)), onError);
  } catch (error) {
    // A file that cannot be read is no reason not to start: everything can be fetched anew.
    onError(error);
    return undefined;
  }
}

const compress = promisify(brotliCompress);
const decompress = promisify(brotliDecompress);

/** Shorter entries stay as they are: making a compressor takes most of the time. */
const COMPRESS_FROM_BYTES = 16 * 1024;
/** Images hardly shrink; reading them must not cost a decompression. */
const MAX_COMPRESSED_SHARE = 0.9;
/** Quality 4 takes three times as long for a tenth less. */
const QUALITY = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } };

const PLAIN = Buffer.of(0);
const COMPRESSED = Buffer.of(1);

/** A value and when it expires, in milliseconds since the epoch. */
export interface EncodedEntry {
  readonly value: unknown;
  readonly expires?: number | undefined;
}

/** Stands in the JSON for a Buffer, with its number. */
const BUFFER_MARK = '\u0000bytes:';

/** What is serialized of an entry: JSON, because values may have a `toJSON`, with Buffers beside it. */
interface Parts {
  readonly json: string;
  readonly buffers: readonly Uint8Array[];
  readonly expires: number | undefined;
}

const hasBuffers = (value: unknown): boolean =>
  typeof value === 'object' &&
  value !== null &&
  (value instanceof Uint8Array || Object.values(value).some(hasBuffers));

function toParts({ value, expires }: EncodedEntry): Parts {
  const buffers: Uint8Array[] = [];
  const replacer = function (this: Record<string, unknown>, key: string, item: unknown): unknown {
    const own = this[key];
    return own instanceof Uint8Array ? `${BUFFER_MARK}${buffers.push(own) - 1}` : item;
  };
  // A replacer makes JSON.stringify five times as slow: only thumbnails need it.
  const json = hasBuffers(value) ? JSON.stringify(value, replacer) : JSON.stringify(value);
  return { json, buffers, expires };
}

function fromParts({ json, buffers, expires }: Parts): EncodedEntry {
  const reviver = (_: string, item: unknown): unknown =>
    typeof item === 'string' && item.startsWith(BUFFER_MARK)
      ? buffers[Number(item.slice(BUFFER_MARK.length))]
      : item;
  const value: unknown = buffers.length === 0 ? JSON.parse(json) : JSON.parse(json, reviver);
  return { value, expires };
}

export async function encodeEntry(entry: EncodedEntry): Promise<Buffer> {
  const bytes = serialize(toParts(entry));
  if (bytes.length < COMPRESS_FROM_BYTES) return Buffer.concat([PLAIN, bytes]);
  const compressed = await compress(bytes, QUALITY);
  return compressed.length < bytes.length * MAX_COMPRESSED_SHARE
    ? Buffer.concat([COMPRESSED, compressed])
    : Buffer.concat([PLAIN, bytes]);
}

/** @returns undefined for damaged bytes: the value is then fetched again */
export async function decodeEntry(bytes: Buffer): Promise<EncodedEntry | undefined> {
  try {
    const body = bytes.subarray(1);
    return fromParts(deserialize(bytes[0] === 1 ? await decompress(body) : body));
  } catch {
    return undefined;
  }
}
