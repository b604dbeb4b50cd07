// The feature catalogue: all SAE features with label and description, searched here because the
// service has no filter. It is cached for all processes that share a store, and refreshed in the
// background.
import { createHash } from 'node:crypto';
import { setImmediate as turn } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import MiniSearch from 'minisearch';
import { abortable } from '../../async/single-flight.ts';
import type { Cache } from '../../store/cache/cache.ts';
import * as atlas from '../atlas.ts';
import type { Upstream } from '../http/upstream-client.ts';
import type { CatalogueEntry } from '../wire.ts';

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

/** Rows indexed in one turn of the event loop: some 20 ms. */
const ROWS_AT_ONCE = 200;
/** Searches that are kept: 8 MB at most, each hit taking eight bytes. */
const MAX_KEPT_SEARCHES = 64;
/** Letters that may differ. More than two cost a multiple and find other words. */
const MAX_EDITS = 2;

/** Finds features by words. */
interface CatalogueSearch {
  /** @returns the indices of features that match all words, best match first */
  find(words: readonly string[]): Promise<number[]>;
}

/** @param entries - indexed when they are first searched */
function createCatalogueSearch(entries: ReadonlyMap<number, CatalogueEntry>): CatalogueSearch {
  const searches = new LRUCache<string, Promise<number[]>>({ max: MAX_KEPT_SEARCHES });
  let indexing: Promise<MiniSearch<CatalogueEntry>> | undefined;

  async function buildIndex(): Promise<MiniSearch<CatalogueEntry>> {
    const index = new MiniSearch<CatalogueEntry>({
      idField: 'feature_index',
      fields: ['label', 'description'],
      searchOptions: {
        boost: { label: 3 },
        prefix: (term) => term.length > 2,
        fuzzy: (term) => (term.length > 4 ? 0.2 : false),
        maxFuzzy: MAX_EDITS,
      },
    });
    await index.addAllAsync([...entries.values()], { chunkSize: ROWS_AT_ONCE });
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

/** The feature catalogue of the service. A caller that leaves does not stop a load. */
export interface Catalogue {
  /** All entries by index; the map's order is that of the index. */
  entries(up: Upstream): Promise<ReadonlyMap<number, CatalogueEntry>>;
  /** All indices, ascending: listed once, a third of the cost of a page of ten. */
  indices(up: Upstream): Promise<readonly number[]>;
  /** The indices of entries that match all words (prefixes and typos allowed), best first. */
  search(up: Upstream, words: readonly string[]): Promise<readonly number[]>;
}

interface Parsed {
  readonly digest: string;
  readonly entries: ReadonlyMap<number, CatalogueEntry>;
  readonly indices: readonly number[];
  readonly search: CatalogueSearch;
}

/** @param cache - caches the raw answer; its times control the refresh */
export function openCatalogue(cache: Cache<Buffer>): Catalogue {
  /** The same answer is one object in the cache, and parsed once. */
  const parsed = new WeakMap<Buffer, Promise<Parsed>>();
  let last: Parsed | undefined;

  async function parse(json: Buffer): Promise<Parsed> {
    const digest = createHash('sha256').update(json).digest('base64url');
    // A refresh that brought nothing new keeps the index.
    if (last?.digest === digest) return last;
    const rows = await atlas.readCatalogue(json);
    rows.sort((a, b) => a.feature_index - b.feature_index);
    const entries = new Map(rows.map((row) => [row.feature_index, row]));
    last = { digest, entries, indices: [...entries.keys()], search: createCatalogueSearch(entries) };
    return last;
  }

  function parseOnce(json: Buffer): Promise<Parsed> {
    const parsing = parsed.get(json) ?? parse(json);
    parsed.set(json, parsing);
    return parsing;
  }

  async function load(up: Upstream): Promise<Parsed> {
    const reading = cache.wrap(
      'all',
      async () => {
        const answer = await atlas.features({ ...up, signal: undefined });
        // Throws before an unreadable answer is cached.
        await parseOnce(answer);
        return answer;
      },
      { onHit: () => up.onCacheHit?.('catalogue', 1) },
    );
    return parseOnce(await abortable(reading, up.signal));
  }

  return {
    entries: async (up) => (await load(up)).entries,
    indices: async (up) => (await load(up)).indices,
    async search(up, words) {
      const { search } = await load(up);
      return abortable(search.find(words), up.signal);
    },
  };
}
