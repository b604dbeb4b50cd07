// The clusters of one request, cached for later ones.
import DataLoader from 'dataloader';
import { createConcurrencyLimit } from '../../async/concurrency-limit.ts';
import type { SingleFlight } from '../../async/single-flight.ts';
import type { Cache } from '../../store/cache/cache.ts';
import * as atlas from '../atlas.ts';
import { asError } from '../errors.ts';
import type { Upstream } from '../http/call.ts';
import { drifted, type WithRaw } from '../http/validate-response.ts';
import type { ClusterRecord } from '../wire.ts';

/** Clusters that one request reads at the same time. */
const IN_FLIGHT = 8;

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

/** Shared by the cluster loaders of all requests; `cache` is undefined without caching. */
export interface ClusterDependencies {
  readonly cache: Cache<LoadedCluster> | undefined;
  readonly singleFlight: SingleFlight;
}

/** Counts up when the records change, so that a store is not read as what it does not hold. */
const CLUSTER_VERSION = 2;

const clusterKey = (hash: string): string => `${CLUSTER_VERSION}:${hash}`;

/** Whether a member list has the cluster's size, each member once, and the representative. */
function hasAllMembers(record: ClusterRecord): boolean {
  const { member_protein_hashes: members, cluster_size: size, protein_hash: own } = record;
  const different = new Set(members);
  return (
    different.size === members.length && different.size === (size ?? different.size) && different.has(own)
  );
}

/** All members. @throws UpstreamError UPSTREAM_DRIFT when the list is not complete */
export function readMembers(record: ClusterRecord): readonly string[] {
  if (hasAllMembers(record)) return record.member_protein_hashes;
  throw drifted(
    'cluster',
    '$.member_protein_hashes',
    `expected ${record.cluster_size ?? 'all'} different hashes, that of the representative among them, ` +
      `seen ${record.member_protein_hashes.length}`,
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
