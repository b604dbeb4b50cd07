// Writes CIF: values, and categories of one row or many.

/** A cell; null and undefined are written as `?`, the empty string as `.`. */
export type CifValue = string | number | null | undefined;

/** One row of a category: its values by the names of its items. */
export type CifRow = Readonly<Record<string, CifValue>>;

/** A category and its rows, which have the same items. */
export type CifTable = readonly [category: string, rows: readonly CifRow[]];

/** Printable ASCII without quotes that begins with nothing that CIF gives a meaning. */
const BARE = /^[A-Za-z0-9+-][!#-&(-~]*$/;
const RESERVED = /^(?:data_|save_|loop_$|stop_$|global_$)/i;

/** CIF is ASCII: strict parsers refuse other characters and control characters. */
const toAscii = (text: string): string => text.replace(/\r\n?/g, '\n').replace(/[^\n\t\x20-\x7e]/gu, '?');

/** A multi-line value. A line beginning with a semicolon would end it, so a space goes before. */
const textField = (text: string): string => `\n;${text.replace(/\n;/g, '\n ;')}\n;`;

/** Writes one value. */
export function cifValue(value: CifValue): string {
  if (value === null || value === undefined) return '?';
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : '?';
  if (value === '') return '.';
  const text = BARE.test(value) ? value : toAscii(value);
  if (text.includes('\n')) return textField(text);
  if (BARE.test(text) && !RESERVED.test(text)) return text;
  // A quote ends the value only where white space follows it.
  if (!/"(?=\s)/.test(text)) return `"${text}"`;
  return /'(?=\s)/.test(text) ? textField(text) : `'${text}'`;
}

/** A category of one row. */
export function cifItems(category: string, row: CifRow): string {
  const lines = Object.entries(row).map(([name, value]) => `_${category}.${name} ${cifValue(value)}`);
  return `${lines.join('\n')}\n#\n`;
}

/** The header lines before the rows of a category. */
export const loopHead = (category: string, items: readonly string[]): string =>
  `loop_\n${items.map((name) => `_${category}.${name}\n`).join('')}`;

/** A category of many rows; nothing when there are none. */
export function cifLoop([category, rows]: CifTable): string {
  const lines = rows.map((row) => Object.values(row).map(cifValue).join(' '));
  return cifLines(category, Object.keys(rows[0] ?? {}), lines);
}

/** The same with rows that are written already. */
export function cifLines(category: string, items: readonly string[], lines: readonly string[]): string {
  return lines.length === 0 ? '' : `${loopHead(category, items)}${lines.join('\n')}\n#\n`;
}
