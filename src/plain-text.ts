// Text of callers and of the service as tables, terminals and language models may get it: nothing
// in it is invisible, moves the cursor, turns the direction of the line, or runs as a formula.
import { stripVTControlCharacters } from 'node:util';

/**
 * Marks of direction, tags, fillers and whatever else no program draws. Joiners and the selectors
 * of emoji belong to words and pictures.
 */
const INVISIBLE = /(?!\p{Join_C}|\ufe0e|\ufe0f)(?:\p{DI}|\p{Bidi_C}|[\ufff9-\ufffb])/gu;
/** No word has more than two joiners in a row: more could spell a hidden text. */
const JOINERS = /((?:\p{Join_C}|\ufe0e|\ufe0f){2})(?:\p{Join_C}|\ufe0e|\ufe0f)+/gu;
/** C0, DEL, C1, and the separators of lines and paragraphs. */
const CONTROLS = /[\p{Cc}\u2028\u2029]+/gu;

/** Texts of which nothing has to be changed: most of them. */
const PRINTABLE = /^[\x20-\x7e]*$/;

/** The text in one line, without escape sequences, control characters and invisible ones. */
export const plainText = (text: string): string =>
  PRINTABLE.test(text)
    ? text
    : stripVTControlCharacters(text).replace(INVISIBLE, '').replace(JOINERS, '$1').replace(CONTROLS, ' ');

/** The same for a text of several lines: line feeds and tabs stay. */
export const plainLines = (text: string): string => text.replace(/[^\n\t]+/g, plainText);

/** Characters of a value that a message quotes. */
const MAX_EXCERPT = 200;

/** The beginning of a value, as messages quote it: never more than some hundred characters. */
export const excerpt = (text: string): string =>
  text.length <= MAX_EXCERPT ? text : `${text.slice(0, MAX_EXCERPT)}…`;

/** A text of a caller or of the service in a message, in quotation marks. */
export const quote = (text: string): string => JSON.stringify(excerpt(text));

/**
 * More marks in a row than any language writes: 30 are the most of Unicode's Stream-Safe Text
 * Format (UAX #15). The voiced marks of Katakana become such marks.
 */
const MANY_MARKS = /[\p{M}\uff9e\uff9f]{31}/u;

/**
 * The text in a normal form. One with many marks in a row stays as it is: to order them takes
 * quadratic time.
 */
export const normalForm = (text: string, form: 'NFC' | 'NFKC' | 'NFKD'): string =>
  PRINTABLE.test(text) || MANY_MARKS.test(text) ? text : text.normalize(form);

export type Cell = string | number | null | undefined;

/** First characters of a formula, also in their wide forms: some programs read `＝` as `=`. */
const FORMULA = new Set(['=', '+', '-', '@']);
/** A number, signed or in scientific notation, is data in every spreadsheet program. */
const NUMBER = /^[+-]?\d{1,40}(\.\d{1,40})?([eE][+-]?\d{1,3})?$/;

function cellText(cell: Cell): string {
  if (cell === null || cell === undefined) return '';
  if (typeof cell === 'number') return String(cell);
  const text = plainText(cell);
  // Programs skip white space before a formula.
  const first = normalForm(text.trimStart().charAt(0), 'NFKC');
  const safe = FORMULA.has(first) && !NUMBER.test(text) ? `'${text}` : text;
  // To readers of tables a bare quote begins a text that ends, rows later, with the next one.
  return safe.includes('"') ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/**
 * A row as a line; unknown values are empty, formulas begin with an apostrophe, quotes are doubled.
 */
export const tableRow = (cells: readonly Cell[]): string => `${cells.map(cellText).join('\t')}\n`;
