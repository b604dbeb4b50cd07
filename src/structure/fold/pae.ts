// Predicted aligned error: blocks averaged down to a size, and means between chains. Ångström throughout. Rows may be ragged;
// what is not a finite number takes no part in a mean.
import type { FoldedChain } from './chains.ts';
import { type Matrix, rowCount } from './matrix.ts';

/** A part of the matrix; ends excluded, 0-based; a missing end is the size of the matrix. */
export interface PaeRange {
  readonly rowStart?: number;
  readonly rowEnd?: number;
  readonly columnStart?: number;
  readonly columnEnd?: number;
  /** The most values to return; 10,000 unless said. */
  readonly maxPoints?: number;
}

/** A block of means over `step` times `step` cells each. */
export interface PaeBlock {
  readonly rowStart: number;
  readonly rowEnd: number;
  readonly columnStart: number;
  readonly columnEnd: number;
  readonly step: number;
  readonly values: readonly (readonly (number | null)[])[];
}

/** A value of an ordered pair of chains. */
export interface ChainPair {
  readonly a: string;
  readonly b: string;
  readonly value: number;
}

function meanOver(
  { starts, cells }: Matrix,
  rows: readonly [number, number],
  columns: readonly [number, number],
): number | null {
  let sum = 0;
  let count = 0;
  for (let r = rows[0]; r < rows[1]; r++) {
    const start = starts[r] ?? 0;
    const end = Math.min(start + columns[1], starts[r + 1] ?? 0);
    for (let at = start + columns[0]; at < end; at++) {
      const cell = cells[at] ?? Number.NaN;
      // Number.isFinite in other words: infinity minus itself is no number either.
      if (cell - cell !== 0) continue;
      sum += cell;
      count += 1;
    }
  }
  return count === 0 ? null : sum / count;
}

function rangeOf(what: string, size: number, start = 0, end = size): [number, number] {
  if (!Number.isInteger(start) || !Number.isInteger(end) || start < 0 || end < start) {
    throw new RangeError(`${what}: use 0 <= start <= end, 0-based with the end excluded, up to ${size}.`);
  }
  return [Math.min(start, size), Math.min(end, size)];
}

/** The smallest step that leaves at most `most` values. */
function stepFor(rows: number, columns: number, most: number): number {
  let step = Math.max(1, Math.floor(Math.sqrt((rows * columns) / most)));
  while (Math.ceil(rows / step) * Math.ceil(columns / step) > most) step += 1;
  return step;
}

/**
 * @throws RangeError for a range that runs backwards or starts below 0, or for fewer than one point
 */
export function paeBlock(pae: Matrix, range: PaeRange = {}): PaeBlock {
  const size = rowCount(pae);
  const [rowStart, rowEnd] = rangeOf('Rows', size, range.rowStart, range.rowEnd);
  const [columnStart, columnEnd] = rangeOf('Columns', size, range.columnStart, range.columnEnd);
  const most = range.maxPoints ?? 10_000;
  if (!Number.isInteger(most) || most < 1) throw new RangeError('maxPoints: use a whole number from 1.');
  const step = stepFor(rowEnd - rowStart, columnEnd - columnStart, most);
  const count = (length: number) => Math.ceil(length / step);
  const values = Array.from({ length: count(rowEnd - rowStart) }, (_, i) => {
    const rows = [rowStart + i * step, Math.min(rowEnd, rowStart + (i + 1) * step)] as const;
    return Array.from({ length: count(columnEnd - columnStart) }, (_cell, k) =>
      meanOver(pae, rows, [columnStart + k * step, Math.min(columnEnd, columnStart + (k + 1) * step)]),
    );
  });
  return { rowStart, rowEnd, columnStart, columnEnd, step, values };
}

/** The largest error; null when the matrix holds no number. */
export function paeMax({ cells }: Matrix): number | null {
  let max = Number.NEGATIVE_INFINITY;
  for (let at = 0; at < cells.length; at++) {
    const cell = cells[at] ?? Number.NaN;
    if (cell > max) max = cell;
  }
  return max === Number.NEGATIVE_INFINITY ? null : max;
}

/** Mean error of the tokens of `b` when the structure is aligned on those of `a`, for all ordered pairs, each chain with itself included. */
export function paeChainPairs(pae: Matrix, chains: readonly FoldedChain[]): ChainPair[] {
  return chains.flatMap((a) =>
    chains.flatMap((b) => {
      const value = meanOver(pae, [a.tokenStart, a.tokenEnd], [b.tokenStart, b.tokenEnd]);
      return value === null ? [] : [{ a: a.id, b: b.id, value }];
    }),
  );
}

/** The cells of `pair_chains_iptm` by chain id; none when the matrix is missing or not as large as the chains are many. */
export function iptmChainPairs(
  matrix: readonly unknown[] | undefined,
  chains: readonly FoldedChain[],
): ChainPair[] {
  if (matrix?.length !== chains.length) return [];
  return chains.flatMap((a, i) => {
    const row: unknown = matrix[i];
    if (!Array.isArray(row) || row.length !== chains.length) return [];
    const cells: readonly unknown[] = row;
    return chains.flatMap((b, k) => {
      const value = cells[k];
      return typeof value === 'number' ? [{ a: a.id, b: b.id, value }] : [];
    });
  });
}
