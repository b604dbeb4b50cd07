// A matrix of numbers in one block of memory: a list of lists of a million numbers takes a multiple of its room and of the time to go
// through. It must not know what the numbers mean.

/** Rows may be of different lengths. What is not a number is NaN. */
export interface Matrix {
  /** Where each row begins in `cells`; one more entry than rows, the last is the end. */
  readonly starts: readonly number[];
  readonly cells: Float64Array;
}

export const rowCount = ({ starts }: Matrix): number => starts.length - 1;

/** A matrix from lists as JSON gives them; a row that is no list is an empty one. */
export function matrixOf(rows: readonly unknown[]): Matrix {
  const starts = [0];
  for (const row of rows) starts.push((starts.at(-1) ?? 0) + (Array.isArray(row) ? row.length : 0));
  const cells = new Float64Array(starts.at(-1) ?? 0).fill(Number.NaN);
  for (const [r, row] of rows.entries()) {
    if (!Array.isArray(row)) continue;
    const start = starts[r] ?? 0;
    for (let c = 0; c < row.length; c++) {
      const cell: unknown = row[c];
      if (typeof cell === 'number') cells[start + c] = cell;
    }
  }
  return { starts, cells };
}

/** The matrix as lists again, with null for what is not a number. */
export const listsOf = ({ starts, cells }: Matrix): (number | null)[][] =>
  Array.from({ length: starts.length - 1 }, (_, r) =>
    Array.from(cells.subarray(starts[r], starts[r + 1]), (cell) => (Number.isNaN(cell) ? null : cell)),
  );
