// A cached read of public data. Identical reads in flight are one call, which aborts when the last
// caller does.

import type { SingleFlight } from '../../async/single-flight.ts';
import type { Cache } from '../../store/cache/cache.ts';
import type { Upstream } from '../http/upstream-client.ts';

/** Cache and single-flight of such reads; `name` labels their metrics. */
export interface CachedReads<T> {
  readonly cache: Cache<T>;
  readonly singleFlight: SingleFlight;
  readonly name: string;
}

/**
 * The value of a key, from the cache or by `load`.
 *
 * @param load - receives the upstream with the signal that aborts after the last caller
 */
export function cachedRead<T, R extends T | null>(
  { cache, singleFlight, name }: CachedReads<T>,
  up: Upstream,
  key: string,
  load: (up: Upstream) => Promise<R>,
): Promise<T | R> {
  return singleFlight(`${name} ${key}`, up.signal, async ({ signal }) => {
    let isCached = false;
    const read = () =>
      cache.wrap<R>(
        key,
        // A stale value is refreshed in the background: no caller waits.
        () => load({ ...up, signal: isCached ? undefined : signal }),
        () => {
          isCached = true;
          up.onCacheHit?.(name, 1);
        },
      );
    try {
      return await read();
    } catch (error) {
      // It was begun for others, and the last of them left just before.
      const others = error instanceof Error && error.name === 'AbortError' && !signal.aborted;
      if (!others) throw error;
      return read();
    }
  });
}
