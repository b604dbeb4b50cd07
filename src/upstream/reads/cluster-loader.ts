// This request's cluster records, one call for each representative however many fields ask for it, kept for later requests:
// a large member list is loaded once and paged many times. It knows the cluster operation and nothing of proteins or GraphQL.

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

/** A cluster's record and how many features were asked for with it. */
export interface LoadedCluster {
  readonly top: number;
  readonly cluster: ClusterAnswer;
}

export interface ClusterLoader {
  /** The record of the cluster that a hash represents; null when it represents none. @param top - how many features, 1 to 100 */
  load(representative: string, top?: number): Promise<ClusterAnswer | null>;
}

/** What the loaders of all requests have in common; `cache` is undefined where nothing is kept. */
export interface ClusterDependencies {
  readonly cache: Cache<LoadedCluster> | undefined;
  readonly singleFlight: SingleFlight;
}

/** Counts up when the records change, so that a store is not read as what it does not hold. */
const VERSION = 2;

const keyOf = (hash: string): string => `${VERSION}:${hash}`;

/** Whether a list of members is as long as the cluster is large, each member once, with the representative. */
export function hasAllMembers(record: ClusterRecord): boolean {
  const { member_protein_hashes: members, cluster_size: size, protein_hash: own } = record;
  const different = new Set(members);
  return (
    different.size === members.length && different.size === (size ?? different.size) && different.has(own)
  );
}

/** Whether a record has all that a cluster must have: what is drift now may be there a moment later. */
const isWhole = ({ record }: ClusterAnswer): boolean =>
  hasAllMembers(record) &&
  record.cluster_representative_features !== undefined &&
  record.cluster_top_pfam_domains !== undefined &&
  record.top_phyla !== undefined;

const IN_FLIGHT = 8;
const DEFAULT_TOP = 10;

/** The loader of one request. Asked in one tick for several amounts of features, it fetches the largest. */
export function createClusterLoader(
  up: Upstream,
  { cache, singleFlight }: ClusterDependencies,
): ClusterLoader {
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

  // All clusters of a tick are waited for, so that what is selected on the members of several is one bulk call.
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
    load(hash, top) {
      const before = loaded.get(hash);
      if (before !== undefined && before.top >= (top ?? 0)) return before.answer;
      return tick.load({ hash, top: Math.max(top ?? DEFAULT_TOP, 1) });
    },
  };
}
