// Finds a cluster by a protein or a hash, and loads the record of a cluster before its fields are
// resolved.
import type { GraphQLResolveInfo } from 'graphql';
import type { GatewayContext } from '../../context.ts';
import type { ClusterRef } from '../../schema/cluster.ts';
import type { ProteinRef } from '../../schema/protein.ts';
import type { PresentProtein } from '../../upstream/proteins/protein-data.ts';
import type { RequiredParts } from '../../upstream/proteins/required-parts.ts';
import { type Selected, selectedFields } from '../selection.ts';
import {
  bulkIsEnough,
  clusterNeeds,
  fromProtein,
  isRanking,
  type MaybePromise,
  selectedOnRepresentative,
} from './load-protein.ts';

/**
 * The cluster of a protein; null when the Atlas has none that it represents, and its record names
 * no other.
 *
 * @param needs - `{cluster: true}` unless the representative is enough
 */
export const clusterOf = (
  ctx: GatewayContext,
  { hash }: ProteinRef,
  needs: RequiredParts = { cluster: true },
): MaybePromise<ClusterRef | null> => fromProtein(ctx, hash, needs, (data) => clusterIn(ctx, hash, data));

function clusterIn(
  ctx: GatewayContext,
  hash: string,
  data: PresentProtein | null,
): MaybePromise<ClusterRef | null> {
  if (data === null) return null;
  if (data.cluster !== undefined) return data.cluster;
  // The single record of a representative names none either; the cluster's record does.
  return ctx.clusters.load(hash).then((found) => (found === null ? null : { representative: hash }));
}

const topOf = ({ args: { first } }: Selected): number =>
  typeof first === 'number' ? Math.min(Math.max(first, 1), 100) : 10;

/** The most features selected on the cluster or its representative: one call returns them all. */
function selectedTop(info: GraphQLResolveInfo): number | undefined {
  const selected = selectedFields(info, 'Cluster');
  const tops = [...selectedOnRepresentative(info, selected).filter(isRanking)].map(topOf);
  return tops.length === 0 ? undefined : Math.max(...tops);
}

/** Fields that only the cluster's record has and that are better loaded before they are resolved. */
const IN_RECORD = new Set(['members', 'memberHashes', 'raw']);

/** Fields of the representative that the cluster's record has. */
const OF_REPRESENTATIVE = new Set(['name', 'accession', 'source', 'ptm', 'plddt', 'features']);

/** Whether the record of a cluster says what is selected on its representative. */
const namesRepresentative = (info: GraphQLResolveInfo): boolean =>
  selectedOnRepresentative(info, selectedFields(info, 'Cluster')).some(
    ({ name }) => name !== 'name' && OF_REPRESENTATIVE.has(name),
  );

function needsRecord(info: GraphQLResolveInfo): boolean {
  const selected = selectedFields(info, 'Cluster');
  if (selected.some((field) => IN_RECORD.has(field.name))) return true;
  return (
    !bulkIsEnough(info, selected) &&
    selectedOnRepresentative(info, selected).some(({ name }) => OF_REPRESENTATIVE.has(name))
  );
}

/**
 * The cluster, with its record loaded where a selected field needs it. The proteins behind its
 * other fields, such as the representative, then share a bulk call with its members.
 */
export function withRecord(
  ctx: GatewayContext,
  info: GraphQLResolveInfo,
  cluster: ClusterRef,
  isNeeded = needsRecord(info),
): MaybePromise<ClusterRef> {
  if (!isNeeded || cluster.representative === undefined) return cluster;
  const top = selectedTop(info);
  // The fields that need the record load it again and report the failure.
  return ctx.clusters.load(cluster.representative, top).then(
    (found) =>
      found === null
        ? cluster
        : { ...cluster, info: { ...cluster.info, ...found.record }, ...(top === undefined ? {} : { top }) },
    () => cluster,
  );
}

/** A cluster by its representative or any member. The selection decides the order of the calls. */
export async function findCluster(
  ctx: GatewayContext,
  info: GraphQLResolveInfo,
  hash: string,
): Promise<ClusterRef | null> {
  const isNamed = namesRepresentative(info);
  if (!isNamed && bulkIsEnough(info, selectedFields(info, 'Cluster')))
    return clusterOf(ctx, { hash }, clusterNeeds(info));
  // Skips trying a member as representative when an earlier request found its cluster.
  const known = (await ctx.proteins.getCached(hash, { link: true }))?.cluster?.representative;
  if (known != null && known !== hash)
    return withRecord(ctx, info, { representative: known }, isNamed || undefined);
  if ((await ctx.clusters.load(hash, selectedTop(info))) !== null)
    return withRecord(ctx, info, { representative: hash }, isNamed || undefined);
  const cluster = await clusterOf(ctx, { hash }, { link: true });
  return cluster === null ? null : withRecord(ctx, info, cluster, isNamed || undefined);
}
