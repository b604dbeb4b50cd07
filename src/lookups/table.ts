// Tab-separated tables: the one place where a value becomes a cell. A cell neither breaks its row nor is run as a formula by a
// spreadsheet program that opens the table.

/** What a cell may hold. */
export type Cell = string | number | null | undefined;

/** How a spreadsheet program recognises a formula; tab and carriage return never reach the test, they are replaced before. */
const FORMULA = new Set(['=', '+', '-', '@']);
/** A number in decimal or scientific notation is data in every spreadsheet program, signed or not. */
const NUMBER = /^[+-]?\d{1,40}(\.\d{1,40})?([eE][+-]?\d{1,3})?$/;

function cellText(cell: Cell): string {
  if (cell === null || cell === undefined) return '';
  if (typeof cell === 'number') return String(cell);
  const text = cell.replace(/[\t\r\n]+/g, ' ');
  // Programs pass over white space before a formula.
  const first = text.trimStart().charAt(0);
  return FORMULA.has(first) && !NUMBER.test(text) ? `'${text}` : text;
}

/** A row of a table as a line. What is not known is empty; text that could be run as a formula begins with an apostrophe. */
export const tableRow = (cells: readonly Cell[]): string => `${cells.map(cellText).join('\t')}\n`;
