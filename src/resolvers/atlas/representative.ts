// The protein that represents a cluster: what answers about the cluster say of it, and the rest
// from its own record.
import type { GraphQLResolveInfo } from 'graphql';
import type { GatewayContext } from '../../context.ts';
import type { ClusterRef } from '../../schema/cluster.ts';
import type { ProteinRef } from '../../schema/protein.ts';
import { partValue, readPart, UNKNOWN } from '../../upstream/part.ts';
import {
  availableParts,
  emptyRecord,
  mergeRecords,
  type ProteinRecord,
} from '../../upstream/proteins/record.ts';
import { missingParts, needsNothing, type RequiredParts } from '../../upstream/proteins/required-parts.ts';
import { selectedFields } from '../selection.ts';
import { uniprotAccession } from './identifier.ts';
import { loadNamed } from './load-protein.ts';
import { requiredParts } from './look-ahead.ts';

/** Facts about a representative that answers about its cluster bring. */
function describeRepresentative(hash: string, { info, top }: ClusterRef): ProteinRecord {
  const values = info.cluster_representative_features;
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

/** The names that a protein has beside the one that a cluster has of it. */
const OTHER_NAMES = new Set(['organism', 'gene', 'header']);

/**
 * The name of a representative in the answer about its cluster; undefined where that may be another
 * one: the name of the cluster of a protein of another database is one that its record does not
 * have.
 */
async function nameInCluster(
  ctx: GatewayContext,
  own: ProteinRecord,
  name: string | null | undefined,
): Promise<string | undefined> {
  if (name == null) return undefined;
  const accession =
    partValue(own.accession) ??
    partValue((await ctx.proteins.findCached(own.hash, { accession: true }))?.accession);
  return uniprotAccession(accession) === undefined ? undefined : name;
}

/** Loads the representative. What the answer about the cluster says of it costs no further call. */
export async function loadRepresentative(
  ctx: GatewayContext,
  info: GraphQLResolveInfo,
  cluster: ClusterRef,
): Promise<ProteinRef> {
  const hash = readPart(cluster.representative) ?? '';
  const own = describeRepresentative(hash, cluster);
  const needs = requiredParts(info);
  const name = needs.header === true ? await nameInCluster(ctx, own, cluster.info.protein_name) : undefined;
  const missing = missingParts(withoutHeader(info, needs, name), availableParts(own));
  if (needsNothing(missing)) return { ...own, nameInCluster: name };
  const [loaded = own] = await loadNamed(ctx, [hash], missing);
  return { ...mergeRecords(loaded, own), nameInCluster: name };
}

/** The needs where the cluster's answer has the only name that is selected. */
function withoutHeader(
  info: GraphQLResolveInfo,
  needs: RequiredParts,
  name: string | undefined,
): RequiredParts {
  if (name === undefined || selectedFields(info, 'Protein').some((field) => OTHER_NAMES.has(field.name)))
    return needs;
  const { header: _, ...others } = needs;
  return others;
}
