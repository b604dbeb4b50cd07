// The Atlas as a process reads it: the caches with their lifetimes, and the loaders of each request
// over them. Public data only.
import { createSingleFlight } from '../../async/single-flight.ts';
import { type Cache, type CacheOptions, createCache } from '../../store/cache/cache.ts';
import type { SharedStore } from '../../store/cache/shared-cache.ts';
import type { Upstream } from '../http/upstream-client.ts';
import {
  createProteinLoader,
  type ProteinLoader,
  type ProteinLoaderDependencies,
} from '../proteins/loader.ts';
import { createProteinCache, estimateRecordBytes, noProteinCache } from '../proteins/protein-cache.ts';
import type { ProteinRecord } from '../proteins/record.ts';
import {
  type CachedReads,
  createFeatureLoader,
  createUniprotLoader,
  type FeatureLoader,
  isWholeFeature,
  type LoadedEntry,
  type LoadedFeature,
  type UniprotLoader,
} from './cached-reads.ts';
import { type Catalogue, openCatalogue } from './catalogue.ts';
import {
  type ClusterDependencies,
  type ClusterLoader,
  createClusterLoader,
  type LoadedCluster,
} from './cluster-loader.ts';
import {
  createSimilarityLoader,
  type LoadedSearch,
  type SimilarityDependencies,
  type SimilarityLoader,
} from './similarity-loader.ts';
import { createThumbnails, type Thumbnail, type Thumbnails } from './thumbnails.ts';

const YEAR_MS = 365 * 24 * 3_600_000;
const DAY_MS = 24 * 3_600_000;
const MONTH_MS = 30 * DAY_MS;
const MiB = 1024 * 1024;

export interface ReadsOptions {
  /** How long records, clusters and searches are cached; 0: not at all. */
  readonly recordSeconds: number;
  /** The second tier of the caches, which replicas share; undefined without one. */
  readonly store: SharedStore | undefined;
  /** Called with every failure of the cache, which is then bypassed. */
  readonly onError: (error: unknown) => void;
  readonly onLookup?: CacheOptions<never>['onLookup'];
}

/** The dependencies that the loaders of all requests share. */
interface SharedDependencies {
  readonly proteins: ProteinLoaderDependencies;
  readonly clusters: ClusterDependencies;
  readonly searches: SimilarityDependencies;
  readonly features: CachedReads<LoadedFeature>;
  readonly uniprot: CachedReads<LoadedEntry>;
}

/** The loaders of one request. */
export interface Loaders {
  readonly proteins: ProteinLoader;
  readonly searches: SimilarityLoader;
  readonly clusters: ClusterLoader;
  readonly features: FeatureLoader;
  readonly uniprot: UniprotLoader;
}

export interface LoaderFactory {
  readonly catalogue: Catalogue;
  readonly thumbnails: Thumbnails;
  loaders(up: Upstream): Loaders;
}

function createLoaders(up: Upstream, shared: SharedDependencies): Loaders {
  const clusters = createClusterLoader(up, shared.clusters);
  const proteins = createProteinLoader(up, shared.proteins, clusters);
  return {
    clusters,
    proteins,
    searches: createSimilarityLoader(up, shared.searches, proteins),
    features: createFeatureLoader(up, shared.features),
    uniprot: createUniprotLoader(up, shared.uniprot),
  };
}

export function createLoaderFactory(options: ReadsOptions): LoaderFactory {
  const { recordSeconds, store, onError, onLookup } = options;
  const ttl = recordSeconds * 1000;
  const singleFlight = createSingleFlight();

  function open<T>(
    namespace: string,
    ttl: number,
    maxBytes: number,
    estimateBytes: (value: T) => number,
    more: Pick<CacheOptions<T>, 'stale' | 'isCacheable'> = {},
  ): Cache<T> {
    const shared = store?.namespace(namespace);
    return createCache<T>({ namespace, ttl, maxBytes, estimateBytes, onError, onLookup, shared, ...more });
  }
  /** A cache of what may change any day; undefined where such things are not cached. */
  const openRecords = <T>(namespace: string, maxBytes: number, estimateBytes: (value: T) => number) =>
    ttl === 0 ? undefined : open(namespace, ttl, maxBytes, estimateBytes);

  const records = openRecords<ProteinRecord>('proteins', 32 * MiB, estimateRecordBytes);
  const identities = open<ProteinRecord>('identities', YEAR_MS, 8 * MiB, estimateRecordBytes);
  const shared: SharedDependencies = {
    proteins: {
      cache: records ? createProteinCache(records, identities, ttl) : noProteinCache,
      singleFlight,
    },
    clusters: {
      cache: openRecords<LoadedCluster>(
        'clusters',
        32 * MiB,
        ({ cluster }) => 4096 + 200 * cluster.record.member_protein_hashes.length,
      ),
      singleFlight,
    },
    searches: {
      cache: openRecords<LoadedSearch>(
        'searches',
        16 * MiB,
        ({ answer }) => 4096 + 400 * answer.similar_proteins.length,
      ),
      singleFlight,
    },
    features: {
      name: 'features',
      cache: open<LoadedFeature>('features', YEAR_MS, 32 * MiB, () => 12 * 1024, {
        isCacheable: isWholeFeature,
      }),
    },
    uniprot: {
      name: 'uniprot',
      cache: open<LoadedEntry>(
        'uniprot',
        DAY_MS,
        16 * MiB,
        ({ record }) => 2048 + 4 * (record.sequence?.length ?? 0),
        {
          stale: MONTH_MS,
          // One that leaves out whose protein it is may be whole a moment later.
          isCacheable: ({ record }) => record.sequence !== undefined || record.protein_hash !== undefined,
        },
      ),
    },
  };
  const catalogue = open<Buffer>('catalogue', DAY_MS, 32 * MiB, (json) => json.byteLength, {
    stale: MONTH_MS,
  });
  const thumbnails = open<Thumbnail>('thumbnails', YEAR_MS, 64 * MiB, ({ png }) => png.byteLength);
  return {
    catalogue: openCatalogue(catalogue),
    thumbnails: createThumbnails({ cache: thumbnails, name: 'thumbnails' }),
    loaders: (up) => createLoaders(up, shared),
  };
}
