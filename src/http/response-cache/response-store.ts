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

type Follower = (response: CachedResponse | null | undefined) => void;

/** A request whose response others may wait for. */
export interface PendingResponse {
  readonly key: string;
  readonly followers: Follower[];
}

export interface ResponseStore {
  get(key: string): CachedResponse | undefined;
  /** Waits for a pending response. @returns false when none is pending under the key */
  follow(key: string, follower: Follower): boolean;
  /** Begins a response under a key. */
  begin(key: string): PendingResponse;
  /**
   * Settles a pending response, once. Followers receive it, or null: then each is answered
   * separately.
   *
   * @param seconds - time to live
   */
  settle(pending: PendingResponse, response: CachedResponse | null, seconds?: number): void;
  /**
   * Gives up a pending response whose client has left, unless it is settled. Followers receive
   * undefined: then one of them takes its place, and the others follow that one.
   */
  abandon(pending: PendingResponse): void;
}

/** Share of all bytes that one response may take. */
const MAX_ENTRY_SHARE = 1 / 16;
/** Bytes that an entry takes beside its key and body, about. */
const ENTRY_OVERHEAD_BYTES = 1024;

/** @param maxBytes - of all responses together; 0 stores none */
export function createResponseStore(maxBytes: number, now = () => performance.now()): ResponseStore {
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
  const tell = ({ key, followers }: PendingResponse, response: CachedResponse | null | undefined): void => {
    if (flights.get(key)?.followers === followers) flights.delete(key);
    for (const follower of followers.splice(0)) follower(response);
  };
  return {
    get: (key) => stored?.get(key),
    follow(key, follower) {
      const flight = flights.get(key);
      flight?.followers.push(follower);
      return flight !== undefined;
    },
    begin(key) {
      const pending: PendingResponse = { key, followers: [] };
      if (!flights.has(key)) flights.set(key, pending);
      return pending;
    },
    settle(pending, response, seconds = 0) {
      if (response !== null && seconds > 0) stored?.set(pending.key, response, { ttl: seconds * 1000 });
      tell(pending, response);
    },
    abandon: (pending) => tell(pending, undefined),
  };
}
