// Sparse activations of features: rankings, rows along a sequence, and whether a vector has the
// scale of a ranking.
import type { SparseMatrix, SparseVector } from '../archive/sparse-activations.ts';
import type { FeatureValue } from '../wire.ts';

/** One feature along a sequence: `values[i]` at residue `residues[i]` (0-based), 0 elsewhere. */
export interface FeatureRow {
  readonly feature: number;
  readonly residues: readonly number[];
  readonly values: readonly number[];
}

/** The strongest features of a vector, strongest first, of equals the lower index. */
export function toRanking(sparse: SparseVector, top: number): FeatureValue[] {
  return sparse.indices
    .map((index, i) => ({ feature_index: index, value: sparse.values[i] ?? 0 }))
    .sort((a, b) => b.value - a.value || a.feature_index - b.feature_index)
    .slice(0, top);
}

/** Rounding on the wire: values written with four decimals. */
const ROUNDING = 1e-4;

/**
 * Whether a vector has the scale of the ranking, so that a value of either may replace the other.
 * The service does not say so; a vector that repeats the ranking shows it.
 */
export function hasSameScale(ranking: readonly FeatureValue[], vector: SparseVector): boolean {
  if (ranking.length === 0) return vector.indices.length === 0;
  const values = new Map(vector.indices.map((index, i) => [index, vector.values[i] ?? 0]));
  return ranking.every(({ feature_index: index, value }) => {
    const other = values.get(index);
    return other !== undefined && Math.abs(other - value) <= ROUNDING * Math.max(1, Math.abs(value));
  });
}

/** Whether a ranking is that of a vector: same features, same order, same values. */
export function hasSameRanking(ranking: readonly FeatureValue[], vector: SparseVector): boolean {
  const own = toRanking(vector, ranking.length);
  return (
    ranking.length > 0 &&
    ranking.every(({ feature_index: index }, i) => own[i]?.feature_index === index) &&
    hasSameScale(ranking, vector)
  );
}

/** The rows of the wanted features, by feature; one that is nowhere active has an empty row. */
export function selectRows(matrix: SparseMatrix, wanted: Iterable<number>): Map<number, FeatureRow> {
  const rows = new Map<number, { feature: number; residues: number[]; values: number[] }>();
  for (const feature of wanted) rows.set(feature, { feature, residues: [], values: [] });
  for (const [i, feature] of matrix.features.entries()) {
    const row = rows.get(feature);
    if (row === undefined) continue;
    row.residues.push(matrix.residues[i] ?? 0);
    row.values.push(matrix.values[i] ?? 0);
  }
  return rows;
}

/** A row written out from residue `start` to `end`, `end` excluded. */
export function denseRow(row: FeatureRow, start: number, end: number): number[] {
  const dense = new Array<number>(Math.max(0, end - start)).fill(0);
  for (const [i, residue] of row.residues.entries()) {
    if (residue >= start && residue < end) dense[residue - start] = row.values[i] ?? 0;
  }
  return dense;
}
