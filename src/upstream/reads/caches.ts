// The caches of Atlas answers, which all requests of a process share: how long each keeps them, and
// how much. Public data only.
import { createSingleFlight } from '../../async/single-flight.ts';
import { CACHE_BYTES, type CacheName } from '../../config/cache-bytes.ts';
import { type Cache, type CacheOptions, createCache } from '../../store/cache/cache.ts';
import type { SharedStore } from '../../store/cache/shared-cache.ts';
import type { WithRaw } from '../http/validate-response.ts';
import type { ProteinLoaderDependencies } from '../proteins/loader.ts';
import { createProteinCache, estimateRecordBytes, noProteinCache } from '../proteins/protein-cache.ts';
import type { ProteinRecord } from '../proteins/record.ts';
import { type CachedReads, isWholeFeature, type LoadedEntry, type LoadedFeature } from './cached-reads.ts';
import type { ClusterDependencies, LoadedCluster } from './cluster-loader.ts';
import type { LoadedSearch, SimilarityDependencies } from './similarity-loader.ts';
import type { Thumbnail } from './thumbnails.ts';

const DAY_MS = 24 * 3_600_000;
const MONTH_MS = 30 * DAY_MS;
const YEAR_MS = 365 * DAY_MS;

export interface AtlasCacheOptions {
  /** How long records, clusters and searches are cached; 0: not at all. */
  readonly recordSeconds: number;
  /** The second tier of the caches, which replicas share; undefined without one. */
  readonly store: SharedStore | undefined;
  /** Called with every failure of the cache, which is then bypassed. */
  readonly onError: (error: unknown) => void;
  readonly onLookup?: CacheOptions<never>['onLookup'];
}

/** The caches, each as its reader takes it. */
export interface AtlasCaches {
  readonly proteins: ProteinLoaderDependencies;
  readonly clusters: ClusterDependencies;
  readonly searches: SimilarityDependencies;
  readonly features: CachedReads<LoadedFeature>;
  readonly uniprot: CachedReads<LoadedEntry>;
  readonly thumbnails: CachedReads<Thumbnail>;
  readonly catalogue: Cache<Buffer>;
  /** The estimated memory of each, by name. */
  bytes(): Partial<Record<AtlasCacheName, number>>;
}

/** The caches of Atlas answers by their names in the metrics. */
type AtlasCacheName = Exclude<CacheName, 'responses' | 'documents' | 'document-errors'>;

/** Memory of an answer: its objects as they came and as they were read, and their texts. */
const estimateJsonBytes = ({ jsonBytes }: WithRaw<unknown>): number => 512 + 2.5 * jsonBytes;

/** The times of a cache, and what it takes. */
type Limits<T> = Pick<CacheOptions<T>, 'ttl' | 'stale' | 'estimateBytes' | 'isCacheable'>;

export function createAtlasCaches({
  recordSeconds,
  store,
  onError,
  onLookup,
}: AtlasCacheOptions): AtlasCaches {
  const ttl = recordSeconds * 1000;
  const singleFlight = createSingleFlight();
  const readBytes: [AtlasCacheName, () => number][] = [];

  const create = <T>(namespace: AtlasCacheName, limits: Limits<T>): Cache<T> => {
    const maxBytes = CACHE_BYTES[namespace];
    const shared = store?.namespace(namespace);
    const cache = createCache<T>({ namespace, maxBytes, onError, onLookup, shared, ...limits });
    readBytes.push([namespace, cache.bytes]);
    return cache;
  };
  /** A cache of what may change any day; undefined where such things are not cached. */
  const createForRecords = <T>(
    namespace: AtlasCacheName,
    limits: Omit<Limits<T>, 'ttl'>,
  ): Cache<T> | undefined => (ttl === 0 ? undefined : create(namespace, { ttl, ...limits }));

  const records = createForRecords<ProteinRecord>('proteins', {
    estimateBytes: estimateRecordBytes,
  });
  const identities = create<ProteinRecord>('identities', {
    ttl: YEAR_MS,
    estimateBytes: estimateRecordBytes,
  });
  const clusters = createForRecords<LoadedCluster>('clusters', {
    estimateBytes: ({ cluster }) => estimateJsonBytes(cluster),
  });
  const searches = createForRecords<LoadedSearch>('searches', {
    estimateBytes: ({ answer }) => 4096 + 400 * answer.similar_proteins.length,
  });
  const features = create<LoadedFeature>('features', {
    ttl: YEAR_MS,
    estimateBytes: estimateJsonBytes,
    isCacheable: isWholeFeature,
  });
  const uniprot = create<LoadedEntry>('uniprot', {
    ttl: DAY_MS,
    stale: MONTH_MS,
    estimateBytes: estimateJsonBytes,
    // One that leaves out whose protein it is may be whole a moment later.
    isCacheable: ({ record }) => record.sequence !== undefined || record.protein_hash !== undefined,
  });
  const thumbnails = create<Thumbnail>('thumbnails', {
    ttl: YEAR_MS,
    estimateBytes: ({ png }) => png.byteLength,
  });
  const catalogue = create<Buffer>('catalogue', {
    ttl: DAY_MS,
    stale: MONTH_MS,
    estimateBytes: (json) => json.byteLength,
  });
  return {
    proteins: {
      cache: records ? createProteinCache(records, identities, ttl) : noProteinCache,
      singleFlight,
    },
    clusters: { cache: clusters, singleFlight },
    searches: { cache: searches, singleFlight },
    features: { name: 'features', cache: features },
    uniprot: { name: 'uniprot', cache: uniprot },
    thumbnails: { name: 'thumbnails', cache: thumbnails },
    catalogue,
    bytes: () => Object.fromEntries(readBytes.map(([name, read]) => [name, read()])),
  };
}
