// SAE feature details of one request, cached for all because they never change, with limited
// concurrency; labels come from the catalogue.

import DataLoader from 'dataloader';
import pLimit from 'p-limit';
import * as atlas from '../atlas.ts';
import type { WithRaw } from '../atlas-request.ts';
import { asError } from '../errors.ts';
import type { Upstream } from '../http/upstream-client.ts';
import { type FeatureDetail, featureDetail } from '../wire.ts';
import { type CachedReads, cachedRead } from './cached-read.ts';

/** A feature's details and the JSON they came as. */
export type LoadedFeature = WithRaw<FeatureDetail>;

/** Keys without which details are not whole; the others may be left out. */
const LISTS = ['top_100_uniref_ids', 'top_swissprot_activations', 'decoder_nearest_neighbors'] as const;
const KEYS = featureDetail.keyof().options;

/** Whether details have every list, and no key that came in a form that cannot be read. */
export const isWholeFeature = ({ record, raw }: LoadedFeature): boolean =>
  LISTS.every((key) => record[key] !== undefined) &&
  KEYS.every((key) => record[key] !== undefined || !Object.hasOwn(Object(raw), key));

export interface FeatureLoader {
  /** Everything about one feature; null outside the catalogue. */
  detail(index: number): Promise<LoadedFeature | null>;
}

/** One look-up waits at most behind this many others of its request. */
const IN_FLIGHT = 8;

/** The loader of one request. */
export function createFeatureLoader(up: Upstream, reads: CachedReads<LoadedFeature>): FeatureLoader {
  const limited = pLimit(IN_FLIGHT);
  const details = new DataLoader<number, LoadedFeature | null>((indices) =>
    Promise.all(
      indices.map((index) =>
        cachedRead(reads, up, String(index), (shared) => limited(() => atlas.feature(shared, index))).catch(
          asError,
        ),
      ),
    ),
  );
  return { detail: (index) => details.load(index) };
}
