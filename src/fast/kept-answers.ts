// Finished answers kept as bytes for the next time that the same is asked, bounded by their size. It knows neither HTTP nor GraphQL.
import { LRUCache } from 'lru-cache';

export interface KeptAnswers<T> {
  get(key: string): T | undefined;
  /** @param seconds - for how long it is true */
  set(key: string, answer: T, seconds: number): void;
}

/** No answer is kept that takes more than so much of all. */
const LARGEST_SHARE = 1 / 16;
/** Bytes that an entry takes beside its key and body, about. */
const OVERHEAD = 1024;

/** @param mostBytes - of all answers together; 0 keeps nothing */
export function openKeptAnswers<T extends { readonly body: { readonly byteLength: number } }>(
  mostBytes: number,
  now = () => performance.now(),
): KeptAnswers<T> {
  if (mostBytes === 0) return { get: () => undefined, set: () => undefined };
  const kept = new LRUCache<string, T>({
    maxSize: mostBytes,
    maxEntrySize: Math.floor(mostBytes * LARGEST_SHARE),
    sizeCalculation: ({ body }, key) => key.length + body.byteLength + OVERHEAD,
    ttlResolution: 0,
    perf: { now },
  });
  return {
    get: (key) => kept.get(key),
    set: (key, answer, seconds) => {
      if (seconds > 0) kept.set(key, answer, { ttl: seconds * 1000 });
      else kept.delete(key);
    },
  };
}
