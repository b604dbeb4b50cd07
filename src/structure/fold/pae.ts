// Predicted aligned error in ångström: blocks averaged down to a size.
import { blockMean, type Matrix } from './matrix.ts';

/** A part of the matrix; ends excluded, 0-based; a missing end is the size of the matrix. */
export interface PaeRange {
  readonly rowStart?: number | null | undefined;
  readonly rowEnd?: number | null | undefined;
  readonly columnStart?: number | null | undefined;
  readonly columnEnd?: number | null | undefined;
  /** Largest number of values to return; 10,000 by default. */
  readonly maxPoints?: number | null | undefined;
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

/** Rows or columns, the end excluded. */
type Band = readonly [start: number, end: number];

function toBand(what: string, size: number, from: number | null = 0, to: number | null = size): Band {
  const [start, end] = [from ?? 0, to ?? size];
  if (!Number.isInteger(start) || !Number.isInteger(end) || start < 0 || end < start) {
    throw new RangeError(`${what}: use 0 <= start <= end, 0-based with the end excluded, up to ${size}.`);
  }
  return [Math.min(start, size), Math.min(end, size)];
}

/** Cuts a band into bands of `step`. */
const cutBand = ([start, end]: Band, step: number): Band[] =>
  Array.from({ length: Math.ceil((end - start) / step) }, (_, i) => [
    start + i * step,
    Math.min(end, start + (i + 1) * step),
  ]);

/** The smallest step that leaves at most `maxPoints` values. */
function findStep(rows: number, columns: number, maxPoints: number): number {
  let step = Math.max(1, Math.floor(Math.sqrt((rows * columns) / maxPoints)));
  while (Math.ceil(rows / step) * Math.ceil(columns / step) > maxPoints) step += 1;
  return step;
}

/** The mean of a block; null when it has no number. */
function meanOrNull(pae: Matrix, rows: Band, columns: Band): number | null {
  const mean = blockMean(pae, ...rows, ...columns);
  return Number.isNaN(mean) ? null : mean;
}

/**
 * Averages a part of the matrix down to a number of values.
 *
 * @throws RangeError for a range that runs backwards or starts below 0, or for fewer than one point
 */
export function paeBlock(pae: Matrix, range: PaeRange = {}): PaeBlock {
  const [rowStart, rowEnd] = toBand('Rows', pae.rowCount, range.rowStart, range.rowEnd);
  const [columnStart, columnEnd] = toBand('Columns', pae.rowCount, range.columnStart, range.columnEnd);
  const maxPoints = range.maxPoints ?? 10_000;
  if (!Number.isInteger(maxPoints) || maxPoints < 1)
    throw new RangeError('maxPoints: use a whole number from 1.');
  const step = findStep(rowEnd - rowStart, columnEnd - columnStart, maxPoints);
  const columns = cutBand([columnStart, columnEnd], step);
  const values = cutBand([rowStart, rowEnd], step).map((row) =>
    columns.map((column) => meanOrNull(pae, row, column)),
  );
  return { rowStart, rowEnd, columnStart, columnEnd, step, values };
}
