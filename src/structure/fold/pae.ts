// Predicted aligned error in ångström: blocks averaged down to a size, and means between chains.
// Rows may be ragged; means skip cells that are not numbers.
import type { FoldedChain } from './chains.ts';
import type { Matrix } from './matrix.ts';

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

/** What a pair of chains needs to be known by. */
type ChainTokens = Pick<FoldedChain, 'id' | 'tokenStart' | 'tokenEnd'>;

/** From the first to before the last. */
type Band = readonly [from: number, to: number];

/** Adds the cells of a row to the sums of bands of columns. */
function addRow(row: Float64Array, columns: readonly Band[], sums: Float64Array, counts: Float64Array): void {
  for (let k = 0; k < columns.length; k++) {
    const [from, to] = columns[k] ?? [0, 0];
    let sum = sums[k] ?? 0;
    let count = counts[k] ?? 0;
    for (let at = from; at < to && at < row.length; at++) {
      const cell = row[at] ?? Number.NaN;
      if (Number.isNaN(cell)) continue;
      sum += cell;
      count += 1;
    }
    sums[k] = sum;
    counts[k] = count;
  }
}

/** The means of a band of rows over bands of columns; null where there is no number. */
function meansOver(pae: Matrix, rows: Band, columns: readonly Band[]): (number | null)[] {
  const sums = new Float64Array(columns.length);
  const counts = new Float64Array(columns.length);
  for (let r = rows[0]; r < rows[1] && r < pae.rowCount; r++) addRow(pae.row(r), columns, sums, counts);
  return Array.from(sums, (sum, k) => (counts[k] === 0 ? null : sum / (counts[k] ?? 0)));
}

function rangeOf(what: string, size: number, start = 0, end = size): Band {
  if (!Number.isInteger(start) || !Number.isInteger(end) || start < 0 || end < start) {
    throw new RangeError(`${what}: use 0 <= start <= end, 0-based with the end excluded, up to ${size}.`);
  }
  return [Math.min(start, size), Math.min(end, size)];
}

/** A band cut into bands of so many. */
const cut = ([from, to]: Band, step: number): Band[] =>
  Array.from({ length: Math.ceil((to - from) / step) }, (_, i) => [
    from + i * step,
    Math.min(to, from + (i + 1) * step),
  ]);

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
  const size = pae.rowCount;
  const [rowStart, rowEnd] = rangeOf('Rows', size, range.rowStart, range.rowEnd);
  const [columnStart, columnEnd] = rangeOf('Columns', size, range.columnStart, range.columnEnd);
  const most = range.maxPoints ?? 10_000;
  if (!Number.isInteger(most) || most < 1) throw new RangeError('maxPoints: use a whole number from 1.');
  const step = stepFor(rowEnd - rowStart, columnEnd - columnStart, most);
  const columns = cut([columnStart, columnEnd], step);
  const values = cut([rowStart, rowEnd], step).map((rows) => meansOver(pae, rows, columns));
  return { rowStart, rowEnd, columnStart, columnEnd, step, values };
}

/** The values that are numbers, by the ids of the chains. */
const pairsOf = (chains: readonly ChainTokens[], valueAt: (i: number, k: number) => unknown): ChainPair[] =>
  chains.flatMap((a, i) =>
    chains.flatMap((b, k) => {
      const value = valueAt(i, k);
      return typeof value === 'number' ? [{ a: a.id, b: b.id, value }] : [];
    }),
  );

/**
 * Mean error of the tokens of `b` aligned on those of `a`, for all ordered pairs, also of a chain
 * with itself.
 */
export function paeChainPairs(pae: Matrix, chains: readonly ChainTokens[]): ChainPair[] {
  const bands = chains.map(({ tokenStart, tokenEnd }): Band => [tokenStart, tokenEnd]);
  const means = bands.map((rows) => meansOver(pae, rows, bands));
  return pairsOf(chains, (i, k) => means[i]?.[k]);
}

/** Whether a matrix has a row and a column for each chain, or no cells, as where it was not asked for. */
export const isOfPairs = (matrix: readonly unknown[], chains: readonly ChainTokens[]): boolean =>
  matrix.flat().length === 0 ||
  [matrix, ...matrix].every((list) => !Array.isArray(list) || list.length === chains.length);

/** The cells of `pair_chains_iptm` by chain id; none unless the matrix has a row for each chain. */
export function iptmChainPairs(matrix: readonly unknown[], chains: readonly ChainTokens[]): ChainPair[] {
  if (matrix.length !== chains.length) return [];
  return pairsOf(chains, (i, k) => {
    const row: unknown = matrix[i];
    return Array.isArray(row) && row.length === chains.length ? row[k] : undefined;
  });
}
