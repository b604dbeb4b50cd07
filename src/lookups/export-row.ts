// One row of a look-up as JSON or tab-separated text. Units are those of the schema: pLDDT and
// shares 0 to 100, pTM 0 to 1.
import { type Cell, tableRow } from '../plain-text.ts';
import type { BulkOptions } from './lookup.ts';

/** Increased when columns or keys of the rows change; part of the file's name. */
export const ROW_SCHEMA = 2;

/**
 * The columns of every table of proteins, in their order: of bulk look-ups, `foldatlas lookup`, the
 * Python client and the front-end example. A table leaves out what it does not have.
 */
export const TABLE_COLUMNS = [
  ...['requested', 'status', 'hash', 'accession', 'source', 'name', 'organism', 'gene', 'length'],
  ...['sequence', 'ptm', 'mean_plddt', 'structure_url', 'cluster_representative', 'cluster_name'],
  ...['cluster_size', 'cluster_percent_characterized', 'features', 'feature_labels', 'problem'],
] as const;

/**
 * Why a row of a bulk look-up has no protein, in a sentence. NO_SUCH_ENTRY and NOT_AN_IDENTIFIER are
 * the statuses of identifiers, which bulk look-ups refuse before they start.
 */
const PROBLEMS = {
  FOUND: null,
  NOT_IN_ATLAS: 'The Atlas does not have this protein.',
  CANCELLED: 'The look-up was cancelled before it reached this protein.',
  FAILED: 'The part of the look-up with this protein failed.',
  EXPIRED: 'The upstream has deleted the results.',
  UNAVAILABLE: 'The upstream failed; nothing is known of this protein.',
  DAMAGED: 'The archive of the upstream is damaged; nothing is known of this protein.',
} as const;

export type RowStatus = keyof typeof PROBLEMS;

/** Undefined is what was not requested or is unknown, null what the Atlas does not have. */
export interface ExportRow {
  readonly requested?: string;
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
    label: string | null;
  }[];
  /** Address of the structure at the gateway; null where there is none. */
  readonly structureUrl?: string | null;
}

/** Values of a row that are asked for together, by their option. */
export type ValueGroup = 'sequence' | 'structure' | 'proteinFeatures' | 'cluster';

/** The groups that are asked for, in the order of the row's keys. */
export const groupsOf = (options: BulkOptions): ValueGroup[] =>
  (['sequence', 'structure', 'proteinFeatures', 'cluster'] as const).filter((group) => options[group]);

export const jsonLine = (row: ExportRow): string => `${JSON.stringify(row)}\n`;

type Cells<Row> = Readonly<Record<string, (row: Row) => Cell>>;

/** A table with the columns that have cells, in the order of {@link TABLE_COLUMNS}. */
export function tableOf<Row>(cells: Cells<Row>) {
  const columns = TABLE_COLUMNS.filter((name) => cells[name] !== undefined);
  return {
    header: tableRow(columns),
    line: (row: Row): string => tableRow(columns.map((name) => cells[name]?.(row))),
  };
}

/** The cells of a bulk look-up, by the option that asks for them. */
const CELLS: Readonly<Record<ValueGroup, Cells<ExportRow>>> = {
  sequence: {
    accession: (row) => row.accession,
    source: (row) => row.source,
    length: (row) => row.length,
    sequence: (row) => row.sequence,
  },
  structure: {
    ptm: (row) => row.ptm,
    mean_plddt: (row) => row.meanPlddt,
    structure_url: (row) => row.structureUrl,
  },
  proteinFeatures: {
    features: (row) => row.features?.map(({ index, value }) => `${index}:${value}`).join(' '),
    feature_labels: (row) => row.features?.map(({ label }) => label ?? '').join('; '),
  },
  cluster: {
    cluster_representative: (row) => row.cluster?.representative,
    cluster_name: (row) => row.cluster?.name,
    cluster_size: (row) => row.cluster?.size,
    cluster_percent_characterized: (row) => row.cluster?.percentCharacterized,
  },
};

export const exportTable = (options: BulkOptions) =>
  tableOf<ExportRow>({
    requested: (row) => row.requested,
    status: (row) => row.status,
    hash: (row) => row.hash,
    ...Object.fromEntries(groupsOf(options).flatMap((group) => Object.entries(CELLS[group]))),
    problem: (row) => PROBLEMS[row.status],
  });
