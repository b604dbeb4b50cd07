// Reads what the two answers that know proteins, the single record and the bulk archive, say of one. It makes no call.
import {
  type FeatureRow,
  levelSource,
  rankingOf,
  recordActivations,
  recordLevel,
  rowsOf,
  sameScale,
} from './activations.ts';
import type { ArchiveError } from './archive/archive-error.ts';
import type { BulkParts } from './archive/bulk.ts';
import type { ReadRecord } from './atlas.ts';
import { UpstreamError } from './errors.ts';
import { lateMembers } from './late-members.ts';
import { emptyData, type ProteinData, type Source, type Writable } from './protein-data.ts';
import { needsRows, type ProteinNeeds, topOf } from './protein-needs.ts';
import { LateFeatures } from './protein-record.ts';
import { type ClusterInfo, clusterInfo, type FeatureValue, type ProteinRecord } from './wire.ts';

/** A note of where data come from that have just come. */
export const now = (operation: string, requestId?: string): Source => ({
  operation,
  retrievedAt: new Date(),
  fromCache: false,
  requestId,
});

/** Features whose rows are wanted: the top ones of a ranking, and certain ones. */
export const wantedRows = (needs: ProteinNeeds, ranking: readonly FeatureValue[]): number[] => [
  ...ranking.slice(0, needs.residues ?? 0).map((value) => value.feature_index),
  ...(needs.rows ?? []),
];

type Structure = NonNullable<ProteinData['structure']>;

/** The structure of a record whose coordinates are bytes until they are read. A class, because an object with getters of its own is slow to make. */
class LightStructure implements Structure {
  readonly size: number;
  readonly held: number;
  readonly ptm: number | null;
  readonly meanPlddt: number | null;
  private readonly record: ProteinRecord;

  constructor(record: ProteinRecord, size: number, held: number) {
    this.record = record;
    this.size = size;
    this.held = held;
    this.ptm = record.ptm ?? null;
    this.meanPlddt = record.mean_plddt ?? null;
  }
  get pdb() {
    return this.record.pdb ?? '';
  }
  get plddt() {
    return this.record.residues_plddt ?? [];
  }
  toJSON(): Structure {
    const { pdb, plddt, ptm, meanPlddt } = this;
    return { pdb, plddt, ptm, meanPlddt };
  }
}

function structureOf({ record, parts }: ReadRecord): Structure | null {
  const { ptm, mean_plddt: mean } = record;
  const unscored = ptm == null && mean == null;
  if (parts !== undefined) {
    const size = parts.lengthOf('pdb');
    return size === 0 && unscored ? null : new LightStructure(record, size, parts.bytes);
  }
  const { pdb, residues_plddt: plddt } = record;
  if (pdb == null && unscored) return null;
  return { pdb: pdb ?? '', plddt: plddt ?? [], ptm: ptm ?? null, meanPlddt: mean ?? null };
}

type Features = NonNullable<ProteinData['features']>;

/** Features of a record that are bytes until they are read. */
class LightFeatures implements Features {
  readonly top: number;
  readonly regions: number;
  private readonly late: LateFeatures;

  constructor(top: number, late: LateFeatures) {
    this.top = top;
    this.regions = top;
    this.late = late;
  }
  get values() {
    return this.late.values;
  }
  get size() {
    return this.late.size;
  }
  toJSON(): Features {
    const { top, regions, values } = this;
    return { top, regions, values };
  }
}

/** Nobody has asked for the features that come with every record: most of what is to be read of it, where the coordinates are not. */
const lightFeatures = ({ record, parts }: ReadRecord, top: number): Features =>
  parts === undefined
    ? { top, regions: top, values: record.sae_features ?? [] }
    : new LightFeatures(top, new LateFeatures(parts));

/** What a record, asked for its top features, says of activations. */
function addFeatures(data: Writable, found: ReadRecord, needs: ProteinNeeds): void {
  const features = lightFeatures(found, topOf(needs));
  data.features = features;
  data.level = levelSource(() => {
    const vector = recordLevel(found);
    return vector !== undefined && sameScale(features.values, vector) ? vector : null;
  });
  if (needsRows(needs)) {
    const { perResidue } = recordActivations(found);
    data.rows =
      perResidue === undefined
        ? null
        : { top: needs.residues ?? 0, rows: rowsOf(perResidue, wantedRows(needs, features.values)) };
  }
  data.record = found;
}

/**
 * Reads the answer of `GET /proteins/{hash}`; null is the 404.
 *
 * @param needs - what was asked for; null when the answer's features are others than the normalised top ranking
 */
