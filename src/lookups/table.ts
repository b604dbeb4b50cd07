// Rows of tab-separated tables. A cell cannot break its row, and a spreadsheet program cannot run
// it as a formula.

/** Value of a cell. */
export type Cell = string | number | null | undefined;

/** First characters of a formula. Tab and carriage return are replaced before the test. */
const FORMULA = new Set(['=', '+', '-', '@']);
/**
 * A number in decimal or scientific notation is data in every spreadsheet program, signed or not.
 */
const NUMBER = /^[+-]?\d{1,40}(\.\d{1,40})?([eE][+-]?\d{1,3})?$/;

function cellText(cell: Cell): string {
  if (cell === null || cell === undefined) return '';
  if (typeof cell === 'number') return String(cell);
  const text = cell.replace(/[\t\r\n]+/g, ' ');
  // Programs skip white space before a formula.
  const first = text.trimStart().charAt(0);
  return FORMULA.has(first) && !NUMBER.test(text) ? `'${text}` : text;
}

/**
 * A row as a line. Unknown values are empty; text that could be run as a formula begins with an
 * apostrophe.
 */
export const tableRow = (cells: readonly Cell[]): string => `${cells.map(cellText).join('\t')}\n`;
