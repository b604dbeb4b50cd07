// The second tier of the cache over any store of bytes: Keyv for names and expiry, frames for what the bytes mean, a guard so
// that nobody waits for a store that does not answer. It must not know which store it is.
import Keyv from 'keyv';
import { UnderWay } from '../passing.ts';
import type { SharedCache } from './cache.ts';
import { decodeFrame, encodeFrame } from './cache-frame.ts';
import { openGuard } from './cache-guard.ts';
import { openPace } from './cache-pace.ts';

/** A place for bytes under names, each with the milliseconds that it is kept. */
export interface ByteStore {
  get(key: string): Promise<Buffer | undefined>;
  /** Whether there is nothing under a key, where that can be said at once. Of what was written elsewhere in this moment it may say so wrongly. */
  lacks?(key: string): boolean;
  /** As many values as keys, in their order. */
  getMany(keys: readonly string[]): Promise<(Buffer | undefined)[]>;
  set(key: string, bytes: Buffer, ttl: number): Promise<void>;
  delete(key: string): Promise<boolean>;
  close(): Promise<void>;
}

/** Changes when the shape of what is kept does, so that nothing older is ever read. */
const SHAPE = 'foldatlas-1';
const TIMEOUT_MS = 100;
/** A large value takes longer than that to write, and nobody waits for it. */
const WRITE_TIMEOUT_MS = 5_000;
const FAILURES = 5;
const PAUSE_MS = 5_000;
/**
 * How often a namespace is written to. Writing a record down costs more than answering from it: under a flood of what was never asked
 * before most of it is left out, and what is asked again comes by another time.
 */
const WRITES = { perSecond: 40, burst: 1_000 };
/** Nothing is kept for ever. */
const LONGEST_MS = 366 * 24 * 3_600_000;

/** A byte store as Keyv wants one: what Keyv wraps as {value, expires} goes in and out as a frame. */
const framed = (bytes: ByteStore) => ({
  async get(key: string) {
    const found = await bytes.get(key);
    return found === undefined ? undefined : decodeFrame(found);
  },
  async getMany(keys: string[]) {
    const found = await bytes.getMany(keys);
    return Promise.all(found.map((one) => (one === undefined ? undefined : decodeFrame(one))));
  },
  async set(key: string, entry: { value: unknown; expires?: number }, ttl?: number) {
    await bytes.set(
      key,
      await encodeFrame({ value: entry.value, expires: entry.expires }),
      ttl ?? LONGEST_MS,
    );
  },
  delete: (key: string) => bytes.delete(key),
  async clear() {
    throw new Error('A store that others use as well is never cleared.');
  },
});

export interface SharedStore {
  namespace(name: string): SharedCache;
  close(): Promise<void>;
}

/**
 * Opens the tier.
 *
 * @param onError - told of every failure; the store is then bypassed
 */
export function openSharedStore(bytes: ByteStore, onError: (error: unknown) => void): SharedStore {
  const rules = { failures: FAILURES, pause: PAUSE_MS, onError };
  const reading = openGuard({ ...rules, timeout: TIMEOUT_MS });
  const writing = openGuard({ ...rules, timeout: WRITE_TIMEOUT_MS });
  const writes = new UnderWay();
  return {
    namespace(name) {
      const namespace = `${SHAPE}:${name}`;
      const keyv = new Keyv<unknown>({
        store: framed(bytes),
        namespace,
        throwOnErrors: true,
      });
      keyv.serialize = undefined;
      keyv.deserialize = undefined;
      const pace = openPace(WRITES);
      // What is thrown is told once, by the guard.
      keyv.on('error', () => undefined);
      /** A value that is not there costs a look at the store, not a way through all that reads one. */
      const lacks = (keys: readonly string[]): boolean => {
        if (bytes.lacks === undefined) return false;
        try {
          for (const key of keys) if (!bytes.lacks(`${namespace}:${key}`)) return false;
          return true;
        } catch {
          // Whoever reads next is told.
          return false;
        }
      };
      return {
        lacks,
        async getMany(keys) {
          // One use of the store for all of them: a timer and a race for each cost more than the reading.
          const found = (await reading(() => keyv.getManyRaw([...keys]))) ?? [];
          const kept = new Map<string, { value: unknown; expires: number | undefined }>();
          for (const [i, raw] of found.entries()) {
            const key = keys[i];
            if (key !== undefined && raw?.value !== undefined)
              kept.set(key, { value: raw.value, expires: raw.expires });
          }
          return kept;
        },
        async set(key, value, ttl) {
          if (!pace.take()) return;
          const write = writing(() => keyv.set(key, value, ttl));
          writes.add(write);
          await write;
        },
      };
    },
    async close() {
      await writes.ended();
      await bytes.close();
    },
  };
}
