// The feature catalogue: all SAE features with label and description, searched here because the
// service has no filter. Cached for all processes that share a store and refreshed in the
// background. A caller that aborts does not stop the load.
import { createHash } from 'node:crypto';
import { setImmediate as turn } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import MiniSearch from 'minisearch';
import { abortable } from '../../async/single-flight.ts';
import type { Cache } from '../../store/cache/cache.ts';
import * as atlas from '../atlas.ts';
import type { Upstream } from '../http/upstream-client.ts';
import { createWorker } from '../json/worker-thread.ts';
import type { CatalogueEntry } from '../wire.ts';
import type { CatalogueHits, CatalogueRequest } from './catalogue-worker.ts';

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

const ask = createWorker('upstream/reads/catalogue-worker');

const askWorker = (request: CatalogueRequest): Promise<CatalogueHits> =>
  ask(request) as Promise<CatalogueHits>;

/** Finds the features of one catalogue by words, best match first. */
export type CatalogueSearch = (words: readonly string[]) => Promise<readonly number[]>;

/**
 * @param catalogue - digest of its content
 * @param entries - indexed when first searched
 */
function createCatalogueSearch(
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

export type Catalogue = ReturnType<typeof openCatalogue>;

interface Parsed {
  readonly digest: string;
  readonly entries: ReadonlyMap<number, CatalogueEntry>;
  readonly indices: readonly number[];
  readonly search: CatalogueSearch;
}

/** @param cache - caches the raw answer; its times control the refresh */
export function openCatalogue(cache: Cache<Buffer>) {
  /** The same answer is one object in the cache, and parsed once. */
  const parsed = new WeakMap<Buffer, Promise<Parsed>>();
  let last: Parsed | undefined;

  const parse = async (json: Buffer): Promise<Parsed> => {
    const digest = createHash('sha256').update(json).digest('base64url');
    // A refresh that brought nothing new keeps the index.
    if (last?.digest === digest) return last;
    const rows = await atlas.readCatalogue(json);
    rows.sort((a, b) => a.feature_index - b.feature_index);
    const entries = new Map(rows.map((row) => [row.feature_index, row]));
    const search = createCatalogueSearch(digest, entries);
    last = { digest, entries, indices: [...entries.keys()], search };
    return last;
  };
  const parsedOf = (json: Buffer): Promise<Parsed> => {
    const before = parsed.get(json);
    if (before !== undefined) return before;
    const parsing = parse(json);
    parsed.set(json, parsing);
    return parsing;
  };
  const load = async (up: Upstream): Promise<Parsed> => {
    const reading = cache.wrap(
      'all',
      async () => {
        const answer = await atlas.features({ ...up, signal: undefined });
        // Throws before an unreadable answer is cached.
        await parsedOf(answer);
        return answer;
      },
      { onHit: () => up.onCacheHit?.('catalogue', 1) },
    );
    const json = await abortable(reading, up.signal);
    return parsedOf(json);
  };
  return {
    /** All entries by index; the map's order is that of the index. */
    entries: async (up: Upstream) => (await load(up)).entries,
    /** All indices, ascending: listed once, a third of the cost of a page of ten. */
    indices: async (up: Upstream) => (await load(up)).indices,
    /** The indices of entries that match all words (prefixes and typos allowed), best first. */
    search: async (up: Upstream, words: readonly string[]) =>
      abortable((await load(up)).search(words), up.signal),
  };
}
