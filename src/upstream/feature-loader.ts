// This request's view of SAE features: details one by one through DataLoader with a limit in flight, kept for all
// requests because they never change; labels from the catalogue. It knows nothing of GraphQL.

import DataLoader from 'dataloader';
import type { Cache } from '../store/cache.ts';
import * as atlas from './atlas.ts';
import { asError } from './errors.ts';
import type { Upstream } from './http.ts';
import { limiter } from './limit.ts';
import type { FeatureDetail } from './wire.ts';

/** A feature's details and the JSON they came as. */
export type LoadedFeature = atlas.WithRaw<FeatureDetail>;

export interface FeatureLoader {
  /** Everything about one feature; null outside the catalogue. */
  detail(index: number): Promise<LoadedFeature | null>;
}

/** One look-up waits at most behind this many others of its request. */
const IN_FLIGHT = 8;

/** The loader of one request. */
export function createFeatureLoader(up: Upstream, cache: Cache<LoadedFeature>): FeatureLoader {
  const limited = limiter(IN_FLIGHT);
  // What is shared with other requests must not end because this one's caller left.
  const shared: Upstream = { ...up, signal: undefined };
  const details = new DataLoader<number, LoadedFeature | null>((indices) =>
    Promise.all(
      indices.map((index) =>
        cache
          .wrap(
            String(index),
            () => limited(() => atlas.feature(shared, index)),
            () => up.onCacheHit?.('features', 1),
          )
          .catch(asError),
      ),
    ),
  );
  return { detail: (index) => details.load(index) };
}
