// Features other than the normalised top ranking: exact indices, or unscaled values. Only the
// single record has them, one call for each selection.

import DataLoader from 'dataloader';
import type { SparseMatrix } from '../archive/bulk-record.ts';
import * as atlas from '../atlas.ts';
import { asError } from '../errors.ts';
import type { Upstream } from '../http/upstream-client.ts';
import { drifted } from '../http/validate-response.ts';
import type { FeatureValue } from '../wire.ts';
import { type FeatureRow, rowsOf } from './activations.ts';
import type { ReadRecord } from './protein-record.ts';
import { featuresOf } from './record-parts.ts';

/** A question for features. */
export interface FeatureVariant {
  readonly top: number;
  readonly normalize: boolean;
  /** At most 100. */
  readonly indices?: readonly number[] | undefined;
}

export interface VariantData {
  readonly values: readonly FeatureValue[];
  /** Activations of a feature along the sequence, on the scale of the values; null where absent. */
  row(feature: number): FeatureRow | null;
}

interface Asked {
  readonly hash: string;
  readonly variant: FeatureVariant;
}

/**
 * The loader of one request.
 *
 * @param found - called with every record: all but the features equals the plain record
 */
export function createVariantLoader(
  up: Upstream,
  limited: <T>(task: () => Promise<T>) => Promise<T>,
  found: (hash: string, record: ReadRecord | null) => void,
): (hash: string, variant: FeatureVariant) => Promise<VariantData | null> {
  const load = async ({ hash, variant }: Asked): Promise<VariantData | null> => {
    const answer = await limited(() => atlas.protein(up, hash, { ...variant, foldOnMiss: false }));
    found(hash, answer);
    if (answer === null) return null;
    const features = featuresOf(answer, variant.top);
    if (features === undefined) throw drifted('protein', '$.sae_features', 'expected a list, seen nothing');
    const { values } = features;
    let matrix: SparseMatrix | undefined;
    return {
      values,
      row(feature) {
        matrix ??= answer.parts.perResidue();
        return matrix === undefined ? null : (rowsOf(matrix, [feature]).get(feature) ?? null);
      },
    };
  };
  const loader = new DataLoader<Asked, VariantData | null, string>(
    (keys) => Promise.all(keys.map((key) => load(key).catch(asError))),
    { cacheKeyFn: ({ hash, variant }) => `${hash} ${JSON.stringify(variant)}` },
  );
  return (hash, variant) => loader.load({ hash, variant });
}
