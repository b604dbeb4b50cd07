// Buckets in this process. It must not know whose they are.
import { LRUCache } from 'lru-cache';
import { type TokenBucketStore, takeTokens } from './token-bucket.ts';

/** Buckets that are remembered; of more, those that were not used for longest are full again. */
const MOST = 100_000;

/** Opens buckets that only this process knows. @param now - milliseconds since the epoch */
export function openMemoryRates(now: () => number = Date.now): TokenBucketStore {
  // By size: room for a `max` would be taken at once.
  const buckets = new LRUCache<string, number>({ maxSize: MOST, sizeCalculation: () => 1 });
  return {
    async take(take) {
      const { fullAt, ...taken } = takeTokens(buckets.get(take.key) ?? 0, now(), take);
      buckets.set(take.key, fullAt);
      return taken;
    },
    async close() {
      buckets.clear();
    },
  };
}
