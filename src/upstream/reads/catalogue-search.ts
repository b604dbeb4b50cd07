// Searches the feature catalogue by words, because the service has no filter.
import { setImmediate as turn } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import MiniSearch from 'minisearch';
import type { CatalogueEntry } from '../wire.ts';
import { searchTerms } from './search-terms.ts';

export const SEARCH_LIMITS = { characters: 200, words: 12, letters: 40 } as const;

/** Thrown for a search above the limits; the message tells which. */
export class SearchTooLong extends Error {}

/** Reads the different words of a search in their order. @throws SearchTooLong */
export function searchWords(text: string): string[] {
  const { characters, words: most, letters } = SEARCH_LIMITS;
  if (text.length > characters)
    throw new SearchTooLong(
      `\`search\` has ${text.length} characters; at most ${characters} are searched. ` +
        'Give the words that matter.',
    );
  const words = [...new Set(searchTerms(text))];
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

/** Rows indexed in one turn of the event loop: some 20 ms. */
const ROWS_AT_ONCE = 200;
/** Searches that are kept: 8 MB at most, each hit taking eight bytes. */
const MAX_KEPT_SEARCHES = 64;
/** Letters that may differ. More than two cost a multiple and find other words. */
const MAX_EDITS = 2;

/** Finds features by words. */
export interface CatalogueSearch {
  /** @returns the indices of features that match all words, best match first */
  find(words: readonly string[]): Promise<number[]>;
}

/** @param entries - indexed when they are first searched */
export function createCatalogueSearch(entries: ReadonlyMap<number, CatalogueEntry>): CatalogueSearch {
  const searches = new LRUCache<string, Promise<number[]>>({ max: MAX_KEPT_SEARCHES });
  let indexing: Promise<MiniSearch<CatalogueEntry>> | undefined;

  async function buildIndex(): Promise<MiniSearch<CatalogueEntry>> {
    const known = new Map<string, readonly string[]>();
    const index = new MiniSearch<CatalogueEntry>({
      idField: 'feature_index',
      fields: ['label', 'description'],
      tokenize: (text) => searchTerms(text, known),
      processTerm: (term) => term,
      searchOptions: {
        tokenize: searchTerms,
        boost: { label: 3 },
        prefix: (term) => term.length > 2,
        fuzzy: (term) => (term.length > 4 ? 0.2 : false),
        maxFuzzy: MAX_EDITS,
      },
    });
    await index.addAllAsync([...entries.values()], { chunkSize: ROWS_AT_ONCE });
    known.clear();
    return index;
  }

  async function search(words: readonly string[]): Promise<number[]> {
    indexing ??= buildIndex();
    const index = await indexing;
    let scores: ReadonlyMap<number, number> | undefined;
    // A frequent word takes some 10 ms: each is searched in a turn of its own.
    for (const word of words) {
      const found = new Map<number, number>();
      for (const { id, score } of index.search(word)) {
        const before = scores === undefined ? 0 : scores.get(id);
        if (before !== undefined) found.set(id, before + score);
      }
      scores = found;
      await turn();
    }
    return [...(scores ?? [])].sort(([a, one], [b, other]) => other - one || a - b).map(([id]) => id);
  }

  return {
    find(words) {
      const text = words.join(' ');
      const found = searches.get(text) ?? search(words);
      searches.set(text, found);
      return found;
    },
  };
}
