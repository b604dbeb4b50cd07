// What only the single record has: a structure that is folded when it is missing, which may come with
// a later answer, and features other than the normalised top ranking, one call for each selection.

import { setTimeout as sleep } from 'node:timers/promises';
import DataLoader from 'dataloader';
import type { SharedCall } from '../../async/single-flight.ts';
import type { SparseMatrix } from '../archive/bulk-record.ts';
import * as atlas from '../atlas.ts';
import { asError, UpstreamError } from '../errors.ts';
import type { Upstream } from '../http/upstream-client.ts';
import { drifted } from '../http/validate-response.ts';
import type { FeatureValue } from '../wire.ts';
import { type FeatureRow, rowsOf } from './activations.ts';
import type { ReadRecord } from './protein-record.ts';
import { featuresOf } from './record-parts.ts';

type Found = Awaited<ReturnType<typeof atlas.protein>>;

/** Proteins that one query may have folded. */
export const MAX_FOLDS = 20;

const FIRST_PAUSE = 250;
const LONGEST_PAUSE = 3_000;

/** Whether folding has begun and the structure is not there yet. */
const isComing = (found: Found): boolean =>
  found?.record.folded_on_demand === true && found.record.pdb == null;

const tooLate = (hash: string): UpstreamError =>
  new UpstreamError(
    `The Atlas is still folding ${hash}. Ask again in a moment: what has begun goes on by itself.`,
    { operation: 'protein', code: 'UPSTREAM_TIMEOUT', retryable: true },
  );

/** The error of a query that needs too many folds. */
export const tooManyFolds = (count: number): UpstreamError =>
  new UpstreamError(
    `\`foldOnMiss\` is asked for ${count} proteins at once; at most ${MAX_FOLDS} fit in one query. ` +
      'Use submitFold for many.',
    { operation: 'protein', code: 'BAD_USER_INPUT', retryable: false },
  );

/**
 * Reads a record, and reads it again until a structure that is being made is there.
 *
 * @throws UpstreamError UPSTREAM_TIMEOUT for a caller whose time is up before that
 */
export async function readFolded(
  up: Upstream,
  hash: string,
  query: atlas.ProteinQuery,
  run: SharedCall,
): Promise<Found> {
  const own = { ...up, signal: run.signal };
  let found = await atlas.protein(own, hash, query);
  if (!query.foldOnMiss) return found;
  for (let pause = FIRST_PAUSE; isComing(found); pause = Math.min(pause * 1.6, LONGEST_PAUSE)) {
    run.onAbort(() => tooLate(hash));
    await sleep(pause, undefined, { signal: run.signal });
    found = await atlas.protein(own, hash, query);
  }
  return found;
}

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
