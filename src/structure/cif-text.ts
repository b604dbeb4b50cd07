// The syntax of CIF 1.1: values quoted where they must be, items and loops.

/** What a cell may hold; null and undefined are written as `?`, the empty string as `.`. */
export type CifValue = string | number | null | undefined;

/** Printable ASCII without quotes that begins with nothing that CIF gives a meaning. */
const BARE = /^[A-Za-z0-9+-][!#-&(-~]*$/;
const RESERVED = /^(?:data_|save_|loop_$|stop_$|global_$)/i;

/** CIF is ASCII: strict parsers refuse other characters and control characters. */
const plain = (text: string): string => text.replace(/\r\n?/g, '\n').replace(/[^\n\t\x20-\x7e]/gu, '?');

/** A multi-line value. A line beginning with a semicolon would end it, so a space goes before. */
const textField = (text: string): string => `\n;${text.replace(/\n;/g, '\n ;')}\n;`;

/** One value as it stands in the file. */
export function cifValue(value: CifValue): string {
  if (value === null || value === undefined) return '?';
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : '?';
  if (value === '') return '.';
  const text = BARE.test(value) ? value : plain(value);
  if (text.includes('\n')) return textField(text);
  if (BARE.test(text) && !RESERVED.test(text)) return text;
  // A quote ends the value only where white space follows it.
  if (!/"(?=\s)/.test(text)) return `"${text}"`;
  return /'(?=\s)/.test(text) ? textField(text) : `'${text}'`;
}

/** One row of a category: its values by the names of its items. */
export type CifRow = Readonly<Record<string, CifValue>>;

/** A category of one row. */
export function cifItems(category: string, row: CifRow): string {
  const lines = Object.entries(row).map(([name, value]) => `_${category}.${name} ${cifValue(value)}`);
  return `${lines.join('\n')}\n#\n`;
}

/**
 * A category of many rows, one for each entry; nothing when there are none.
 *
 * @param rowOf - gives rows of the same items
 */
export function cifLoop<T>(
  category: string,
  entries: readonly T[],
  rowOf: (entry: T, index: number) => CifRow,
): string {
  const rows = entries.map(rowOf);
  const lines = rows.map((row) => Object.values(row).map(cifValue).join(' '));
  return cifLines(category, Object.keys(rows[0] ?? {}), lines);
}

/** The same with the rows as they stand in the file. */
export function cifLines(category: string, items: readonly string[], lines: readonly string[]): string {
  if (lines.length === 0) return '';
  return `loop_\n${items.map((name) => `_${category}.${name}`).join('\n')}\n${lines.join('\n')}\n#\n`;
}
