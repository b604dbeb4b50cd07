// Parses the bytes of a folding result: the PAE apart, so that its million numbers never become
// lists.
import { randomUUID } from 'node:crypto';
import { fieldsOfResult, isFoldingResult } from '../../structure/fold/fields.ts';
import { largest, listsOf, type Matrix } from '../../structure/fold/matrix.ts';
import { type FoldingResult, readFoldingResult } from '../../structure/fold/result.ts';
import { JsonError, parseLenient } from '../json/lenient-json.ts';

const MINUS = 0x2d;
const POINT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN = 0x5b;
const CLOSE = 0x5d;

/** So many digits, and their power of ten, are exact: the quotient rounds as in JSON.parse. */
const MAX_DIGITS = 15;
const POWERS = Float64Array.from({ length: MAX_DIGITS + 1 }, (_, places) => 10 ** places);

function pastSpace(bytes: Uint8Array, from: number): number {
  let at = from;
  for (let byte = bytes[at]; byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09; )
    byte = bytes[++at];
  return at;
}

/**
 * Reads a row of short decimals into `cells`.
 *
 * @param from - behind the opening bracket
 * @param end - of the closing one
 * @returns their number; undefined for anything else, such as an exponent or too many digits
 */
function shortDecimals(
  bytes: Uint8Array,
  from: number,
  end: number,
  cells: Float64Array,
): number | undefined {
  let at = pastSpace(bytes, from);
  if (at === end) return 0;
  for (let count = 0; ; ) {
    const negative = bytes[at] === MINUS;
    if (negative) at += 1;
    const begin = at;
    let whole = 0;
    let byte = bytes[at] ?? 0;
    for (; byte >= ZERO && byte <= NINE; byte = bytes[++at] ?? 0) whole = whole * 10 + byte - ZERO;
    let digits = at - begin;
    if (digits === 0 || (digits > 1 && bytes[begin] === ZERO)) return undefined;
    let places = 0;
    if (byte === POINT) {
      const point = at;
      byte = bytes[++at] ?? 0;
      for (; byte >= ZERO && byte <= NINE; byte = bytes[++at] ?? 0) whole = whole * 10 + byte - ZERO;
      places = at - point - 1;
      if (places === 0) return undefined;
      digits += places;
    }
    if (digits > MAX_DIGITS) return undefined;
    const value = places === 0 ? whole : whole / (POWERS[places] ?? 1);
    cells[count] = negative ? -value : value;
    count += 1;
    at = pastSpace(bytes, at);
    if (at === end) return count;
    if (bytes[at] !== COMMA) return undefined;
    at = pastSpace(bytes, at + 1);
  }
}

/** A row of any numbers, null, NaN and infinities. Undefined when it holds anything else. */
function anyNumbers(text: string): readonly (number | null)[] | undefined {
  try {
    const row = parseLenient(text);
    return Array.isArray(row) && row.every((cell) => cell === null || typeof cell === 'number')
      ? row
      : undefined;
  } catch {
    return undefined;
  }
}

/** More rows than a matrix of any result has; each takes 16 bytes, also where it is empty. */
const MAX_ROWS = 50_000;

/** Rows that stand in JSON bytes. */
class TextMatrix implements Matrix {
  max: number | null = null;
  columnCount: number | undefined;
  private readonly bytes: Buffer;
  /** Where the opening bracket of each row is, and the closing one. */
  private readonly opens: number[] = [];
  private readonly closes: number[] = [];
  private cells = new Float64Array(0);

