// Features other than the normalised top ranking: by exact index or unscaled. Only the single
// record has them, by one call for each selection.
import DataLoader from 'dataloader';
import type { ConcurrencyLimit } from '../../async/concurrency-limit.ts';
import { readMatrix } from '../archive/sparse-activations.ts';
import * as atlas from '../atlas.ts';
import { asError } from '../errors.ts';
import type { Upstream } from '../http/call.ts';
import { drifted } from '../http/validate-response.ts';
import { isFields } from '../json/is-fields.ts';
import { type Part, partValue, UNKNOWN } from '../part.ts';
import type { FeatureValue } from '../wire.ts';
import { type FeatureRow, selectRows } from './activations.ts';
import { type RawRecord, readFeatures, readRecord } from './read-record.ts';
import type { ProteinRecord } from './record.ts';
import { NO_PARTS } from './required-parts.ts';

/** A question for features. */
export interface FeatureQuestion {
  readonly top: number;
  readonly normalize: boolean;
  /** At most 100. */
  readonly indices?: readonly number[] | undefined;
}

/** A feature of the answer; activations along the sequence are on the scale of the value. */
export interface FeatureAnswer {
  readonly value: FeatureValue;
  readonly row: Part<FeatureRow>;
}

interface FeatureKey {
  readonly hash: string;
  readonly question: FeatureQuestion;
}

/** Null when the Atlas does not hold the protein. */
export type LoadFeatures = (
  hash: string,
  question: FeatureQuestion,
) => Promise<readonly FeatureAnswer[] | null>;

function readAnswers({ raw }: RawRecord, top: number, length: number | undefined): FeatureAnswer[] {
  const ranking = readFeatures(raw, top, length);
  if (ranking === UNKNOWN) throw drifted('protein', '$.sae_features', 'expected a list, seen nothing');
  const matrix = isFields(raw) ? readMatrix(raw.per_residue_activations) : undefined;
  const wanted = ranking.values.map(({ feature_index: index }) => index);
  const rows = matrix && selectRows(matrix, wanted);
  return ranking.values.map((value) => ({ value, row: rows?.get(value.feature_index) }));
}

/**
 * The loader of one request.
 *
 * @param limited - bounds the records that are read at the same time
 * @param onRecord - called with every record: all but the features equals the plain record
 */
export function createFeatureValueLoader(
  up: Upstream,
  limited: ConcurrencyLimit,
  onRecord: (hash: string, record: ProteinRecord | null) => void,
): LoadFeatures {
  const load = async ({ hash, question }: FeatureKey): Promise<FeatureAnswer[] | null> => {
    const found = await limited(() => atlas.protein(up, hash, { ...question, foldOnMiss: false }));
    const record = found && readRecord(hash, NO_PARTS, found);
    onRecord(hash, record);
    return found && readAnswers(found, question.top, record ? partValue(record.length) : undefined);
  };
  const loader = new DataLoader<FeatureKey, FeatureAnswer[] | null, string>(
    (keys) => Promise.all(keys.map((key) => load(key).catch(asError))),
    { cacheKeyFn: ({ hash, question }) => `${hash} ${JSON.stringify(question)}` },
  );
  return (hash, question) => loader.load({ hash, question });
}