export function fromRecord(hash: string, needs: ProteinNeeds | null, found: ReadRecord | null): ProteinData {
  const from = now('protein', found?.requestId);
  if (found === null) return { hash, exists: false, from };
  const { record } = found;
  const representative = record.cluster_rep_protein_hash ?? null;
  const data: Writable = {
    hash,
    exists: true,
    sequence: record.sequence ?? null,
    length: record.sequence_length ?? record.sequence?.length ?? null,
    accession: record.accession ?? null,
    source: record.source ?? null,
    structure: structureOf(found),
    cluster: { representative, info: null, settled: false },
    from,
  };
  if (record.protein_name != null) data.name = record.protein_name;
  if (needs !== null) addFeatures(data, found, needs);
  if (needs?.fold === true) data.folded = true;
  return data;
}

/** A bulk archive and the rows that were kept of it, by hash. */
export interface ReadBulk {
  readonly parts: BulkParts;
  readonly rows: ReadonlyMap<string, ReadonlyMap<number, FeatureRow>>;
  readonly from: Source;
}

/** Whether an archive has said everything of a protein that it needs, however it goes on. */
export function saysAll(hash: string, needs: ProteinNeeds, { parts, rows }: ReadBulk): boolean {
  const features = parts.features.get(hash);
  return (
    (needs.sequence !== true || parts.sequences.has(hash)) &&
    ((needs.structure !== true && needs.scores !== true) || parts.structures.has(hash)) &&
    ((needs.cluster !== true && needs.link !== true) || parts.clusterOf.has(hash)) &&
    (needs.features === undefined || (features?.top ?? features?.proteinLevel) !== undefined) &&
    (needs.level !== true || features !== undefined) &&
    (!needsRows(needs) || rows.has(hash))
  );
}

/** A damaged archive as the failure that it is to whoever asked for what it lost. */
const damaged = (problem: ArchiveError): UpstreamError =>
  new UpstreamError(
    `The upstream's bulk archive cannot be read: ${problem.message}`,
    {
      operation: 'bulk',
      code: problem.code === 'truncated' ? 'UPSTREAM_UNAVAILABLE' : 'UPSTREAM_DRIFT',
      status: 200,
      retryable: problem.code === 'truncated',
    },
    { cause: problem },
  );

/** Reads what a bulk archive says of one hash; a part that the archive has no member for stays unknown. */
export function fromBulk(
  hash: string,
  asked: ProteinNeeds,
  { parts, rows, from }: ReadBulk,
): { data: ProteinData; problem?: Error } {
  const problem = parts.problems[0] && damaged(parts.problems[0]);
  if (!parts.present.has(hash)) {
    // An archive that lost entries cannot say that a protein does not exist.
    return problem === undefined
      ? { data: { hash, exists: false, from } }
      : { data: emptyData(hash), problem };
  }
  const { members } = parts;
  const data: Writable = { hash, exists: true, from };
  // What is missing from a damaged archive may have been lost: it stays unknown and is asked for again by itself.
  const settled = problem === undefined;
  const sequence = parts.sequences.get(hash);
  if (asked.sequence === true && members.sequences && (settled || sequence !== undefined)) {
    data.sequence = sequence?.sequence ?? null;
    data.length = sequence?.sequence.length ?? null;
    data.accession = sequence?.accession ?? null;
    data.source = sequence?.source ?? null;
  }
  const structure = parts.structures.get(hash);
  if (
    (asked.structure === true || asked.scores === true) &&
    members.structures &&
    (settled || structure !== undefined)
  )
    data.structure = structure ?? null;
  if ((asked.cluster === true || asked.link === true) && members.clusterInfo && members.clusterLinks) {
    const representative = parts.clusterOf.get(hash) ?? null;
    data.cluster = { representative, info: infoOf(parts, representative), settled: true };
  }
  const features = parts.features.get(hash);
  const level = features?.proteinLevel;
  if (asked.features !== undefined && members.features && (features !== undefined || settled)) {
    const ranking = features?.top ?? (level === undefined ? undefined : rankingOf(level, topOf(asked)));
    if (ranking !== undefined || features === undefined)
      data.features = { top: asked.features, regions: 0, values: ranking ?? [] };
  }
  if (asked.level === true && features !== undefined) {
    const own = level !== undefined && sameScale(features.top ?? [], level) ? level : null;
    data.level = own === null ? null : levelSource(() => own);
  }
  const own = rows.get(hash);
  if (own !== undefined) data.rows = { top: asked.residues ?? 0, rows: own };
  return { data };
}

const clusterInfoOf = lateMembers(clusterInfo);

function infoOf(parts: BulkParts, representative: string | null): ClusterInfo | null {
  return representative === null ? null : clusterInfoOf(parts.clusters.get(representative));
}
