// The feature catalogue: all SAE features with label and description. It is cached for all
// processes that share a store, and refreshed in the background.
import { createHash } from 'node:crypto';
import { abortable } from '../../async/single-flight.ts';
import type { Cache } from '../../store/cache/cache.ts';
import * as atlas from '../atlas.ts';
import type { Upstream } from '../http/call.ts';
import type { CatalogueEntry } from '../wire.ts';
import { type CatalogueSearch, createCatalogueSearch } from './catalogue-search.ts';

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

/**
 * The catalogue that was parsed last. A refresh that brings nothing new keeps its index, and
 * gateways of one process share it.
 */
let last: Parsed | undefined;

/** @param cache - caches the raw answer; its times control the refresh */
export function openCatalogue(cache: Cache<Buffer>): Catalogue {
  /** The same answer is one object in the cache, and parsed once. */
  const parsed = new WeakMap<Buffer, Promise<Parsed>>();

  async function parse(json: Buffer): Promise<Parsed> {
    const digest = createHash('sha256').update(json).digest('base64url');
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