  constructor(bytes: Buffer) {
    this.bytes = bytes;
  }
  get rowCount(): number {
    return this.opens.length;
  }
  row(index: number): Float64Array {
    const row = this.read(this.opens[index] ?? 0, this.closes[index] ?? 0);
    if (row === undefined) throw new RangeError(`There is no row ${index}.`);
    return row;
  }
  /** Takes a row in. @returns whether it is one */
  add(open: number, close: number): boolean {
    const row = this.rowCount < MAX_ROWS ? this.read(open, close) : undefined;
    if (row === undefined) return false;
    if (this.rowCount === 0) this.columnCount = row.length;
    else if (row.length !== this.columnCount) this.columnCount = undefined;
    this.opens.push(open);
    this.closes.push(close);
    const max = largest(row, this.max ?? Number.NEGATIVE_INFINITY);
    if (max !== Number.NEGATIVE_INFINITY) this.max = max;
    return true;
  }
  private read(open: number, close: number): Float64Array | undefined {
    // A cell and its comma take two bytes or more.
    const most = Math.ceil((close - open) / 2);
    if (most > this.cells.length) this.cells = new Float64Array(2 * most);
    const short = shortDecimals(this.bytes, open + 1, close, this.cells);
    if (short !== undefined) return this.cells.subarray(0, short);
    const row = anyNumbers(this.bytes.toString('latin1', open, close + 1));
    return row && Float64Array.from(row, (cell) => (Number.isFinite(cell) ? Number(cell) : Number.NaN));
  }
}

/** Reads the matrix at a byte. @returns undefined when there is none, or it has no rows */
function readMatrix(bytes: Buffer, from: number): { matrix: Matrix; end: number } | undefined {
  if (bytes[from] !== OPEN) return undefined;
  const matrix = new TextMatrix(bytes);
  for (let at = pastSpace(bytes, from + 1); ; at = pastSpace(bytes, at + 1)) {
    const end = bytes.indexOf(CLOSE, at);
    if (bytes[at] !== OPEN || end < 0 || !matrix.add(at, end)) return undefined;
    at = pastSpace(bytes, end + 1);
    if (bytes[at] === CLOSE) return { matrix, end: at + 1 };
    if (bytes[at] !== COMMA) return undefined;
  }
}

/**
 * Extracts the matrix that is the value of a key.
 *
 * @param json - held by the matrix; do not change it
 * @param mark - the string that replaces it in the rest
 * @returns undefined when the first value of the key, at any depth, is not plainly a matrix. Broken
 *   JSON stays broken in the rest
 */
export function extractMatrix(
  json: Uint8Array,
  name: string,
  mark: string,
): { readonly matrix: Matrix; readonly rest: Uint8Array } | undefined {
  const bytes = Buffer.from(json.buffer, json.byteOffset, json.byteLength);
  // Inside a string these bytes would need a backslash before the first quote; as a value no colon
  // follows.
  const key = JSON.stringify(name);
  for (let at = bytes.indexOf(key); at >= 0; at = bytes.indexOf(key, at + 1)) {
    const colon = pastSpace(bytes, at + Buffer.byteLength(key));
    if (bytes[colon] !== COLON) continue;
    const start = pastSpace(bytes, colon + 1);
    const found = readMatrix(bytes, start);
    if (found === undefined) return undefined;
    const rest = [bytes.subarray(0, start), Buffer.from(JSON.stringify(mark)), bytes.subarray(found.end)];
    return { matrix: found.matrix, rest: Buffer.concat(rest) };
  }
  return undefined;
}

/** Stands where the matrix was; no JSON that comes here holds it. */
const MARK = randomUUID();

const parsed = (bytes: Uint8Array): unknown => parseLenient(new TextDecoder().decode(bytes));

/** @returns undefined when the rest is no JSON, or the matrix was not where a result has its PAE */
function withPae(rest: Uint8Array, pae: Matrix): FoldingResult | undefined {
  let value: unknown;
  try {
    value = parsed(rest);
  } catch {
    return undefined;
  }
  const fields = fieldsOfResult(value);
  if (fields.pae !== MARK) return undefined;
  // A function, which makes lists of the raw value. A getter would hold its scope until V8's next
  // full GC.
  return readFoldingResult(value, pae, () => {
    const whole = { ...fields, pae: listsOf(pae) };
    return fields === value ? whole : { ...Object(value), data: whole };
  });
}

/**
 * Reads the JSON of a folding result.
 *
 * @throws JsonError, also for what is no folding result
 */
export function readFold(bytes: Uint8Array): FoldingResult {
  const lifted = extractMatrix(bytes, 'pae', MARK);
  const result = lifted && withPae(lifted.rest, lifted.matrix);
  if (result !== undefined) return result;
  const value = parsed(bytes);
  if (!isFoldingResult(value)) throw new JsonError('It has no structure, score or embedding.');
  return readFoldingResult(value);
}
