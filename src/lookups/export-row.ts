// One row of a look-up as JSON or tab-separated text. Units are those of the schema: pLDDT and
// shares 0 to 100, pTM 0 to 1.
import type { BulkOptions } from './lookup.ts';

/** Increased when columns or keys of the rows change; part of the file's name. */
export const ROW_SCHEMA = 1;

/** Whether the row has a protein, or why not. */
export type RowStatus =
  | 'FOUND'
  | 'NOT_IN_ATLAS'
  | 'CANCELLED'
  | 'FAILED'
  | 'EXPIRED'
  | 'UNAVAILABLE'
  | 'DAMAGED';

/**
 * The values of a protein: undefined where not requested or unknown, null where the Atlas has none.
 */
export interface ExportRow {
  readonly hash: string;
  readonly status: RowStatus;
  readonly accession?: string | null;
  readonly source?: string | null;
  readonly length?: number | null;
  readonly sequence?: string | null;
  readonly ptm?: number | null;
  /** 0 to 100. */
  readonly meanPlddt?: number | null;
  readonly cluster?: {
    readonly representative: string;
    readonly name: string | null;
    readonly size: number | null;
    /** 0 to 100. */
    readonly percentCharacterized: number | null;
  } | null;
  readonly features?: readonly {
    readonly index: number;
    readonly value: number;
    readonly label: string | null;
  }[];
  /** Address of the structure at the gateway; null where there is none. */
  readonly structureUrl?: string | null;
}

/** A row as one line of JSON. */
export const jsonLine = (row: ExportRow): string => `${JSON.stringify(row)}\n`;

interface Column {
  readonly name: string;
  readonly of: (row: ExportRow) => Cell;
}

const always: readonly Column[] = [
  { name: 'hash', of: (row) => row.hash },
  { name: 'status', of: (row) => row.status },
];
const sequence: readonly Column[] = [
  { name: 'accession', of: (row) => row.accession },
  { name: 'source', of: (row) => row.source },
  { name: 'length', of: (row) => row.length },
  { name: 'sequence', of: (row) => row.sequence },
];
const structure: readonly Column[] = [
  { name: 'ptm', of: (row) => row.ptm },
  { name: 'mean_plddt', of: (row) => row.meanPlddt },
  { name: 'structure_url', of: (row) => row.structureUrl },
];
const cluster: readonly Column[] = [
  { name: 'cluster_representative', of: (row) => row.cluster?.representative },
  { name: 'cluster_name', of: (row) => row.cluster?.name },
  { name: 'cluster_size', of: (row) => row.cluster?.size },
  { name: 'cluster_percent_characterized', of: (row) => row.cluster?.percentCharacterized },
];
const features: readonly Column[] = [
  { name: 'features', of: (row) => row.features?.map(({ index, value }) => `${index}:${value}`).join(' ') },
  { name: 'feature_labels', of: (row) => row.features?.map(({ label }) => label ?? '').join('; ') },
];

/** The columns of a table for these options. */
export const exportColumns = (options: BulkOptions): readonly Column[] => [
  ...always,
  ...(options.sequence ? sequence : []),
  ...(options.structure ? structure : []),
  ...(options.cluster ? cluster : []),
  ...(options.proteinFeatures ? features : []),
];

/** The header line. */
export const csvHeader = (columns: readonly Column[]): string => tableRow(columns.map(({ name }) => name));

/** A row as one line of tab-separated text; unknown values are empty. */
export const csvLine = (columns: readonly Column[], row: ExportRow): string =>
  tableRow(columns.map(({ of }) => of(row)));

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
