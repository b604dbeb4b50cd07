// The feature catalogue: all SAE features with label and description, loaded once for the whole process and searched
// here, because the service has no filter of its own. It knows nothing of requests; a caller that leaves does not stop it.
import MiniSearch from 'minisearch';
import type { Cache } from '../store/cache.ts';
import * as atlas from './atlas.ts';
import type { Upstream } from './http.ts';
import type { CatalogueEntry } from './wire.ts';

export interface Catalogue {
  /** All entries by index; the map's order is that of the index. */
  entries(up: Upstream): Promise<ReadonlyMap<number, CatalogueEntry>>;
  /** The indices of the entries whose label or description match, best first; words may be begun or misspelt. */
  search(up: Upstream, text: string): Promise<readonly number[]>;
}

/** A loaded catalogue, its search index built when first searched. */
export interface LoadedCatalogue {
  readonly entries: ReadonlyMap<number, CatalogueEntry>;
  index?: Promise<MiniSearch<CatalogueEntry>>;
}

async function buildIndex(entries: ReadonlyMap<number, CatalogueEntry>): Promise<MiniSearch<CatalogueEntry>> {
  const index = new MiniSearch<CatalogueEntry>({
    idField: 'feature_index',
    fields: ['label', 'description'],
    searchOptions: {
      boost: { label: 3 },
      combineWith: 'AND',
      prefix: (term) => term.length > 2,
      fuzzy: (term) => (term.length > 4 ? 0.2 : false),
    },
  });
  // In slices: sixteen thousand descriptions at once would hold the event loop for a second.
  await index.addAllAsync([...entries.values()], { chunkSize: 100 });
  return index;
}

/**
 * The catalogue over a cache namespace.
 *
 * @param cache - where the loaded catalogue is kept; its TTL says how old it may grow
 */
export function openCatalogue(cache: Cache<LoadedCatalogue>): Catalogue {
  const load = (up: Upstream): Promise<LoadedCatalogue> =>
    cache.wrap('all', async () => {
      const rows = await atlas.features({ ...up, signal: undefined });
      rows.sort((a, b) => a.feature_index - b.feature_index);
      return { entries: new Map(rows.map((row) => [row.feature_index, row])) };
    });
  return {
    entries: async (up) => (await load(up)).entries,
    async search(up, text) {
      const loaded = await load(up);
      loaded.index ??= buildIndex(loaded.entries);
      return (await loaded.index).search(text).map((hit) => Number(hit.id));
    },
  };
}
