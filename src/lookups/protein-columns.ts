// The columns of tables of proteins: what each selects of a `lookup` query, and what it shows.
import { type Cell, tableRow } from '../plain-text.ts';

/** A column of a table of proteins. */
export interface ProteinColumn {
  readonly name: string;
  /** What it selects of the protein in `lookup(ids:)`; null for a property of the result itself. */
  readonly selection: string | null;
  /** The value in a row: JSON, null where there is none. */
  read(row: LookupRow): unknown;
  /** The same as the cell of a table. */
  cell(value: unknown): Cell;
}

/** The value at a path of names; null where there is none. */
const valueAt = (value: unknown, path: readonly string[]): unknown =>
  path.reduce<unknown>(
    (here, name) => (typeof here === 'object' && here !== null ? Reflect.get(here, name) : null) ?? null,
    value,
  );

const toCell = (value: unknown): Cell =>
  typeof value === 'string' || typeof value === 'number' ? value : null;

/** A column of a property of the row itself. */
const ofRow = (name: 'requested' | 'status' | 'problem'): ProteinColumn => ({
  name,
  selection: null,
  read: (row) => row[name],
  cell: toCell,
});

/** A column of a field of the protein. @param path - names of nested fields, separated by dots */
function ofProtein(name: string, path: string = name): ProteinColumn {
  const names = path.split('.');
  return {
    name,
    selection: names.reduceRight((below, field) => (below === '' ? field : `${field} { ${below} }`), ''),
    read: ({ protein }) => valueAt(protein, names),
    cell: toCell,
  };
}

/** A column of the top ten features. */
const ofFeatures = (
  name: string,
  selection: string,
  toItem: (feature: unknown) => unknown,
  cell: (items: readonly unknown[]) => string,
): ProteinColumn => ({
  name,
  selection: `features { ${selection} }`,
  read({ protein }) {
    const features = valueAt(protein, ['features']);
    return Array.isArray(features) ? features.map(toItem) : null;
  },
  cell: (value) => (Array.isArray(value) ? cell(value) : null),
});

/** All columns in their order: of /export.tsv, `foldatlas lookup` and the examples. */
export const PROTEIN_COLUMNS: readonly ProteinColumn[] = [
  ofRow('requested'),
  ofRow('status'),
  ofProtein('hash'),
  ofProtein('accession'),
  ofProtein('source'),
  ofProtein('name'),
  ofProtein('organism'),
  ofProtein('gene'),
  ofProtein('length'),
  ofProtein('sequence'),
  ofProtein('ptm'),
  ofProtein('mean_plddt', 'plddt.mean'),
  ofProtein('structure_url', 'structure.url'),
  ofProtein('cluster_representative', 'cluster.representativeHash'),
  ofProtein('cluster_name', 'cluster.name'),
  ofProtein('cluster_size', 'cluster.size'),
  ofProtein('cluster_percent_characterized', 'cluster.percentCharacterized'),
  ofFeatures(
    'features',
    'value feature { index }',
    (feature) => ({ index: valueAt(feature, ['feature', 'index']), value: valueAt(feature, ['value']) }),
    (items) => items.map((item) => `${valueAt(item, ['index'])}:${valueAt(item, ['value'])}`).join(' '),
  ),
  ofFeatures(
    'feature_labels',
    'feature { label }',
    (feature) => valueAt(feature, ['feature', 'label']),
    (labels) => labels.map((label) => label ?? '').join('; '),
  ),
  ofRow('problem'),
];

/** The columns with these names, in the order of all columns. */
export const columnsNamed = (names: readonly string[]): ProteinColumn[] =>
  PROTEIN_COLUMNS.filter(({ name }) => names.includes(name));

/** The query that answers these columns for a list of identifiers. */
export function lookupQuery(columns: readonly ProteinColumn[]): string {
  const ofProteins = new Set(['hash', ...columns.flatMap(({ selection }) => selection ?? [])]);
  return (
    'query Lookup($ids: [String!]!) { lookup(ids: $ids) { requested status problem { message } ' +
    `protein { ${[...ofProteins].join(' ')} } } }`
  );
}

/** The result for one identifier. */
export interface LookupRow {
  /** The identifier; of a FASTA record its header. */
  readonly requested: string;
  readonly status: string;
  readonly problem: string | null;
  readonly protein: unknown;
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
    const problem = valueAt(result, ['problem', 'message']);
    return {
      requested,
      status: String(valueAt(result, ['status'])),
      problem: typeof problem === 'string' ? problem.replace(PLACE, 'It ') : null,
      protein,
    };
  });
}

export const tableHeader = (columns: readonly ProteinColumn[]): string =>
  tableRow(columns.map(({ name }) => name));

export const tableLine = (columns: readonly ProteinColumn[], row: LookupRow): string =>
  tableRow(columns.map((column) => column.cell(column.read(row))));

/** A row as a line of JSON, its keys the names of the columns. */
export const jsonLine = (columns: readonly ProteinColumn[], row: LookupRow): string =>
  `${JSON.stringify(Object.fromEntries(columns.map((column) => [column.name, column.read(row)])))}\n`;
