// A matrix of numbers in shared memory, so that a worker hands it over without copying it.

export interface Matrix {
  readonly rowCount: number;
  readonly columnCount: number;
  /** The smallest and the largest number; null when there is none. */
  readonly min: number | null;
  readonly max: number | null;
  /** Row by row; NaN stands for null. */
  readonly cells: Float64Array;
}

/** The first row of each token and, at the end, the number of rows. */
export type RowOffsets = readonly number[];

const createCells = (count: number): Float64Array =>
  new Float64Array(new SharedArrayBuffer(count * Float64Array.BYTES_PER_ELEMENT));

/**
 * Reads lists as JSON gives them; undefined unless all rows are equally long and hold numbers and
 * nulls.
 */
export function toMatrix(rows: readonly unknown[]): Matrix | undefined {
  const [first] = rows;
  const columnCount = Array.isArray(first) ? first.length : 0;
  const cells = createCells(rows.length * columnCount);
  let min = Number.POSITIVE_INFINITY;
  let max = Number.NEGATIVE_INFINITY;
  let at = 0;
  for (const row of rows) {
    if (!Array.isArray(row) || row.length !== columnCount) return undefined;
    for (const cell of row) {
      if (cell !== null && typeof cell !== 'number') return undefined;
      const value = Number.isFinite(cell) ? Number(cell) : Number.NaN;
      if (value > max) max = value;
      if (value < min) min = value;
      cells[at] = value;
      at += 1;
    }
  }
  const isEmpty = max === Number.NEGATIVE_INFINITY;
  return { rowCount: rows.length, columnCount, min: isEmpty ? null : min, max: isEmpty ? null : max, cells };
}

/** The matrix as lists, with null for NaN. */
export const toLists = ({ rowCount, columnCount, cells }: Matrix): (number | null)[][] =>
  Array.from({ length: rowCount }, (_, row) =>
    Array.from(cells.subarray(row * columnCount, (row + 1) * columnCount), (cell) =>
      Number.isNaN(cell) ? null : cell,
    ),
  );

/** The mean of the numbers in a block, ends excluded; NaN when there are none. */
export function blockMean(
  { columnCount, cells }: Matrix,
  rowStart: number,
  rowEnd: number,
  columnStart: number,
  columnEnd: number,
): number {
  let sum = 0;
  let count = 0;
  for (let row = rowStart; row < rowEnd; row++) {
    for (let at = row * columnCount + columnStart; at < row * columnCount + columnEnd; at++) {
      const cell = cells[at] ?? Number.NaN;
      if (Number.isNaN(cell)) continue;
      sum += cell;
      count += 1;
    }
  }
  return sum / count;
}

/** The smallest number in a block, ends excluded; Infinity when there are none. */
export function blockMin(
  { columnCount, cells }: Matrix,
  rowStart: number,
  rowEnd: number,
  columnStart: number,
  columnEnd: number,
): number {
  let min = Number.POSITIVE_INFINITY;
  for (let row = rowStart; row < rowEnd; row++) {
    for (let at = row * columnCount + columnStart; at < row * columnCount + columnEnd; at++) {
      const cell = cells[at] ?? Number.NaN;
      if (cell < min) min = cell;
    }
  }
  return min;
}

/**
 * Averages the rows of each token and, where `columns` is given, its columns. The smallest and
 * the largest number stay those of the whole matrix.
 */
export function averageByToken(matrix: Matrix, rows: RowOffsets, columns?: RowOffsets): Matrix {
  const rowCount = rows.length - 1;
  const columnCount = columns === undefined ? matrix.columnCount : columns.length - 1;
  const cells = createCells(rowCount * columnCount);
  for (let row = 0; row < rowCount; row++) {
    for (let column = 0; column < columnCount; column++) {
      cells[row * columnCount + column] = blockMean(
        matrix,
        rows[row] ?? 0,
        rows[row + 1] ?? 0,
        columns?.[column] ?? column,
        columns?.[column + 1] ?? column + 1,
      );
    }
  }
  return { rowCount, columnCount, min: matrix.min, max: matrix.max, cells };
}
