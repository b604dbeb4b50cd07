// Completes rows from single records: archives name no members of clusters and do not say why a
// structure is missing. A row whose record cannot be loaded stays as it is.

import type { PresentProtein } from '../upstream/proteins/protein-data.ts';
import type { LoadResult, ProteinLoader } from '../upstream/proteins/protein-loader.ts';
import type { ExportRow } from './export-row.ts';
import type { BulkOptions } from './lookup.ts';
import type { PartRows } from './part-rows.ts';

/** Whether a requested value is unknown. */
const isOpen = (row: ExportRow, options: BulkOptions): boolean =>
  row.status === 'FOUND' &&
  ((options.sequence && row.sequence === undefined) ||
    (options.structure && row.structureUrl === undefined) ||
    (options.cluster && row.cluster === undefined) ||
    (options.proteinFeatures && row.features === undefined));

const percent = (mean: number | null | undefined): number | null =>
  mean == null ? null : Number((mean * 100).toFixed(3));

/** The values of a protein's record for its row. */
function rowOf(
  data: PresentProtein,
  options: BulkOptions,
  urlOf: (hash: string) => string,
): Partial<ExportRow> {
  const { sequence = null, accession = null, source = null, length = null, structure, features } = data;
  return {
    ...(options.sequence ? { accession, source, length, sequence } : {}),
    ...(options.structure
      ? {
          ptm: structure?.ptm ?? null,
          meanPlddt: percent(structure?.meanPlddt),
          structureUrl: structure == null ? null : urlOf(data.hash),
        }
      : {}),
    ...(options.proteinFeatures
      ? {
          features: (features?.values ?? [])
            .slice(0, options.top)
            .map(({ feature_index: index, value, label }) => ({ index, value, label: label ?? null })),
        }
      : {}),
  };
}

/**
 * Completes the rows of a part.
 *
 * @param open - creates a loader for this part alone, so that its records can be freed
 */
export async function completeRows(
  { rows, clusterOf }: PartRows,
  options: BulkOptions,
  urlOf: (hash: string) => string,
  open: () => Promise<Pick<ProteinLoader, 'loadAll'>>,
): Promise<ReadonlyMap<string, ExportRow>> {
  const hashes = [...rows.values()].filter((row) => isOpen(row, options)).map(({ hash }) => hash);
  if (hashes.length === 0) return rows;
  const needs = { record: true, scores: true, link: true, features: options.top, sequence: true } as const;
  const found: LoadResult[] = await (await open()).loadAll(hashes, needs);
  const complete = new Map(rows);
  for (const [i, hash] of hashes.entries()) {
    const data = found[i];
    const row = rows.get(hash);
    if (row === undefined) continue;
    if (data === null || data === undefined || data instanceof Error) {
      complete.set(hash, { ...row, status: 'UNAVAILABLE' });
      continue;
    }
    const cluster = options.cluster
      ? { cluster: data.cluster == null ? null : clusterOf(data.cluster.representative) }
      : {};
    complete.set(hash, { ...rowOf(data, options, urlOf), ...cluster, ...row });
  }
  return complete;
}
