// The caches of Atlas answers, which all requests of a process share: how long each keeps them, and
// how much. Public data only.
import { createSingleFlight } from '../../async/single-flight.ts';
import { type Cache, type CacheOptions, createCache } from '../../store/cache/cache.ts';
import type { SharedStore } from '../../store/cache/shared-cache.ts';
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
const MiB = 1024 * 1024;

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
}

/** The times of a cache, its size, and what it takes. */
type Limits<T> = Pick<CacheOptions<T>, 'ttl' | 'stale' | 'maxBytes' | 'estimateBytes' | 'isCacheable'>;

export function createAtlasCaches({
  recordSeconds,
  store,
  onError,
  onLookup,
}: AtlasCacheOptions): AtlasCaches {
  const ttl = recordSeconds * 1000;
  const singleFlight = createSingleFlight();

  const create = <T>(namespace: string, limits: Limits<T>): Cache<T> =>
    createCache<T>({ namespace, onError, onLookup, shared: store?.namespace(namespace), ...limits });
  /** A cache of what may change any day; undefined where such things are not cached. */
  const createForRecords = <T>(namespace: string, limits: Omit<Limits<T>, 'ttl'>): Cache<T> | undefined =>
    ttl === 0 ? undefined : create(namespace, { ttl, ...limits });

  const records = createForRecords<ProteinRecord>('proteins', {
    maxBytes: 32 * MiB,
    estimateBytes: estimateRecordBytes,
  });
  const identities = create<ProteinRecord>('identities', {
    ttl: YEAR_MS,
    maxBytes: 8 * MiB,
    estimateBytes: estimateRecordBytes,
  });
  const clusters = createForRecords<LoadedCluster>('clusters', {
    maxBytes: 32 * MiB,
    estimateBytes: ({ cluster }) => 4096 + 200 * cluster.record.member_protein_hashes.length,
  });
  const searches = createForRecords<LoadedSearch>('searches', {
    maxBytes: 16 * MiB,
    estimateBytes: ({ answer }) => 4096 + 400 * answer.similar_proteins.length,
  });
  const features = create<LoadedFeature>('features', {
    ttl: YEAR_MS,
    maxBytes: 32 * MiB,
    estimateBytes: () => 12 * 1024,
    isCacheable: isWholeFeature,
  });
  const uniprot = create<LoadedEntry>('uniprot', {
    ttl: DAY_MS,
    stale: MONTH_MS,
    maxBytes: 16 * MiB,
    estimateBytes: ({ record }) => 2048 + 4 * (record.sequence?.length ?? 0),
    // One that leaves out whose protein it is may be whole a moment later.
    isCacheable: ({ record }) => record.sequence !== undefined || record.protein_hash !== undefined,
  });
  const thumbnails = create<Thumbnail>('thumbnails', {
    ttl: YEAR_MS,
    maxBytes: 64 * MiB,
    estimateBytes: ({ png }) => png.byteLength,
  });
  const catalogue = create<Buffer>('catalogue', {
    ttl: DAY_MS,
    stale: MONTH_MS,
    maxBytes: 32 * MiB,
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
  };
}
