// Reads what a bulk archive says of each protein. Only a list of sequences proves that a protein does
// not exist; any other missing part stays unknown.
import type { BulkParts } from '../archive/bulk.ts';
import type { BulkFeatures } from '../archive/features-file.ts';
import type { StructureFile } from '../archive/structure-file.ts';
import { validate } from '../http/validate-response.ts';
import { isFields } from '../json/is-fields.ts';
import { UNKNOWN } from '../part.ts';
import { type ClusterInfo, clusterInfo } from '../wire.ts';
import { hasSameScale, toRanking } from './activations.ts';
import { isSequenceOf } from './check-record.ts';
import { emptyRecord, type ProteinRecord, type Source } from './record.ts';
import { needsCluster, needsStructure, type RequiredParts, topOf } from './required-parts.ts';
import { readResidues, readStructure } from './structure.ts';

/** An archive, and what is read of all of it. */
export interface Archive {
  readonly parts: BulkParts;
  readonly from: Source;
  /** By representative. */
  readonly clusters: ReadonlyMap<string, ClusterInfo>;
  /** Whether activations without a ranking have the scale of one. */
  readonly isRanked: boolean;
}

/**
 * Reads one protein.
 *
 * @returns null where the archive proves that there is none; undefined where it does not mention it
 */
export function readArchived(
  hash: string,
  needs: RequiredParts,
  archive: Archive,
): ProteinRecord | null | undefined {
  const { parts, from } = archive;
  if (!parts.present.has(hash)) return parts.hasSequences && parts.problems.length === 0 ? null : undefined;
  const identity = identityParts(hash, parts);
  return {
    ...emptyRecord(hash, from),
    ...identity,
    ...(needsStructure(needs) ? structureParts(parts.structures.get(hash), identity?.sequence) : undefined),
    ...(needsCluster(needs) ? { cluster: readLink(hash, archive) } : undefined),
    ...featureParts(needs, parts.features.get(hash), archive.isRanked),
  };
}

function identityParts(hash: string, { sequences }: BulkParts) {
  const found = sequences.get(hash);
  // Unless it is another protein's.
  if (found === undefined || !isSequenceOf(hash, found.sequence)) return undefined;
  const { sequence, accession, source } = found;
  return { sequence, length: sequence.length, accession, source };
}

function structureParts(
  found: StructureFile | undefined,
  sequence: string | undefined,
): Partial<ProteinRecord> {
  if (found === undefined) return {};
  // Without the remark the record may state it.
  const ptm = found.statesPtm ? found.ptm : UNKNOWN;
  if (!found.hasAtoms) return { structure: null, plddt: null, ptm, meanPlddt: found.statedMean };
  if (sequence === undefined) return { ptm, meanPlddt: found.statedMean ?? UNKNOWN };
  const pdb = found.read();
  const structure = readStructure(found.text, { sequence, length: undefined }, pdb);
  return { structure, ptm, meanPlddt: found.statedMean ?? readResidues(pdb).mean };
}

/** Without a list of members an archive shows only which proteins represent a cluster. */
function readLink(hash: string, { parts, clusters }: Archive): ProteinRecord['cluster'] {
  const representative = parts.clusterOf.get(hash);
  if (representative !== undefined) return { representative, info: clusters.get(representative) };
  const info = clusters.get(hash);
  return info === undefined ? UNKNOWN : { representative: hash, info };
}

/** What an archive says of its clusters, by representative. */
export function readClusters({ clusters }: BulkParts): Map<string, ClusterInfo> {
  const infos = new Map<string, ClusterInfo>();
  for (const [representative, record] of clusters)
    if (isFields(record)) infos.set(representative, readClusterInfo(record));
  return infos;
}

/** A value that breaks the contract is left out: the record of the cluster says it, or the error. */
function readClusterInfo(record: Record<string, unknown>): ClusterInfo {
  const parsed = clusterInfo.safeParse(record);
  if (parsed.success) return parsed.data;
  const broken = new Set(parsed.error.issues.map(({ path }) => path[0]));
  const readable = Object.entries(record).filter(([key]) => !broken.has(key));
  return validate('clusterInfo', clusterInfo, Object.fromEntries(readable));
}

function featureParts(
  needs: RequiredParts,
  found: BulkFeatures | undefined,
  isRanked: boolean,
): Partial<ProteinRecord> {
  const vector = found?.proteinLevel;
  const ranking =
    found?.top ?? (isRanked && vector !== undefined ? toRanking(vector, topOf(needs)) : undefined);
  const rows = found?.rows;
  return {
    ...(needs.features !== undefined && ranking !== undefined
      ? { features: { top: needs.features, regions: 0, values: ranking } }
      : {}),
    ...(needs.level === true && found?.top !== undefined
      ? { level: vector !== undefined && hasSameScale(found.top, vector) ? vector : null }
      : {}),
    // Without a ranking they may be those of other features, and on another scale.
    ...(rows !== undefined && (ranking !== undefined || needs.residues === undefined)
      ? { rows: { top: needs.residues ?? 0, rows: [...rows.values()] } }
      : {}),
  };
}
