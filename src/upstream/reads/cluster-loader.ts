// The cluster records of one request, cached for later ones: one call for each representative,
// whose member list is loaded once and paged many times.

import DataLoader from 'dataloader';
import pLimit from 'p-limit';
import { schedulerOf } from '../../async/collect-window.ts';
import type { SingleFlight } from '../../async/single-flight.ts';
import type { Cache } from '../../store/cache/cache.ts';
import * as atlas from '../atlas.ts';
import type { WithRaw } from '../atlas-request.ts';
import { asError } from '../errors.ts';
import type { Upstream } from '../http/upstream-client.ts';
import type { ClusterRecord } from '../wire.ts';

type ClusterAnswer = WithRaw<ClusterRecord>;

/** A cluster's record and the number of features requested with it. */
export interface LoadedCluster {
  readonly top: number;
  readonly cluster: ClusterAnswer;
}

export type ClusterLoader = ReturnType<typeof createClusterLoader>;

/** What the loaders of all requests share; `cache` is undefined without caching. */
export interface ClusterDependencies {
  readonly cache: Cache<LoadedCluster> | undefined;
  readonly singleFlight: SingleFlight;
}

/** Counts up when the records change, so that a store is not read as what it does not hold. */
const VERSION = 2;

const keyOf = (hash: string): string => `${VERSION}:${hash}`;

/** Whether a member list has the cluster's size, each member once, and the representative. */
export function hasAllMembers(record: ClusterRecord): boolean {
  const { member_protein_hashes: members, cluster_size: size, protein_hash: own } = record;
  const different = new Set(members);
  return (
    different.size === members.length && different.size === (size ?? different.size) && different.has(own)
  );
}

/**
 * Whether a record is complete. An incomplete one is not cached: it may be complete a moment later.
 */
const isWhole = ({ record }: ClusterAnswer): boolean =>
  hasAllMembers(record) &&
  record.cluster_representative_features !== undefined &&
  record.cluster_top_pfam_domains !== undefined &&
  record.top_phyla !== undefined;

const IN_FLIGHT = 8;
const DEFAULT_TOP = 10;

/** The loader of one request. Of several feature counts in one tick it requests the largest. */
export function createClusterLoader(up: Upstream, { cache, singleFlight }: ClusterDependencies) {
  const limited = pLimit(IN_FLIGHT);
  const loaded = new Map<string, { top: number; answer: Promise<ClusterAnswer | null> }>();

  const fetch = async (hash: string, top: number): Promise<ClusterAnswer | null> => {
    const cached = await cache?.get(keyOf(hash));
    if (cached !== undefined && cached.top >= top) {
      up.onCacheHit?.('clusters', 1);
      return cached.cluster;
    }
    const cluster = await limited(() =>
      singleFlight(`cluster ${hash} ${top}`, up.signal, ({ signal }) =>
        atlas.cluster({ ...up, signal }, hash, top),
      ),
    );
    if (cluster !== null && isWhole(cluster)) await cache?.set(keyOf(hash), { top, cluster });
    return cluster;
  };

  // Waits for all clusters of a tick, so that the fields selected on members of several are one
  // bulk call.
  const tick = new DataLoader<{ hash: string; top: number }, ClusterAnswer | null>(
    (keys) => {
      const tops = new Map<string, number>();
      for (const { hash, top } of keys) tops.set(hash, Math.max(tops.get(hash) ?? 0, top));
      for (const [hash, top] of tops) loaded.set(hash, { top, answer: fetch(hash, top) });
      return Promise.all(
        keys.map(({ hash }) => Promise.resolve(loaded.get(hash)?.answer ?? null).catch(asError)),
      );
    },
    { cache: false, batchScheduleFn: schedulerOf(up) },
  );
  return {
    /**
     * The record of a representative's cluster; null for other hashes.
     *
     * @param top - features, 1 to 100
     */
    load(hash: string, top?: number): Promise<ClusterAnswer | null> {
      const before = loaded.get(hash);
      if (before !== undefined && before.top >= (top ?? 0)) return before.answer;
      return tick.load({ hash, top: Math.max(top ?? DEFAULT_TOP, 1) });
    },
  };
}
