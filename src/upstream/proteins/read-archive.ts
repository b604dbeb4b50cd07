// Reads what a bulk archive says of each protein. Only a list of sequences proves that a protein
// does not exist; any other missing part stays unknown.
import { readText } from '../../structure/lazy-text.ts';
import type { BulkParts } from '../archive/bulk.ts';
import type { BulkSequence } from '../archive/fasta.ts';
import type { BulkFeatures } from '../archive/features-file.ts';
import type { ArchivedStructure } from '../archive/structure-file.ts';
import { isFields } from '../json/is-fields.ts';
import { readFields } from '../json/plain-values.ts';
import { UNKNOWN } from '../part.ts';
import { type ClusterInfo, clusterInfo } from '../wire.ts';
import { hasSameScale, toRanking } from './activations.ts';
import { matchesSequence } from './check-record.ts';
import type { RequiredParts } from './parts.ts';
import type { ProteinRecord, Source } from './record.ts';
import { needsCluster, needsStructure, topFeatureCount } from './required-parts.ts';
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
  const identity = findSequence(hash, parts);
  const structure = needsStructure(needs)
    ? structureParts(parts.structures.get(hash), identity?.sequence)
    : undefined;
  // One literal: joined from several objects, a record takes five times as long.
  return {
    hash,
    from,
    oldest: from.retrievedAt,
    sequence: identity?.sequence,
    length: identity?.sequence.length,
    accession: identity?.accession,
    source: identity?.source,
    structure: structure?.structure,
    plddt: structure?.plddt,
    ptm: structure?.ptm,
    meanPlddt: structure?.meanPlddt,
    cluster: needsCluster(needs) ? readLink(hash, archive) : UNKNOWN,
    ...featureParts(needs, parts.features.get(hash), archive.isRanked),
  };
}

/** The entry of a protein in the list of sequences, unless its sequence is another protein's. */
function findSequence(hash: string, { sequences }: BulkParts): BulkSequence | undefined {
  const found = sequences.get(hash);
  return found !== undefined && matchesSequence(hash, found.sequence) ? found : undefined;
}

function structureParts(
  found: ArchivedStructure | undefined,
  sequence: string | undefined,
): Pick<ProteinRecord, 'structure' | 'plddt' | 'ptm' | 'meanPlddt'> | undefined {
  if (found === undefined) return undefined;
  // Without the remark the record may state it.
  const ptm = found.statesPtm ? found.ptm : UNKNOWN;
  if (!found.hasAtoms) return { structure: null, plddt: null, ptm, meanPlddt: found.statedMean };
  if (sequence === undefined) return { ptm, meanPlddt: found.statedMean ?? UNKNOWN };
  const structure = readStructure(found.text, { sequence, length: undefined }, found.residues);
  return { structure, ptm, meanPlddt: found.statedMean ?? readResidues(readText(found.text)).mean };
}

/** Without a list of members an archive shows only which proteins represent a cluster. */
function readLink(hash: string, { parts, clusters }: Archive): ProteinRecord['cluster'] {
  const representative = parts.representatives.get(hash);
  if (representative !== undefined) return { representative, info: clusters.get(representative) };
  const info = clusters.get(hash);
  return info === undefined ? UNKNOWN : { representative: hash, info };
}

/**
 * The clusters of an archive, by representative. A value that breaks the contract is left out: the
 * record of the cluster says it, or the error.
 */
export function readClusters({ clusters }: BulkParts): Map<string, ClusterInfo> {
  const infos = new Map<string, ClusterInfo>();
  for (const [representative, record] of clusters)
    if (isFields(record)) infos.set(representative, readFields(clusterInfo, record));
  return infos;
}

function featureParts(
  needs: RequiredParts,
  found: BulkFeatures | undefined,
  isRanked: boolean,
): Pick<ProteinRecord, 'features' | 'level' | 'rows'> {
  const vector = found?.proteinLevel;
  const values =
    found?.top ?? (isRanked && vector !== undefined ? toRanking(vector, topFeatureCount(needs)) : undefined);
  return {
    features: needs.features && values ? { top: needs.features, regions: 0, values } : UNKNOWN,
    level: needs.level === true ? readLevel(found) : UNKNOWN,
    rows: values || needs.residues === undefined ? readRows(needs, found) : UNKNOWN,
  };
}

/** The activations; null where nothing shows that they have the scale of the ranking. */
function readLevel(found: BulkFeatures | undefined): ProteinRecord['level'] {
  if (found?.top === undefined) return UNKNOWN;
  const { top, proteinLevel } = found;
  return proteinLevel !== undefined && hasSameScale(top, proteinLevel) ? proteinLevel : null;
}

/** The caller has checked that top features have a ranking: without one they would be others. */
function readRows(needs: RequiredParts, found: BulkFeatures | undefined): ProteinRecord['rows'] {
  return found?.rows && { top: needs.residues ?? 0, rows: [...found.rows.values()] };
}
