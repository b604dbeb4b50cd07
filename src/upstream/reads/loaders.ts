// The Atlas as a process reads it: the caches with their lifetimes, and the loaders of each request
// over them. Public data only.
import { createSingleFlight } from '../../async/single-flight.ts';
import { type CacheOptions, createCache } from '../../store/cache/cache.ts';
import type { SharedStore } from '../../store/cache/shared-cache.ts';
import type { Downloads } from '../http/download.ts';
import type { Upstream } from '../http/upstream-client.ts';
import { createProteinCache } from '../proteins/protein-cache.ts';
import { createProteinLoader, type ProteinLoader } from '../proteins/protein-loader.ts';
import {
  type CachedReads,
  type ClusterLoader,
  createClusterLoader,
  createFeatureLoader,
  createUniprotLoader,
  type FeatureLoader,
  isWholeFeature,
  openThumbnails,
  type UniprotLoader,
} from './cached-reads.ts';
import { openCatalogue } from './catalogue.ts';
import { createSimilarityLoader, type SimilarityLoader } from './similarity-loader.ts';

const YEAR = 365 * 24 * 3_600_000;
const DAY = 24 * 3_600_000;
const MONTH = 30 * DAY;
const MiB = 1024 * 1024;

export interface ReadsOptions {
  /** How long records, clusters and searches are cached; 0: not at all. */
  readonly recordSeconds: number;
  readonly downloads: Downloads;
  /** What outlives this process, or several share; undefined: nothing does. */
  readonly store: SharedStore | undefined;
  /** Called with every failure of the cache, which is then bypassed. */
  readonly onError: (error: unknown) => void;
  readonly onLookup?: CacheOptions<never>['onLookup'];
}

/** What all requests have in common, loader by loader. */
interface SharedDependencies {
  readonly proteins: Parameters<typeof createProteinLoader>[1];
  readonly clusters: Parameters<typeof createClusterLoader>[1];
  readonly searches: Omit<Parameters<typeof createSimilarityLoader>[1], 'proteins'>;
  readonly features: Parameters<typeof createFeatureLoader>[1];
  readonly uniprot: Parameters<typeof createUniprotLoader>[1];
}

/**
 * One request's loaders, created on first use: most requests use one. A class, because V8 retains
 * everything that an object's own getters close over until the next full collection.
 */
export class Loaders {
  private readonly up: Upstream;
  private readonly shared: SharedDependencies;
  private ownProteins: ProteinLoader | undefined;
  private ownSearches: SimilarityLoader | undefined;
  private ownClusters: ClusterLoader | undefined;
  private ownFeatures: FeatureLoader | undefined;
  private ownUniprot: UniprotLoader | undefined;

  constructor(up: Upstream, shared: SharedDependencies) {
    this.up = up;
    this.shared = shared;
  }
  get proteins() {
    this.ownProteins ??= createProteinLoader(this.up, this.shared.proteins);
    return this.ownProteins;
  }
  get searches() {
    this.ownSearches ??= createSimilarityLoader(this.up, {
      ...this.shared.searches,
      proteins: this.proteins,
    });
    return this.ownSearches;
  }
  get clusters() {
    this.ownClusters ??= createClusterLoader(this.up, this.shared.clusters);
    return this.ownClusters;
  }
  get features() {
    this.ownFeatures ??= createFeatureLoader(this.up, this.shared.features);
    return this.ownFeatures;
  }
  get uniprot() {
    this.ownUniprot ??= createUniprotLoader(this.up, this.shared.uniprot);
    return this.ownUniprot;
  }
}

export function createLoaderFactory({ recordSeconds, downloads, store, onError, onLookup }: ReadsOptions) {
  const records = recordSeconds * 1000;
  const open = <T>(
    namespace: string,
    ttl: number,
    maxBytes: number,
    sizeOf: (value: T) => number,
    more: Pick<CacheOptions<T>, 'stale' | 'isCacheable'> = {},
  ): CachedReads<T> => {
    const shared = store?.namespace(namespace);
    const cache = createCache<T>({ namespace, ttl, maxBytes, sizeOf, onError, onLookup, shared, ...more });
    return { cache, name: namespace };
  };
  const singleFlight = createSingleFlight();
  const openRecords = <T>(namespace: string, maxBytes: number, sizeOf: (value: T) => number) => ({
    cache: records === 0 ? undefined : open(namespace, records, maxBytes, sizeOf).cache,
    singleFlight,
  });
  const proteins = createProteinCache({
    ttl: records,
    maxBytes: 32 * MiB,
    parts: store?.namespace('proteins'),
    known: store?.namespace('knownProteins'),
    onLookup,
  });
  const shared: SharedDependencies = {
    proteins: { cache: proteins, downloads, singleFlight },
    clusters: openRecords(
      'clusters',
      32 * MiB,
      ({ cluster }) => 4096 + 200 * cluster.record.member_protein_hashes.length,
    ),
    searches: openRecords('searches', 16 * MiB, ({ answer }) => 4096 + 400 * answer.similar_proteins.length),
    features: open('features', YEAR, 32 * MiB, () => 12 * 1024, { isCacheable: isWholeFeature }),
    uniprot: open('uniprot', DAY, 16 * MiB, ({ record }) => 2048 + 4 * (record.sequence?.length ?? 0), {
      stale: MONTH,
      // One that leaves out whose protein it is may be whole a moment later.
      isCacheable: ({ record }) => record.sequence !== undefined || record.protein_hash !== undefined,
    }),
  };
  const catalogue = open<Buffer>('catalogue', DAY, 32 * MiB, (json) => json.byteLength, { stale: MONTH });
  return {
    catalogue: openCatalogue(catalogue.cache),
    thumbnails: openThumbnails(open('thumbnails', YEAR, 64 * MiB, ({ png }) => png.byteLength)),
    loaders: (up: Upstream): Loaders => new Loaders(up, shared),
  };
}
