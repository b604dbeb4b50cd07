// Sparse activations of features, of a protein and along its sequence, as archives and records have
// them.
import { isFields } from '../json/is-fields.ts';
import { isFeatureIndex } from '../wire-values.ts';

/** Protein-level activations: `values[i]` is that of feature `indices[i]`; all others are 0. */
export interface SparseVector {
  readonly indices: readonly number[];
  readonly values: readonly number[];
}

/**
 * Per-residue activations: `values[i]` is that of feature `features[i]` at residue `residues[i]`
 * (0-based).
 */
export interface SparseMatrix {
  readonly residues: readonly number[];
  readonly features: readonly number[];
  readonly values: readonly number[];
}

const isNumbers = (list: unknown[]): list is number[] => list.every(Number.isFinite);

const isIndex = (value: unknown): boolean => Number.isInteger(value) && Number(value) >= 0;

/** A list of numbers that name residues or features; undefined for anything else. */
const indexes = (value: unknown): number[] | undefined =>
  Array.isArray(value) && value.every(isIndex) ? value : undefined;

/**
 * A list of numbers, null (NaN on the wire) and infinities read as 0; undefined for anything else.
 */
function numbers(value: unknown): number[] | undefined {
  if (!Array.isArray(value)) return undefined;
  // The usual case. The array was just parsed, and copying it is a third of the cost of reading
  // features.
  if (isNumbers(value)) return value;
  const list: number[] = [];
  for (const item of value as unknown[]) {
    if (typeof item !== 'number' && item !== null) return undefined;
    list.push(Number.isFinite(item) ? Number(item) : 0);
  }
  return list;
}

/** Whether an index stands twice. Thousands of them come in ascending order: no set is needed. */
function hasRepeat(indices: readonly number[]): boolean {
  const isAscending = indices.every((index, i) => i === 0 || index > (indices[i - 1] ?? index));
  return !isAscending && new Set(indices).size < indices.length;
}

/** Reads protein-level activations; undefined for anything else. */
export function readVector(value: unknown): SparseVector | undefined {
  if (!isFields(value)) return undefined;
  // Indices come flat or as the one row of a list.
  const { indices: given, values } = value;
  const row: unknown =
    Array.isArray(given) && given.length === 1 && Array.isArray(given[0]) ? given[0] : given;
  const [indices, list] = [indexes(row), numbers(values)];
  if (indices === undefined || list === undefined || indices.length !== list.length) return undefined;
  return indices.every(isFeatureIndex) && !hasRepeat(indices) ? { indices, values: list } : undefined;
}

/** Reads per-residue activations; undefined for anything else. */
export function readMatrix(value: unknown): SparseMatrix | undefined {
  if (!isFields(value) || !Array.isArray(value.indices)) return undefined;
  const [residues, features, values] = [
    indexes(value.indices[0]),
    indexes(value.indices[1]),
    numbers(value.values),
  ];
  if (residues === undefined || features === undefined || values === undefined) return undefined;
  const isEven = residues.length === values.length && features.length === values.length;
  return isEven && features.every(isFeatureIndex) ? { residues, features, values } : undefined;
}
