// Caches parsed documents, limited by the length of their texts: a limit on their number would let
// a few callers with long documents fill the memory.
import { LRUCache } from 'lru-cache';

/** A parsed document takes about a hundred times as many bytes as its text has characters. */
const MOST_CHARACTERS = 1_000_000;
const LONGEST = 50_000;

/** A cache keyed by the text of a document. */
export interface DocumentCache<T> {
  get(text: string): T | undefined;
  set(text: string, value: T): void;
}

export function createDocumentCache<T extends object>(most = MOST_CHARACTERS): DocumentCache<T> {
  const kept = new LRUCache<string, T>({
    maxSize: most,
    maxEntrySize: LONGEST,
    sizeCalculation: (_, text) => Math.max(1, text.length),
  });
  return {
    get: (text) => kept.get(text),
    set: (text, value) => void kept.set(text, value),
  };
}
