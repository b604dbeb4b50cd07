// Reads of public data by one key each, cached for all callers: feature details, UniProt entries,
// clusters and thumbnails. Identical reads in flight are one call, which aborts when the last
// caller does.
import DataLoader from 'dataloader';
import { createConcurrencyLimit } from '../../async/concurrency-limit.ts';
import type { SingleFlight } from '../../async/single-flight.ts';
import { createEtag } from '../../etag.ts';
import type { Cache } from '../../store/cache/cache.ts';
import * as atlas from '../atlas.ts';
import { asError } from '../errors.ts';
import type { Upstream } from '../http/upstream-client.ts';
import { drifted, type WithRaw } from '../http/validate-response.ts';
import { matchesSequence } from '../proteins/check-record.ts';
import { type ClusterRecord, type FeatureDetail, featureDetail, type UniprotRecord } from '../wire.ts';

/** Cache of such reads; `name` labels their metrics. */
export interface CachedReads<T> {
  readonly cache: Cache<T>;
  readonly name: string;
}

/** Reads one key. */
interface KeyLoader<K, T> {
  /** Null when the service has none. */
  load(key: K): Promise<T | null>;
}

/** One read waits at most behind this many others of its request. */
const IN_FLIGHT = 8;

/** @param load - receives the upstream with the signal that aborts after the last caller */
const cachedRead = <T>(
  { cache, name }: CachedReads<T>,
  up: Upstream,
  key: string,
  load: (up: Upstream) => Promise<T | null>,
): Promise<T | null> =>
  cache.wrap(key, (signal) => load({ ...up, signal }), {
    signal: up.signal,
    onHit: () => up.onCacheHit?.(name, 1),
  });

function createKeyLoader<K extends string | number, T>(
  up: Upstream,
  reads: CachedReads<T>,
  load: (up: Upstream, key: K) => Promise<T | null>,
): KeyLoader<K, T> {
  const limited = createConcurrencyLimit(IN_FLIGHT);
  async function read(key: K): Promise<T | null> {
    const found = await cachedRead(reads, up, String(key), (shared) => limited(() => load(shared, key)));
    if (found === null) up.absences?.add(String(key));
    return found;
  }
  return new DataLoader<K, T | null>((keys) => Promise.all(keys.map((key) => read(key).catch(asError))));
}

export type LoadedFeature = WithRaw<FeatureDetail>;
export type FeatureLoader = KeyLoader<number, LoadedFeature>;

/** Keys without which details are not whole; the others may be left out. */
const LISTS = ['top_100_uniref_ids', 'top_swissprot_activations', 'decoder_nearest_neighbors'] as const;
const KEYS = featureDetail.keyof().options;

/** Whether details have every list, and no key that came in a form that cannot be read. */
export const isWholeFeature = ({ record, raw }: LoadedFeature): boolean =>
  LISTS.every((key) => record[key] !== undefined) &&
  KEYS.every((key) => record[key] !== undefined || !Object.hasOwn(Object(raw), key));

export const createFeatureLoader = (up: Upstream, reads: CachedReads<LoadedFeature>): FeatureLoader =>
  createKeyLoader(up, reads, atlas.feature);

export type LoadedEntry = WithRaw<UniprotRecord>;
export type UniprotLoader = KeyLoader<string, LoadedEntry>;

const HASH = /^[0-9a-f]{32}$/;

/** @throws UpstreamError UPSTREAM_DRIFT for an entry whose hash is not that of its sequence, or none */
async function readEntry(up: Upstream, id: string): Promise<LoadedEntry | null> {
  const entry = await atlas.uniprot(up, id);
  const { protein_hash: hash, sequence } = entry?.record ?? {};
  if (hash != null && !(sequence == null ? HASH.test(hash) : matchesSequence(hash, sequence)))
    throw drifted('uniprot', '$.protein_hash', 'expected the MD5 of the sequence, seen another');
  return entry;
}

export const createUniprotLoader = (up: Upstream, reads: CachedReads<LoadedEntry>): UniprotLoader =>
  createKeyLoader(up, reads, readEntry);

/** Our word for a thumbnail type, as it stands in URLs, and the upstream's. */
export const THUMBNAIL_TYPES = { PLDDT: 'plddt', PCT_CHARACTERIZED: 'pct-characterized' } as const;

