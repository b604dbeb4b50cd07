// Merges what the single record and the bulk archive say of one protein.

import type { ArchiveError } from '../archive/archive-limits.ts';
import type { BulkParts } from '../archive/bulk.ts';
import { UpstreamError } from '../errors.ts';
import { isFields } from '../json/is-fields.ts';
import { lazyObject } from '../json/late-members.ts';
import { type ClusterInfo, clusterInfo, type FeatureValue } from '../wire.ts';
import { rankingOf, rowsOf, sameScale } from './activations.ts';
import {
  type AbsentProtein,
  type Gap,
  lazily,
  type Mutable,
  type PresentProtein,
  type ProteinData,
  type Source,
} from './protein-data.ts';
import { type ReadRecord, smallMembers } from './protein-record.ts';
import { checkRecord, featuresOf, isSequenceOf, scoresAlone, structureOf } from './record-parts.ts';
import { needsCluster, needsRows, needsStructure, type RequiredParts, topOf } from './required-parts.ts';

/** A note of where data come from that have just come. */
export const stampedNow = (operation: string, requestId?: string): Source => ({
  operation,
  retrievedAt: new Date(),
  fromCache: false,
  requestId,
});

/** Features whose rows are wanted: the top ones of a ranking, and certain ones. */
const wantedRows = (needs: RequiredParts, ranking: readonly FeatureValue[]): number[] => [
  ...ranking.slice(0, needs.residues ?? 0).map((value) => value.feature_index),
  ...(needs.rows ?? []),
];

/** The activations in a record that was requested for its top features. */
function addFeatures(data: Mutable, found: ReadRecord, needs: RequiredParts): void {
  const { parts } = found;
  const features = featuresOf(found, topOf(needs));
  if (features !== undefined) data.features = features;
  data.level = lazily(() => {
    const vector = parts.level();
    return vector !== undefined && sameScale(features?.values ?? [], vector) ? vector : null;
  });
  if (needsRows(needs)) {
    const matrix = parts.perResidue();
    if (matrix === undefined) data.gaps = [...(data.gaps ?? []), 'record:rows'];
    else
      data.rows = {
        top: features === undefined ? 0 : (needs.residues ?? 0),
        rows: rowsOf(matrix, wantedRows(needs, features?.values ?? [])),
      };
  }
  data.record = { own: smallMembers(found), raw: lazily(() => parts.readAll(), parts.bytes) };
}

/** What a record says of structure and cluster, and of which of them it says nothing. */
function addParts(data: Mutable, found: ReadRecord): void {
  const { record } = found;
  const gaps: Gap[] = [];
  const structure = structureOf(found);
  if (structure !== undefined) data.structure = structure;
  else gaps.push('record:structure');
  if (record.ptm == null) gaps.push('record:ptm');
  if (record.ptm != null || record.mean_plddt != null)
    data.scores = { ptm: record.ptm ?? null, meanPlddt: record.mean_plddt ?? null };
  const representative = record.cluster_rep_protein_hash;
  if (representative != null) data.cluster = { representative, info: null };
  // It names none for a representative, too.
  else gaps.push('record:cluster');
  if (gaps.length > 0) data.gaps = gaps;
}

/**
 * Reads the answer of `GET /proteins/{hash}`; null is its own 404, which proves that there is no
 * such protein.
 *
 * @param needs - what was requested; null unless the features are the normalised top ranking
 * @throws UpstreamError UPSTREAM_DRIFT for a record that cannot be that of the protein
 */
export function fromRecord(
  hash: string,
  needs: RequiredParts | null,
  found: ReadRecord | null,
): PresentProtein | AbsentProtein {
  const from = stampedNow('protein', found?.requestId);
  if (found === null) return { hash, state: 'absent', from };
  checkRecord(hash, found);
  const { record } = found;
  const data: Mutable = {
    hash,
    state: 'present',
    length: record.sequence_length ?? record.sequence?.length ?? null,
    accession: record.accession ?? null,
    source: record.source ?? null,
    name: record.protein_name ?? null,
    header: record.header ?? null,
    from,
  };
  if (record.sequence != null) data.sequence = record.sequence;
  addParts(data, found);
  if (needs !== null) addFeatures(data, found, needs);
  if (needs?.fold === true) data.folded = true;
  return data;
}

