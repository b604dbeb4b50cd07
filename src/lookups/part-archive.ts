// What the archive of one part of a look-up says of its proteins, by the groups of values in a row.
import { archiveLimits } from '../upstream/archive/archive-limits.ts';
import { readBulkRecords } from '../upstream/archive/bulk.ts';
import type { BulkRecord } from '../upstream/archive/bulk-members.ts';
import { rankingOf } from '../upstream/proteins/activations.ts';
import { isSequenceOf } from '../upstream/proteins/record-parts.ts';
import type { WireMapping } from '../upstream/renames.ts';
import { type ClusterInfo, clusterInfo, type FeatureValue } from '../upstream/wire.ts';
import { percentage } from '../upstream/wire-values.ts';
import type { ExportRow, ValueGroup } from './export-row.ts';
import type { BulkOptions } from './lookup.ts';

export interface ArchiveSources {
  structureUrl(hash: string): string;
  /** Names that the deployment uses instead of those of the contract. */
  readonly mapping?: WireMapping | undefined;
}

/** What a row tells of a cluster. */
type RowCluster = Pick<ClusterInfo, 'protein_name' | 'cluster_size' | 'cluster_pct_characterized'>;

/** Nothing else of a cluster may be the reason that its row lacks this. */
const rowCluster = clusterInfo
  .pick({ protein_name: true, cluster_size: true })
  .extend({ cluster_pct_characterized: percentage.catch(undefined) });

/** What is known of a protein; a group that is absent is not known yet. */
export type Known = { [G in ValueGroup]?: Partial<ExportRow> };

export interface PartReading {
  readonly known: Map<string, Known>;
  readonly clusters: Map<string, RowCluster>;
  readonly links: Map<string, string>;
  /** Rankings of activations whose scale the archive does not tell. */
  readonly unscaled: Map<string, readonly FeatureValue[]>;
  damaged: boolean;
  /** Whether the archive has the list of sequences, which names every protein that exists. */
  listed: boolean;
}

export const percent = (mean: number | null | undefined): number | null =>
  mean == null ? null : Number((mean * 100).toFixed(3));

export const featuresOf = (values: readonly FeatureValue[], top: number): Partial<ExportRow> => ({
  features: values
    .slice(0, top)
    .map(({ feature_index: index, value, label }) => ({ index, value, label: label ?? null })),
});

export const clusterOf = ({ clusters }: PartReading, representative: string): Partial<ExportRow> => {
  const info = clusters.get(representative);
  return {
    cluster: {
      representative,
      name: info?.protein_name ?? null,
      size: info?.cluster_size ?? null,
      percentCharacterized: info?.cluster_pct_characterized ?? null,
    },
  };
};

function takeRecord(reading: PartReading, record: BulkRecord, top: number, sources: ArchiveSources): void {
  const know = (hash: string, values: Known): void => {
    reading.known.set(hash, Object.assign(reading.known.get(hash) ?? {}, values));
  };
  if (record.part === 'member') reading.listed ||= record.member === 'sequences';
  else if (record.part === 'problem') reading.damaged = true;
  else if (record.part === 'sequence') {
    const { sequence, accession, source } = record.sequence;
    const own = { accession, source, length: sequence.length, sequence };
    // Unless it is another protein's.
    know(record.hash, isSequenceOf(record.hash, sequence) ? { sequence: own } : {});
  } else if (record.part === 'structure') {
    const { statesPtm, ptm, meanPlddt } = record.structure;
    const structureUrl = sources.structureUrl(record.hash);
    const scores = { ...(statesPtm ? { ptm } : {}), meanPlddt: percent(meanPlddt) };
    know(record.hash, { structure: { ...scores, structureUrl } });
  } else if (record.part === 'features') {
    const { proteinLevel, top: ranked } = record.features;
    know(record.hash, ranked === undefined ? {} : { proteinFeatures: featuresOf(ranked, ranked.length) });
    if (ranked === undefined && proteinLevel !== undefined)
      reading.unscaled.set(record.hash, rankingOf(proteinLevel, top));
  } else if (record.part === 'cluster') {
    const { data } = rowCluster.safeParse(record.record);
    if (data !== undefined) reading.clusters.set(record.representative, data);
  } else if (record.part === 'link') {
    know(record.hash, {});
    reading.links.set(record.hash, record.representative);
  }
}

/** Reads an archive. A representative is linked to its cluster by its own hash. */
export async function readArchive(
  archive: AsyncIterable<Uint8Array>,
  hashes: readonly string[],
  { top, residueFeatures: perResidue }: BulkOptions,
  sources: ArchiveSources,
): Promise<PartReading> {
  const reading: PartReading = {
    known: new Map(),
    clusters: new Map(),
    links: new Map(),
    unscaled: new Map(),
    damaged: false,
    listed: false,
  };
  const limits = archiveLimits({ proteins: hashes.length, perResidue });
  const options = { mapping: sources.mapping, hashes: new Set(hashes), limits };
  await readBulkRecords(archive, options, (record) => takeRecord(reading, record, top, sources));
  for (const [hash, known] of reading.known) {
    const representative = reading.links.get(hash) ?? (reading.clusters.has(hash) ? hash : undefined);
    if (representative !== undefined && reading.clusters.has(representative))
      known.cluster = clusterOf(reading, representative);
  }
  return reading;
}
