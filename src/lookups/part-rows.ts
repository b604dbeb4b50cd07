// Reads the rows of one part from its archive while it downloads. Structures and activations are
// skipped piece by piece, so memory grows with the rows, not with the archive.
import { archiveLimits } from '../upstream/archive/archive-limits.ts';
import { readBulkRecords } from '../upstream/archive/bulk-stream.ts';
import { rankingOf } from '../upstream/proteins/activations.ts';
import type { PresentProtein } from '../upstream/proteins/protein-data.ts';
import type { LoadResult, ProteinLoader } from '../upstream/proteins/protein-loader.ts';
import type { WireMapping } from '../upstream/renames.ts';
import { type ClusterInfo, clusterInfo, type FeatureValue } from '../upstream/wire.ts';
import type { ExportRow } from './export-row.ts';
import type { BulkOptions } from './lookup.ts';

type Known = { -readonly [K in keyof ExportRow]: ExportRow[K] };

interface Reading {
  readonly rows: Map<string, Known>;
  readonly clusters: Map<string, ClusterInfo>;
  readonly links: Map<string, string>;
  damaged: boolean;
  /** Whether the archive has the list of sequences, which names every protein that exists. */
  listed: boolean;
}

const featureRow = ({ feature_index: index, value, label }: FeatureValue) => ({
  index,
  value,
  label: label ?? null,
});

async function readAll(
  archive: AsyncIterable<Uint8Array>,
  hashes: ReadonlySet<string>,
  { top, residueFeatures, sequence: wantsSequence }: BulkOptions,
  structureUrl: (hash: string) => string,
  mapping: WireMapping | undefined,
) {
  const reading: Reading = {
    rows: new Map(),
    clusters: new Map(),
    links: new Map(),
    damaged: false,
    listed: false,
  };
  const row = (hash: string): Known => {
    const found = reading.rows.get(hash) ?? { hash, status: 'FOUND' };
    reading.rows.set(hash, found);
    return found;
  };
  const limits = archiveLimits({ proteins: hashes.size, perResidue: residueFeatures });
  await readBulkRecords(archive, { mapping, hashes, limits }, (record) => {
    if (record.part === 'member') reading.listed ||= record.member === 'sequences';
    else if (record.part === 'sequence') {
      const { sequence, accession, source } = record.sequence;
      const own = row(record.hash);
      if (wantsSequence) Object.assign(own, { accession, source, length: sequence.length, sequence });
    } else if (record.part === 'structure') {
      const { ptm, meanPlddt } = record.structure;
      Object.assign(row(record.hash), {
        ptm,
        meanPlddt: meanPlddt === null ? null : Number((meanPlddt * 100).toFixed(3)),
        structureUrl: structureUrl(record.hash),
      });
    } else if (record.part === 'features') {
      const { top: ranked, proteinLevel } = record.features;
      const values = ranked ?? (proteinLevel === undefined ? undefined : rankingOf(proteinLevel, top));
      const own = row(record.hash);
      if (values !== undefined) own.features = values.map(featureRow);
    } else if (record.part === 'cluster') {
      const parsed = clusterInfo.safeParse(record.record);
      if (parsed.success) reading.clusters.set(record.representative, parsed.data);
    } else if (record.part === 'link' && record.representative !== null) {
      row(record.hash);
      reading.links.set(record.hash, record.representative);
    } else if (record.part === 'problem') reading.damaged = true;
  });
  return reading;
}

/** The representative of a protein's cluster; undefined where the archive does not name it. */
const representativeIn = ({ links, clusters }: Reading, hash: string): string | undefined =>
  links.get(hash) ?? (clusters.has(hash) ? hash : undefined);

function clusterRow({ clusters }: Reading, representative: string): NonNullable<ExportRow['cluster']> {
  const info = clusters.get(representative);
  return {
    representative,
    name: info?.protein_name ?? null,
    size: info?.cluster_size ?? null,
    percentCharacterized: info?.cluster_pct_characterized ?? null,
  };
}

/** The rows of a part, by hash. */
export interface PartRows {
  readonly rows: ReadonlyMap<string, ExportRow>;
  /** The archive's values of a cluster. */
  clusterOf(representative: string): NonNullable<ExportRow['cluster']>;
}

/**
 * Reads the rows of a part.
 *
 * @param structureUrl - the address of a structure at the gateway, by hash
 * @param mapping - names that the deployment uses instead of those of the contract
 * @returns a row for each requested hash, found or not, without keys that the archive leaves out
 */
export async function readPartRows(
  archive: AsyncIterable<Uint8Array>,
  hashes: readonly string[],
  options: BulkOptions,
  structureUrl: (hash: string) => string,
  mapping?: WireMapping,
): Promise<PartRows> {
  const reading = await readAll(archive, new Set(hashes), options, structureUrl, mapping);
  const rows = new Map(
    hashes.map((hash): [string, ExportRow] => {
      const found = reading.rows.get(hash);
      // Only a complete list of sequences proves that a protein does not exist.
      const absent = reading.damaged ? 'DAMAGED' : reading.listed ? 'NOT_IN_ATLAS' : 'UNAVAILABLE';
      if (found === undefined) return [hash, { hash, status: absent }];
      const { hash: _, status, ...known } = found;
      const representative = options.cluster ? representativeIn(reading, hash) : undefined;
      const cluster = representative === undefined ? {} : { cluster: clusterRow(reading, representative) };
      return [hash, { hash, status, ...known, ...cluster }];
    }),
  );
  return { rows, clusterOf: (representative) => clusterRow(reading, representative) };
}

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
