// What is known of one protein, gathered from whichever answers spoke of it: the single record, a bulk archive, a
// similarity hit. Undefined means not asked, null means asked and absent. Pure; it makes no call.

import type { BulkParts } from './archive/bulk.ts';
import type { WithRaw } from './atlas.ts';
import type { ProteinNeeds } from './protein-needs.ts';
import { type ClusterInfo, clusterInfo, type FeatureValue, type ProteinRecord } from './wire.ts';

/** Where the data came from and when. */
export interface Source {
  readonly operation: string;
  readonly retrievedAt: Date;
  readonly fromCache: boolean;
  readonly requestId: string | undefined;
}

/** A predicted structure; pLDDT on 0 to 1 as it came. */
export interface StructureData {
  /** Undefined when the answer gave the scores without the coordinates. */
  readonly pdb: string;
  readonly ptm: number | null;
  readonly meanPlddt: number | null;
  readonly plddt: readonly (number | null)[];
}

export interface ProteinData {
  readonly hash: string;
  /** Undefined: nobody has said so far. */
  readonly exists: boolean | undefined;
  readonly sequence?: string | null;
  readonly length?: number | null;
  readonly accession?: string | null;
  readonly source?: string | null;
  readonly name?: string | null;
  readonly structure?: StructureData | null;
  /** `representative` is null where the answer named none; `settled` says that the bulk answer was asked. */
  readonly cluster?: {
    readonly representative: string | null;
    readonly info: ClusterInfo | null;
    readonly settled: boolean;
  };
  readonly features?: {
    readonly top: number;
    readonly regions: boolean;
    readonly values: readonly FeatureValue[];
  };
  readonly record?: WithRaw<ProteinRecord>;
  readonly folded?: boolean;
  readonly from?: Source;
}

export const emptyData = (hash: string): ProteinData => ({ hash, exists: undefined });

/** Later answers win, but a larger or richer feature ranking is kept. */
export function mergeData(before: ProteinData, after: ProteinData): ProteinData {
  const rank = (data: ProteinData) =>
    data.features === undefined ? -1 : data.features.top + (data.features.regions ? 0.5 : 0);
  const features = rank(after) >= rank(before) ? after.features : before.features;
  const cluster =
    after.cluster?.settled === true || before.cluster === undefined ? after.cluster : before.cluster;
  return {
    ...before,
    ...after,
    exists: after.exists ?? before.exists,
    ...(features === undefined ? {} : { features }),
    ...(cluster === undefined
      ? before.cluster === undefined
        ? {}
        : { cluster: before.cluster }
      : { cluster }),
  };
}

/** Which needs the data already meets. */
export function hadBy(data: ProteinData): ProteinNeeds {
  if (data.exists === false) {
    return {
      sequence: true,
      structure: true,
      cluster: true,
      record: true,
      fold: true,
      features: 100,
      regions: 100,
    };
  }
  return {
    ...(data.sequence === undefined || data.accession === undefined ? {} : { sequence: true }),
    ...(data.structure === undefined ? {} : { structure: true }),
    ...(data.cluster === undefined ? {} : { cluster: true }),
    ...(data.record === undefined ? {} : { record: true }),
    ...(data.folded === true ? { fold: true } : {}),
    ...(data.features === undefined ? {} : { features: data.features.top }),
    ...(data.features?.regions === true ? { regions: data.features.top } : {}),
  };
}

const now = (operation: string, requestId?: string): Source => ({
  operation,
  retrievedAt: new Date(),
  fromCache: false,
  requestId,
});

/** Reads the answer of `GET /proteins/{hash}`; null is the 404. @param top - how many features were asked for; 0 when the features are to be left out */
export function fromRecord(
  hash: string,
  top: number,
  folded: boolean,
  found: WithRaw<ProteinRecord> | null,
): ProteinData {
  const from = now('protein', found?.requestId);
  if (found === null) return { hash, exists: false, from };
  const { record } = found;
  const { pdb, sae_features: values } = record;
  return {
    hash,
    exists: true,
    sequence: record.sequence ?? null,
    length: record.sequence_length ?? record.sequence?.length ?? null,
    accession: record.accession ?? null,
    source: record.source ?? null,
    ...(record.protein_name == null ? {} : { name: record.protein_name }),
    structure:
      pdb == null && record.ptm == null && record.mean_plddt == null
        ? null
        : {
            pdb: pdb ?? '',
            ptm: record.ptm ?? null,
            meanPlddt: record.mean_plddt ?? null,
            plddt: record.residues_plddt ?? [],
          },
    ...(record.cluster_rep_protein_hash == null
      ? {}
      : { cluster: { representative: record.cluster_rep_protein_hash, info: null, settled: false } }),
    ...(top > 0 ? { features: { top, regions: true, values: values ?? [] }, record: found } : {}),
    ...(folded ? { folded } : {}),
    from,
  };
}

/** Top features out of the sparse activations, for an archive that has no ranking. */
function topOf(
  sparse: { indices: readonly number[]; values: readonly number[] },
  top: number,
): FeatureValue[] {
  return sparse.indices
    .map((index, i) => ({ feature_index: index, value: sparse.values[i] ?? 0 }))
    .sort((a, b) => b.value - a.value || a.feature_index - b.feature_index)
    .slice(0, top);
}

/** Reads what a bulk archive says of one hash; a part that the archive has no member for stays unknown. */
export function fromBulk(
  hash: string,
  asked: ProteinNeeds,
  parts: BulkParts,
): { data: ProteinData; problem?: Error } {
  const from = now('bulk');
  if (!parts.present.has(hash)) {
    // An archive that lost entries cannot say that a protein does not exist.
    const problem = parts.problems[0];
    return problem === undefined
      ? { data: { hash, exists: false, from } }
      : { data: emptyData(hash), problem };
  }
  const { members } = parts;
  const sequence = parts.sequences.get(hash);
  const structure = parts.structures.get(hash);
  const features = parts.features.get(hash);
  const representative = parts.clusterOf.get(hash);
  const values =
    features?.top ??
    (features?.proteinLevel === undefined ? undefined : topOf(features.proteinLevel, asked.features ?? 0));
  return {
    data: {
      hash,
      exists: true,
      ...(asked.sequence === true && members.sequences
        ? {
            sequence: sequence?.sequence ?? null,
            length: sequence?.sequence.length ?? null,
            accession: sequence?.accession ?? null,
            source: sequence?.source ?? null,
          }
        : {}),
      ...(asked.structure === true && members.structures ? { structure: structure ?? null } : {}),
      ...(asked.cluster === true && members.clusterInfo && members.clusterLinks
        ? {
            cluster: {
              representative: representative ?? null,
              info: infoOf(parts, representative),
              settled: true,
            },
          }
        : {}),
      ...(asked.features !== undefined && members.features && (values !== undefined || features === undefined)
        ? { features: { top: asked.features, regions: false, values: values ?? [] } }
        : {}),
      from,
    },
  };
}

function infoOf(parts: BulkParts, representative: string | undefined): ClusterInfo | null {
  if (representative === undefined) return null;
  const parsed = clusterInfo.safeParse(parts.clusters.get(representative));
  return parsed.success ? parsed.data : null;
}