export interface Thumbnail {
  readonly png: Buffer<ArrayBuffer>;
  /** A strong entity tag, with its quotes; computed once and cached with the bytes. */
  readonly etag: string;
}

export interface Thumbnails {
  /** The image, or null when the protein or its structure does not exist. */
  get(up: Upstream, hash: string, type: string): Promise<Thumbnail | null>;
}

export const createThumbnails = (reads: CachedReads<Thumbnail>): Thumbnails => ({
  get: (up, hash, type) =>
    cachedRead(reads, up, `${type}:${hash}`, async (shared) => {
      const bytes = await atlas.thumbnail(shared, hash, type);
      if (bytes === null) return null;
      const png = Buffer.from(bytes);
      return { png, etag: createEtag(png) };
    }),
});

export type LoadedClusterRecord = WithRaw<ClusterRecord>;

/** A cluster's record and the number of features requested with it. */
export interface LoadedCluster {
  readonly top: number;
  readonly cluster: LoadedClusterRecord;
}

export interface ClusterLoader {
  /** The record of a representative; null for other hashes. @param top - features, 1 to 100 */
  load(hash: string, top?: number): Promise<LoadedClusterRecord | null>;
}

/** What the cluster loaders of all requests share; `cache` is undefined without caching. */
export interface ClusterDependencies {
  readonly cache: Cache<LoadedCluster> | undefined;
  readonly singleFlight: SingleFlight;
}

/** Counts up when the records change, so that a store is not read as what it does not hold. */
const CLUSTER_VERSION = 2;

const clusterKey = (hash: string): string => `${CLUSTER_VERSION}:${hash}`;

/** Whether a member list has the cluster's size, each member once, and the representative. */
export function hasAllMembers(record: ClusterRecord): boolean {
  const { member_protein_hashes: members, cluster_size: size, protein_hash: own } = record;
  const different = new Set(members);
  return (
    different.size === members.length && different.size === (size ?? different.size) && different.has(own)
  );
}

/** An incomplete record is not cached: it may be complete a moment later. */
const isWholeCluster = ({ record }: LoadedClusterRecord): boolean =>
  hasAllMembers(record) &&
  record.cluster_representative_features !== undefined &&
  record.cluster_top_pfam_domains !== undefined &&
  record.top_phyla !== undefined;

const DEFAULT_TOP = 10;

interface ClusterKey {
  readonly hash: string;
  readonly top: number;
}

/**
 * The loader of one request. Of several feature counts in one tick it requests the largest. The
 * clusters of a tick wait for each other, so that what is selected on their members is one bulk
 * call.
 */
export function createClusterLoader(
  up: Upstream,
  { cache, singleFlight }: ClusterDependencies,
): ClusterLoader {
  const limited = createConcurrencyLimit(IN_FLIGHT);
  const loaded = new Map<string, { top: number; answer: Promise<LoadedClusterRecord | null> }>();

  async function read({ hash, top }: ClusterKey): Promise<LoadedClusterRecord | null> {
    const cached = await cache?.get(clusterKey(hash));
    if (cached !== undefined && cached.top >= top) {
      up.onCacheHit?.('clusters', 1);
      return cached.cluster;
    }
    const cluster = await limited(() =>
      singleFlight(`cluster ${hash} ${top}`, up.signal, ({ signal }) =>
        atlas.cluster({ ...up, signal }, hash, top),
      ),
    );
    if (cluster !== null && isWholeCluster(cluster)) await cache?.set(clusterKey(hash), { top, cluster });
    return cluster;
  }

  async function loadBatch(keys: readonly ClusterKey[]): Promise<(LoadedClusterRecord | null | Error)[]> {
    const tops = new Map<string, number>();
    for (const { hash, top } of keys) tops.set(hash, Math.max(tops.get(hash) ?? 0, top));
    for (const [hash, top] of tops) loaded.set(hash, { top, answer: read({ hash, top }) });
    return Promise.all(
      keys.map(({ hash }) => Promise.resolve(loaded.get(hash)?.answer ?? null).catch(asError)),
    );
  }

  const loader = new DataLoader<ClusterKey, LoadedClusterRecord | null>(loadBatch, {
    cache: false,
    batchScheduleFn: setImmediate,
  });
  return {
    load(hash, top) {
      const before = loaded.get(hash);
      if (before !== undefined && before.top >= (top ?? 0)) return before.answer;
      return loader.load({ hash, top: top ?? DEFAULT_TOP });
    },
  };
}
