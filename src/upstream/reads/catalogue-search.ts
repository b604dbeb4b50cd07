// Searches the feature catalogue in a worker thread. Results are cached by query, for all callers.
import { setImmediate as turn } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import MiniSearch from 'minisearch';
import { createWorker } from '../json/worker-thread.ts';
import type { CatalogueEntry } from '../wire.ts';
import type { CatalogueHits, CatalogueRequest } from './catalogue-worker.ts';

/** What a search may be at most. */
export const SEARCH_LIMITS = { characters: 200, words: 12, letters: 40 } as const;

/** Thrown for a search above the limits; the message tells which. */
export class SearchTooLong extends Error {}

const tokenize: (text: string) => string[] = MiniSearch.getDefault('tokenize');

/** Reads the different words of a search, lower-cased, in their order. @throws SearchTooLong */
export function searchWords(text: string): string[] {
  const { characters, words: most, letters } = SEARCH_LIMITS;
  if (text.length > characters)
    throw new SearchTooLong(
      `\`search\` has ${text.length} characters; at most ${characters} are searched. ` +
        'Give the words that matter.',
    );
  const words = [...new Set(tokenize(text).map((word) => word.toLowerCase()))].filter((word) => word !== '');
  if (words.length > most)
    throw new SearchTooLong(
      `\`search\` has ${words.length} different words; at most ${most} are searched. Give those that matter.`,
    );
  const longest = Math.max(0, ...words.map(({ length }) => length));
  if (longest > letters)
    throw new SearchTooLong(
      `A word of \`search\` has ${longest} letters; at most ${letters} are searched. Give its beginning.`,
    );
  return words;
}

/** Rows sent to the thread at once: a millisecond of copying. */
const ROWS_AT_ONCE = 500;
/** Cached searches: 8 MB at most, each hit taking eight bytes. */
const MAX_CACHED_SEARCHES = 64;

const ask = createWorker('../reads/catalogue-worker');

const askWorker = (request: CatalogueRequest): Promise<CatalogueHits> =>
  ask(request) as Promise<CatalogueHits>;

/** Finds the features of one catalogue by words, best match first. */
export type CatalogueSearch = (words: readonly string[]) => Promise<readonly number[]>;

/**
 * @param catalogue - digest of its content
 * @param entries - indexed when first searched
 */
export function createCatalogueSearch(
  catalogue: string,
  entries: ReadonlyMap<number, CatalogueEntry>,
): CatalogueSearch {
  const cached = new LRUCache<string, Promise<readonly number[]>>({ max: MAX_CACHED_SEARCHES });
  let indexing: Promise<void> | undefined;

  const sendRows = async (): Promise<void> => {
    const rows = [...entries.values()];
    for (let start = 0; start < rows.length; start += ROWS_AT_ONCE) {
      await askWorker({ catalogue, rows: rows.slice(start, start + ROWS_AT_ONCE) });
      await turn();
    }
  };
  const find = async (text: string): Promise<readonly number[]> => {
    await indexing?.catch(() => undefined);
    const hits = await askWorker({ catalogue, text });
    if (hits !== null) return hits;
    // Not indexed yet, or the thread was restarted or has indexed other catalogues since.
    indexing ??= sendRows().finally(() => {
      indexing = undefined;
    });
    await indexing;
    const found = await askWorker({ catalogue, text });
    if (found === null) throw new Error('The search thread did not keep the index of the catalogue.');
    return found;
  };
  return (words) => {
    const text = words.join(' ');
    const known = cached.get(text);
    if (known !== undefined) return known;
    const found = find(text);
    cached.set(text, found);
    found.catch(() => cached.delete(text));
    return found;
  };
}
