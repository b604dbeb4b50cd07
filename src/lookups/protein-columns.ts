// The columns of tables of proteins, of /export.tsv and /export.ndjson; the Python client and the
// examples have the same. All are read from the results of one `lookup` query.
import { type Cell, tableRow } from '../plain-text.ts';

/** The result for one identifier. */
export interface LookupRow {
  /** The identifier; of a FASTA record its header. */
  readonly requested: string;
  readonly status: string;
  readonly problem: string | null;
  readonly protein: unknown;
}

/** A column of a table of proteins. */
export interface ProteinColumn {
  readonly name: string;
  /** Its selection in the protein of `lookup(ids:)`; null for a property of the result itself. */
  readonly selection: string | null;
  /** The value in a row: JSON, null where there is none. */
  read(row: LookupRow): unknown;
}

/** The value at a path of names; null where there is none. */
const valueAt = (value: unknown, path: readonly string[]): unknown =>
  path.reduce<unknown>(
    (here, name) => (typeof here === 'object' && here !== null ? Reflect.get(here, name) : null) ?? null,
    value,
  );

const rowColumn = (name: 'requested' | 'status' | 'problem'): ProteinColumn => ({
  name,
  selection: null,
  read: (row) => row[name],
});

/** A column of a field of the protein. @param path - names of nested fields, separated by dots */
function fieldColumn(name: string, path: string = name): ProteinColumn {
  const names = path.split('.');
  return {
    name,
    selection: names.reduceRight((below, field) => (below === '' ? field : `${field} { ${below} }`), ''),
    read: ({ protein }) => valueAt(protein, names),
  };
}

/** A column of the top ten features. */
const featuresColumn = (
  name: string,
  selection: string,
  toItem: (feature: unknown) => unknown,
): ProteinColumn => ({
  name,
  selection: `features { ${selection} }`,
  read({ protein }) {
    const features = valueAt(protein, ['features']);
    return Array.isArray(features) ? features.map(toItem) : null;
  },
});

/** All columns in their order. */
export const PROTEIN_COLUMNS: readonly ProteinColumn[] = [
  rowColumn('requested'),
  rowColumn('status'),
  fieldColumn('hash'),
  fieldColumn('accession'),
  fieldColumn('source'),
  fieldColumn('name'),
  fieldColumn('organism'),
  fieldColumn('gene'),
  fieldColumn('length'),
  fieldColumn('sequence'),
  fieldColumn('ptm'),
  fieldColumn('mean_plddt', 'plddt.mean'),
  fieldColumn('structure_url', 'structure.url'),
  fieldColumn('cluster_representative', 'cluster.representativeHash'),
  fieldColumn('cluster_name', 'cluster.name'),
  fieldColumn('cluster_size', 'cluster.size'),
  fieldColumn('cluster_percent_characterized', 'cluster.percentCharacterized'),
  featuresColumn('features', 'value feature { index }', (feature) => ({
    index: valueAt(feature, ['feature', 'index']),
    value: valueAt(feature, ['value']),
  })),
  featuresColumn('feature_labels', 'feature { label }', (feature) => valueAt(feature, ['feature', 'label'])),
  rowColumn('problem'),
];

/** The columns with these names, in the order of all columns. */
export const columnsNamed = (names: readonly string[]): ProteinColumn[] =>
  PROTEIN_COLUMNS.filter(({ name }) => names.includes(name));

/** The query that answers these columns for a list of identifiers. */
export function lookupQuery(columns: readonly ProteinColumn[]): string {
  const selections = new Set(['hash', ...columns.flatMap(({ selection }) => selection ?? [])]);
  return (
    'query Lookup($ids: [String!]!) { lookup(ids: $ids) { requested status problem { message } ' +
    `protein { ${[...selections].join(' ')} } } }`
  );
}

interface LookupError {
  readonly message: string;
  readonly path?: readonly (string | number)[] | undefined;
  readonly extensions?: Readonly<Record<string, unknown>> | undefined;
}

/** The place of an identifier in its query, which is not its place in the whole list. */
const PLACE = /^`ids\[\d+\]` \(\d+ characters\) /;

/**
 * A row for each identifier of a query. A protein of which a part could not be read is UNAVAILABLE,
 * and `problem` says why.
 */
export function readRows(
  ids: readonly string[],
  { data, errors = [] }: { readonly data?: unknown; readonly errors?: readonly LookupError[] | undefined },
): LookupRow[] {
  const results = valueAt(data, ['lookup']);
  const failures = new Map(errors.map((error) => [error.path?.[1], error]));
  return ids.map((id, i) => {
    const requested = id.split('\n', 1)[0] ?? id;
    const result: unknown = Array.isArray(results) ? results[i] : null;
    const protein = valueAt(result, ['protein']);
    const failure = failures.get(i) ?? (result == null ? errors[0] : undefined);
    if (failure !== undefined) {
      const problem = `${String(failure.extensions?.code ?? 'ERROR')}: ${failure.message}`;
      return { requested, status: 'UNAVAILABLE', problem, protein };
    }
    const status = String(valueAt(result, ['status']));
    const problem = valueAt(result, ['problem', 'message']);
    return {
      // `lookup` has cut a text that is no identifier.
      requested:
        status === 'NOT_AN_IDENTIFIER'
          ? (String(valueAt(result, ['requested'])).split('\n', 1)[0] ?? '')
          : requested,
      status,
      problem: typeof problem === 'string' ? problem.replace(PLACE, 'It ') : null,
      protein,
    };
  });
}

/** The features as `7:1.5 9:0.2`, their labels between semicolons. */
function toCell(value: unknown): Cell {
  if (typeof value === 'string' || typeof value === 'number') return value;
  if (!Array.isArray(value)) return null;
  const hasValues = value.some((item) => typeof item === 'object' && item !== null);
  return hasValues
    ? value.map((item) => `${valueAt(item, ['index'])}:${valueAt(item, ['value'])}`).join(' ')
    : value.map((label) => label ?? '').join('; ');
}

export const tableHeader = (columns: readonly ProteinColumn[]): string =>
  tableRow(columns.map(({ name }) => name));

export const tableLine = (columns: readonly ProteinColumn[], row: LookupRow): string =>
  tableRow(columns.map((column) => toCell(column.read(row))));

/** A row as a line of JSON, its keys the names of the columns. */
export const jsonLine = (columns: readonly ProteinColumn[], row: LookupRow): string =>
  `${JSON.stringify(Object.fromEntries(columns.map((column) => [column.name, column.read(row)])))}\n`;
