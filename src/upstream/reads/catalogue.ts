// The feature catalogue: all SAE features with label and description, searched here because the
// service has no filter. Cached for all processes that share a store and refreshed in the
// background. A caller that aborts does not stop the load.
import { createHash } from 'node:crypto';
import { abortable } from '../../async/single-flight.ts';
import type { Cache } from '../../store/cache/cache.ts';
import * as atlas from '../atlas.ts';
import type { Upstream } from '../http/upstream-client.ts';
import type { CatalogueEntry } from '../wire.ts';
import { type CatalogueSearch, createCatalogueSearch } from './catalogue-search.ts';

export interface Catalogue {
  /** All entries by index; the map's order is that of the index. */
  entries(up: Upstream): Promise<ReadonlyMap<number, CatalogueEntry>>;
  /**
   * The indices of all entries, ascending: listed once, which is a third of the cost of a page of
   * ten.
   */
  indices(up: Upstream): Promise<readonly number[]>;
  /** The indices of entries that match all words (prefixes and typos allowed), best first. */
  search(up: Upstream, words: readonly string[]): Promise<readonly number[]>;
}

/** A parsed catalogue. */
interface Parsed {
  readonly digest: string;
  readonly entries: ReadonlyMap<number, CatalogueEntry>;
  readonly indices: readonly number[];
  readonly search: CatalogueSearch;
}

/**
 * The catalogue over a cache namespace.
 *
 * @param cache - caches the raw answer; its times control the refresh
 */
export function openCatalogue(cache: Cache<Buffer>): Catalogue {
  /** The same answer is one object in the cache, and parsed once. */
  const parsed = new WeakMap<Buffer, Promise<Parsed>>();
  let last: Parsed | undefined;

  const parse = async (up: Upstream, json: Buffer): Promise<Parsed> => {
    const digest = createHash('sha256').update(json).digest('base64url');
    // A refresh that brought nothing new keeps the index.
    if (last?.digest === digest) return last;
    const rows = await atlas.readCatalogue(up, json);
    rows.sort((a, b) => a.feature_index - b.feature_index);
    const entries = new Map(rows.map((row) => [row.feature_index, row]));
    const search = createCatalogueSearch(digest, entries);
    last = { digest, entries, indices: [...entries.keys()], search };
    return last;
  };
  const parsedOf = (up: Upstream, json: Buffer): Promise<Parsed> => {
    const before = parsed.get(json);
    if (before !== undefined) return before;
    const parsing = parse(up, json);
    parsed.set(json, parsing);
    return parsing;
  };
  const load = async (up: Upstream): Promise<Parsed> => {
    const reading = cache.wrap(
      'all',
      async () => {
        const answer = await atlas.features({ ...up, signal: undefined });
        // Throws before an unreadable answer is cached.
        await parsedOf(up, answer);
        return answer;
      },
      () => up.onCacheHit?.('catalogue', 1),
    );
    const json = await abortable(reading, up.signal);
    return parsedOf(up, json);
  };
  return {
    entries: async (up) => (await load(up)).entries,
    indices: async (up) => (await load(up)).indices,
    search: async (up, words) => abortable((await load(up)).search(words), up.signal),
  };
}
