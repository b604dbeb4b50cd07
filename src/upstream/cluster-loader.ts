// This request's cluster records, one call for each representative however many fields ask for it. It knows the cluster
// operation and nothing of proteins or GraphQL.
import DataLoader from 'dataloader';
import * as atlas from './atlas.ts';
import type { Upstream } from './http.ts';
import { limiter } from './limit.ts';
import type { ClusterRecord } from './wire.ts';

export type LoadedCluster = atlas.WithRaw<ClusterRecord>;

export interface ClusterLoader {
  /** The record of the cluster that a hash represents; null when it represents none. @param top - how many features, 1 to 100 */
  load(representative: string, top?: number): Promise<LoadedCluster | null>;
}

const IN_FLIGHT = 8;
const DEFAULT_TOP = 10;

/** The loader of one request. Asked in one tick for several amounts of features, it fetches the largest. */
export function createClusterLoader(up: Upstream): ClusterLoader {
  const limited = limiter(IN_FLIGHT);
  const loaded = new Map<string, { top: number; record: Promise<LoadedCluster | null> }>();
  const tick = new DataLoader<{ hash: string; top: number }, LoadedCluster | null>(
    (keys) => {
      const tops = new Map<string, number>();
      for (const { hash, top } of keys) tops.set(hash, Math.max(tops.get(hash) ?? 0, top));
      for (const [hash, top] of tops) {
        loaded.set(hash, { top, record: limited(() => atlas.cluster(up, hash, top)) });
      }
      return Promise.all(
        keys.map(({ hash }) =>
          Promise.resolve(loaded.get(hash)?.record ?? null).catch((error: unknown) =>
            error instanceof Error ? error : new Error(String(error)),
          ),
        ),
      );
    },
    { cache: false },
  );
  return {
    load(hash, top) {
      const before = loaded.get(hash);
      if (before !== undefined && before.top >= (top ?? 0)) return before.record;
      return tick.load({ hash, top: Math.max(top ?? DEFAULT_TOP, 1) });
    },
  };
}
