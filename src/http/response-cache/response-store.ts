// Stores responses as bytes, limited by size, and the followers of pending responses
// (single-flight).
import { LRUCache } from 'lru-cache';

/** A response that every caller may be given. */
export interface CachedResponse {
  /** Names and values in turn, as node:http takes them; without those of a single request. */
  readonly headers: readonly string[];
  readonly body: Buffer;
  /** Such as `"abc"`; undefined where clients may not store the response. */
  readonly etag: string | undefined;
  /** Whether caches between here and the caller may store it. */
  readonly isPublic: boolean;
  /** Of the operation; null for one without. */
  readonly operationName: string | null;
}

/**
 * What came of a pending response. Null: each follower is answered separately; undefined: its client
 * has left, so that one follower takes its place, and the others follow that one.
 */
type Settled = CachedResponse | null | undefined;
type Follower = (response: Settled) => void;

/** A request whose response others may wait for. */
export interface PendingResponse {
  readonly key: string;
  readonly followers: Follower[];
}

export type ResponseStore = ReturnType<typeof createResponseStore>;

/** Share of all bytes that one response may take. */
const MAX_ENTRY_SHARE = 1 / 16;
/** Bytes that an entry takes beside its key and body, about. */
const ENTRY_OVERHEAD_BYTES = 1024;

/** @param maxBytes - of all responses together; 0 stores none */
export function createResponseStore(maxBytes: number, now = () => performance.now()) {
  const stored =
    maxBytes === 0
      ? undefined
      : new LRUCache<string, CachedResponse>({
          maxSize: maxBytes,
          maxEntrySize: Math.floor(maxBytes * MAX_ENTRY_SHARE),
          sizeCalculation: ({ body }, key) => key.length + body.byteLength + ENTRY_OVERHEAD_BYTES,
          ttlResolution: 0,
          perf: { now },
        });
  const flights = new Map<string, PendingResponse>();
  return {
    get: (key: string) => stored?.get(key),
    /** Waits for a pending response. @returns false when none is pending under the key */
    follow(key: string, follower: Follower): boolean {
      const flight = flights.get(key);
      flight?.followers.push(follower);
      return flight !== undefined;
    },
    /** Begins a response under a key. */
    begin(key: string): PendingResponse {
      const pending: PendingResponse = { key, followers: [] };
      if (!flights.has(key)) flights.set(key, pending);
      return pending;
    },
    /** Settles a pending response, once. @param seconds - time to live */
    settle(pending: PendingResponse, response: Settled, seconds = 0): void {
      const { key, followers } = pending;
      if (response != null && seconds > 0) stored?.set(key, response, { ttl: seconds * 1000 });
      if (flights.get(key) === pending) flights.delete(key);
      for (const follower of followers.splice(0)) follower(response);
    },
  };
}
