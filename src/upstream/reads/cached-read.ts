// A read of public data that is kept for all requests: one call for all who want it at the same time, ended when the last of them
// has left, kept when it came. It knows nothing of what is read.

import type { SingleFlight } from '../../async/single-flight.ts';
import type { Cache } from '../../store/cache/cache.ts';
import type { Upstream } from '../http/upstream-client.ts';

/** Where such reads are kept and shared; `name` is what they are called in counts. */
export interface CachedReads<T> {
  readonly cache: Cache<T>;
  readonly singleFlight: SingleFlight;
  readonly name: string;
}

/**
 * The value of a key, from the cache or by `load`.
 *
 * @param load - is given the upstream whose signal says that nobody waits any more
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
        // A value that is there is renewed behind the answer: nobody waits for that.
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
