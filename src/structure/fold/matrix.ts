// A matrix of numbers that is read row by row: allocating eight megabytes for all cells costs more
// than reading a row again.

/** Rows may be of different lengths. What is not a finite number is NaN. */
export interface Matrix {
  readonly rowCount: number;
  /** The length of every row; undefined where rows differ. */
  readonly columnCount: number | undefined;
  /** The largest number; null when there is none. */
  readonly max: number | null;
  /** A row; valid until the next call. */
  row(index: number): Float64Array;
}

/** The largest number of a row, or of the rows before it. */
export function largest(row: Float64Array, before: number): number {
  let max = before;
  for (let at = 0; at < row.length; at++) {
    const cell = row[at] ?? Number.NaN;
    if (cell > max) max = cell;
  }
  return max;
}

/** Lists as JSON gives them; a row that is no list is an empty one. */
class ListMatrix implements Matrix {
  readonly rowCount: number;
  readonly columnCount: number | undefined;
  readonly max: number | null;
  private readonly rows: readonly unknown[];
  private cells = new Float64Array(0);

  constructor(rows: readonly unknown[]) {
    this.rows = rows;
    this.rowCount = rows.length;
    let max = Number.NEGATIVE_INFINITY;
    const lengths = new Set<number>();
    for (let r = 0; r < rows.length; r++) {
      const row = this.row(r);
      max = largest(row, max);
      if (lengths.size < 2) lengths.add(row.length);
    }
    this.columnCount = lengths.size === 1 ? [...lengths][0] : undefined;
    this.max = max === Number.NEGATIVE_INFINITY ? null : max;
  }
  row(index: number): Float64Array {
    const given = this.rows[index];
    const list: readonly unknown[] = Array.isArray(given) ? given : [];
    if (list.length > this.cells.length) this.cells = new Float64Array(list.length);
    for (let c = 0; c < list.length; c++) {
      const cell = list[c];
      this.cells[c] = typeof cell === 'number' && Number.isFinite(cell) ? cell : Number.NaN;
    }
    return this.cells.subarray(0, list.length);
  }
}

/** A matrix from lists. */
export const matrixOf = (rows: readonly unknown[]): Matrix => new ListMatrix(rows);

/** Means over the rows and columns of each token. Its maximum is that of the whole matrix. */
export function collapsedMatrix(whole: Matrix, offsets: readonly number[]): Matrix {
  const size = offsets.length - 1;
  const means = new Float64Array(size);
  const counts = new Float64Array(size);
  const add = (row: Float64Array): void => {
    for (let token = 0, at = 0; token < size; token++) {
      for (const end = offsets[token + 1] ?? 0; at < end; at++) {
        const cell = row[at] ?? Number.NaN;
        if (Number.isNaN(cell)) continue;
        means[token] = (means[token] ?? 0) + cell;
        counts[token] = (counts[token] ?? 0) + 1;
      }
    }
  };
  return {
    rowCount: size,
    columnCount: size,
    max: whole.max,
    row(index) {
      means.fill(0);
      counts.fill(0);
      for (let r = offsets[index] ?? 0; r < (offsets[index + 1] ?? 0); r++) add(whole.row(r));
      // Without a number the quotient of two zeros is NaN, as it should be.
      for (let token = 0; token < size; token++) means[token] = (means[token] ?? 0) / (counts[token] ?? 0);
      return means;
    },
  };
}

/** The matrix as lists, with null for what is not a number. */
export const listsOf = (matrix: Matrix): (number | null)[][] =>
  Array.from({ length: matrix.rowCount }, (_, r) =>
    Array.from(matrix.row(r), (cell) => (Number.isNaN(cell) ? null : cell)),
  );
