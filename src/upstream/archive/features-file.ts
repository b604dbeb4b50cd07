// Reads `features.json` of a bulk archive: for each protein its top features, the activations of
// all features, and those along the sequence. A large file is read in a thread, which gives back
// only what was selected.
import { findRepeat } from '../json/bounded-schemas.ts';
import { isFields } from '../json/is-fields.ts';
import { MATRIX_BOUNDS, parseJsonSync } from '../json/parse-json.ts';
import { runInWorker, WORKER_ABOVE_BYTES } from '../json/worker-pool.ts';
import { type FeatureRow, selectRows, toRanking } from '../proteins/activations.ts';
import { type FeatureValue, featureValue, isPlainFeature } from '../wire.ts';
import { featuresWith } from '../wire-values.ts';
import { readMatrix, readVector, type SparseVector } from './sparse-activations.ts';
import { unpackMember, type ZipMember } from './zip.ts';

/** The features whose activations along the sequence are wanted of a protein. */
export interface RowSelection {
  /** How many features at the top of the ranking. */
  readonly top: number;
  readonly indices: readonly number[];
}

export interface FeatureSelection {
  /** Hashes of the proteins; all when absent. */
  readonly hashes?: ReadonlySet<string> | undefined;
  /** Whether the activations of all features are wanted where the file ranks them. */
  readonly level: boolean;
  /** Undefined when no activations along the sequence are wanted. */
  readonly rows?: RowSelection | undefined;
}

/** The features of one protein; undefined for parts that the file leaves out. */
export interface BulkFeatures {
  readonly top?: readonly FeatureValue[] | undefined;
  readonly proteinLevel?: SparseVector | undefined;
  readonly rows?: ReadonlyMap<number, FeatureRow> | undefined;
}

/** Features by hash; null where the file has something else than an object. */
export type FeaturesFile = ReadonlyMap<string, BulkFeatures | null>;

interface FeaturesTask {
  readonly member: ZipMember;
  readonly selection: FeatureSelection;
}

/** @throws ArchiveError for a damaged member, SyntaxError for one that is no JSON */
export async function readFeaturesFile(
  member: ZipMember,
  selection: FeatureSelection,
): Promise<FeaturesFile> {
  if (member.size <= WORKER_ABOVE_BYTES) return selectFeatures(unpackMember(member), selection);
  const packed = new Uint8Array(member.packed);
  const task: FeaturesTask = { member: { ...member, packed }, selection };
  const file = await runInWorker('upstream/archive/features-worker', task, [packed.buffer]);
  return file as FeaturesFile;
}

export const readFeaturesInWorker = ({ member, selection }: FeaturesTask): FeaturesFile =>
  selectFeatures(unpackMember(member), selection);

/** @throws SyntaxError */
function selectFeatures(bytes: Uint8Array, selection: FeatureSelection): FeaturesFile {
  const file = parseJsonSync(bytes, MATRIX_BOUNDS);
  if (!isFields(file)) throw new SyntaxError('This is not a JSON object.');
  const found = new Map<string, BulkFeatures | null>();
  for (const [key, value] of Object.entries(file)) {
    const hash = key.trim().toLowerCase();
    if (selection.hashes?.has(hash) === false) continue;
    found.set(hash, isFields(value) ? readFeatures(value, selection) : null);
  }
  return found;
}

function readFeatures(
  value: Readonly<Record<string, unknown>>,
  { level, rows }: FeatureSelection,
): BulkFeatures {
  const top = readRanking(value.top_features);
  const proteinLevel = level || top === undefined ? readVector(value.protein_level) : undefined;
  return { top, proteinLevel, rows: rows && readRows(value.per_residue, rows, top, proteinLevel) };
}

function readRows(
  perResidue: unknown,
  { top: count, indices }: RowSelection,
  top: readonly FeatureValue[] | undefined,
  vector: SparseVector | undefined,
): ReadonlyMap<number, FeatureRow> | undefined {
  const matrix = readMatrix(perResidue);
  if (matrix === undefined) return undefined;
  const ranking = top ?? (vector === undefined ? [] : toRanking(vector, count));
  const ranked = ranking.slice(0, count).map((feature) => feature.feature_index);
  return selectRows(matrix, [...ranked, ...indices]);
}

/** Regions are those of the single record: only there activations show what their `end` is. */
const rankedFeatures = featuresWith(featureValue.omit({ residue_regions: true }));

/** An unreadable value is not left out: it makes the whole ranking unknown. */
function readRanking(value: unknown): readonly FeatureValue[] | undefined {
  if (!Array.isArray(value)) return undefined;
  if (value.every(isPlainFeature) && findRepeat(value, (one) => one.feature_index) < 0) return value;
  return rankedFeatures.safeParse(value).data;
}
