// Worker thread with the search index of the feature catalogue: building and searching it would
// block the event loop. It holds the indexes of the last two catalogues.
import { LRUCache } from 'lru-cache';
import MiniSearch from 'minisearch';
import { handleWorkerMessages } from '../json/worker-thread.ts';
import type { CatalogueEntry } from '../wire.ts';

/** Rows to add to the index of a catalogue, or words to search it for. */
export type CatalogueRequest =
  | { readonly catalogue: string; readonly rows: readonly CatalogueEntry[] }
  | { readonly catalogue: string; readonly text: string };

/** Feature indices, best match first; null when the thread does not hold the index. */
export type CatalogueHits = readonly number[] | null;

const MAX_INDEXES = 2;
/** Letters that may differ. More than two cost a multiple and find other words. */
const MAX_EDITS = 2;

type Index = MiniSearch<CatalogueEntry>;

const indexes = new LRUCache<string, Index>({ max: MAX_INDEXES });

const createIndex = (): Index =>
  new MiniSearch<CatalogueEntry>({
    idField: 'feature_index',
    fields: ['label', 'description'],
    searchOptions: {
      boost: { label: 3 },
      combineWith: 'AND',
      prefix: (term) => term.length > 2,
      fuzzy: (term) => (term.length > 4 ? 0.2 : false),
      maxFuzzy: MAX_EDITS,
    },
  });

function answer(request: CatalogueRequest): CatalogueHits {
  const { catalogue } = request;
  const index = indexes.get(catalogue);
  if ('rows' in request) {
    // Two gateways of one process may send the same rows.
    const added = index ?? createIndex();
    indexes.set(catalogue, added);
    added.addAll(request.rows.filter((row) => !added.has(row.feature_index)));
    return [];
  }
  if (index === undefined) return null;
  return index.search(request.text).map((hit) => Number(hit.id));
}

handleWorkerMessages((request) => answer(request as CatalogueRequest));
