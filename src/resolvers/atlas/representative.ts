// The protein that represents a cluster: what answers about the cluster say of it, and the rest
// from its own record. Its name is the rest: that of a cluster may be another.
import type { GraphQLResolveInfo } from 'graphql';
import type { GatewayContext } from '../../context.ts';
import type { ClusterRef } from '../../schema/cluster.ts';
import type { ProteinRef } from '../../schema/protein.ts';
import { partValue, readPart, UNKNOWN } from '../../upstream/part.ts';
import { joinLoaded } from '../../upstream/proteins/loaded-parts.ts';
import type { RequiredParts } from '../../upstream/proteins/parts.ts';
import { emptyRecord, type ProteinRecord } from '../../upstream/proteins/record.ts';
import { findMissing, needsNothing, needsRanking } from '../../upstream/proteins/required-parts.ts';
import { loadNamed } from './load-protein.ts';
import { requiredParts } from './look-ahead.ts';

/**
 * Facts about a representative that answers about its cluster bring. Its features are those of the
 * record alone: an earlier answer may have been asked for fewer.
 */
function describeRepresentative(hash: string, { info, record, top }: ClusterRef): ProteinRecord {
  const values = partValue(record)?.record.cluster_representative_features;
  const hasRegions = values?.every((value) => value.residue_regions !== undefined);
  return {
    ...emptyRecord(hash),
    accession: info.accession ?? UNKNOWN,
    source: info.source ?? UNKNOWN,
    ptm: info.ptm ?? UNKNOWN,
    meanPlddt: info.mean_plddt ?? UNKNOWN,
    features: values == null ? UNKNOWN : { top, regions: hasRegions === true ? top : 0, values },
  };
}

/** Regions and activations are those of one ranking: it is loaded as a whole. */
const withRanking = (missing: RequiredParts, { features }: RequiredParts): RequiredParts =>
  features !== undefined && needsRanking(missing) ? { ...missing, features } : missing;

/** Loads the representative. What the answer about the cluster says of it costs no further call. */
export async function loadRepresentative(
  ctx: GatewayContext,
  info: GraphQLResolveInfo,
  cluster: ClusterRef,
): Promise<ProteinRef> {
  const hash = readPart(cluster.representative) ?? '';
  const own = describeRepresentative(hash, cluster);
  const needs = requiredParts(info);
  const missing = withRanking(findMissing(own, needs), needs);
  if (needsNothing(missing)) return own;
  const [loaded = own] = await loadNamed(ctx, [hash], missing);
  return joinLoaded(own, loaded, missing);
}