/** What the archive of a bulk call says. */
export interface ReadBulk {
  readonly parts: BulkParts;
  readonly from: Source;
  /**
   * Whether the archive was read to its end without loss: only then do missing parts mean anything.
   */
  readonly isWhole: boolean;
  /** Whether the request included the sequences, which name every protein that exists. */
  readonly asksSequences: boolean;
}

/** A damaged archive as the failure of the callers whose parts were lost. */
const damaged = (problem: ArchiveError): UpstreamError =>
  new UpstreamError(
    `The upstream's bulk archive cannot be read: ${problem.message}`,
    {
      operation: 'bulk',
      code: problem.isTruncated ? 'UPSTREAM_UNAVAILABLE' : 'UPSTREAM_DRIFT',
      status: 200,
      retryable: problem.isTruncated,
    },
    { cause: problem },
  );

/** What was requested of a whole archive and is missing from it. */
function gapsOf(hash: string, asked: RequiredParts, { parts, isWhole }: ReadBulk, hasRows = false): Gap[] {
  if (!isWhole) return [];
  const gaps: Gap[] = [];
  if (needsStructure(asked) && !parts.structures.has(hash)) gaps.push('archive:structure');
  if (asked.ptm === true && parts.structures.get(hash)?.statesPtm !== true) gaps.push('archive:ptm');
  if (needsRows(asked) && !hasRows) gaps.push('archive:rows');
  return gaps;
}

function addArchiveFeatures(
  data: Mutable,
  asked: RequiredParts,
  { parts }: ReadBulk,
  isRanked: boolean,
): void {
  const features = parts.features.get(data.hash);
  const level = features?.proteinLevel;
  const ranking =
    features?.top ?? (isRanked && level !== undefined ? rankingOf(level, topOf(asked)) : undefined);
  if (asked.features !== undefined && ranking !== undefined)
    data.features = { top: asked.features, regions: 0, values: ranking };
  if (asked.level === true && features?.top !== undefined) {
    const own = level !== undefined && sameScale(features.top, level) ? level : null;
    data.level = own === null ? null : lazily(() => own);
  }
  const own = features?.rows;
  // Without a ranking they may be those of other features, and on another scale.
  if (own !== undefined && (ranking !== undefined || asked.residues === undefined))
    data.rows = { top: asked.residues ?? 0, rows: own };
}

/**
 * Reads what a bulk archive says of one hash. Only a whole list of sequences proves that a protein
 * does not exist; any other missing part stays unknown.
 *
 * @param isRanked - whether the activations of an archive without rankings are known to have their scale
 */
export function fromBulk(
  hash: string,
  asked: RequiredParts,
  read: ReadBulk,
  isRanked = false,
): { data: ProteinData; problem?: Error } {
  const { parts, from, isWhole, asksSequences } = read;
  if (!parts.present.has(hash)) {
    if (isWhole && asksSequences && parts.hasSequences) return { data: { hash, state: 'absent', from } };
    const problem = parts.problems[0];
    const data: ProteinData = { hash, state: 'unknown', gaps: gapsOf(hash, asked, read) };
    return problem === undefined ? { data } : { data, problem: damaged(problem) };
  }
  const data: Mutable = { hash, state: 'present', from };
  const found = parts.sequences.get(hash);
  // Unless it is another protein's.
  if (found !== undefined && isSequenceOf(hash, found.sequence))
    Object.assign(data, found, { length: found.sequence.length });
  const structure = needsStructure(asked) ? parts.structures.get(hash) : undefined;
  if (structure !== undefined)
    data.structure = structure.hasAtoms
      ? structure
      : scoresAlone({
          pdb: null,
          ptm: structure.ptm,
          mean_plddt: structure.statedMean,
          residues_plddt: null,
        });
  const representative = needsCluster(asked) ? parts.clusterOf.get(hash) : undefined;
  if (representative !== undefined)
    data.cluster = { representative, info: clusterInfoOf(parts.clusters.get(representative)) };
  addArchiveFeatures(data, asked, read, isRanked);
  const gaps = gapsOf(hash, asked, read, data.rows !== undefined);
  if (gaps.length > 0) data.gaps = gaps;
  return { data };
}

const lazyClusterInfo = lazyObject('clusterInfo', clusterInfo);

/** What an archive says of a cluster, read member by member; null where that is no object. */
export const clusterInfoOf = (record: unknown): ClusterInfo | null =>
  isFields(record) ? lazyClusterInfo((key) => record[key]) : null;
