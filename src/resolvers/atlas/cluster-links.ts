// The way from a protein to its cluster, and when a cluster's own record is loaded before its fields are resolved.
import type { GraphQLResolveInfo } from 'graphql';
import type { GatewayContext } from '../../context.ts';
import type { ClusterRef } from '../../schema/cluster.ts';
import type { ProteinRef } from '../../schema/protein.ts';
import type { PresentProtein } from '../../upstream/proteins/protein-data.ts';
import type { RequiredParts } from '../../upstream/proteins/required-parts.ts';
import { fromProtein, type MaybePromise } from '../maybe-promise.ts';
import { selectedFields } from '../selection.ts';
import { PARTS_OF_FIELD } from './protein-parts.ts';

/** The cluster of a protein; null when it belongs to none. @param needs - `{cluster: true}` unless its representative is enough */
export const clusterOf = (
  ctx: GatewayContext,
  { hash }: ProteinRef,
  needs: RequiredParts = PARTS_OF_FIELD.name,
): MaybePromise<ClusterRef | null> => fromProtein(ctx, hash, needs, (data) => clusterIn(ctx, hash, data));

function clusterIn(
  ctx: GatewayContext,
  hash: string,
  data: PresentProtein | null,
): MaybePromise<ClusterRef | null> {
  if (data === null || data.cluster === null) return null;
  if (data.cluster !== undefined) return data.cluster;
  // The single record names no representative for a representative, too; the cluster's own record tells which it is.
  return ctx.clusters.load(hash).then((found) => (found === null ? null : { representative: hash }));
}

/** The largest number of features selected on the cluster, so that one call gives them all. */
export function selectedTop(info: GraphQLResolveInfo): number | undefined {
  const tops = selectedFields(info, 'Cluster')
    .filter((field) => field.name === 'features')
    .map((field) => (typeof field.args.top === 'number' ? Math.min(Math.max(field.args.top, 1), 100) : 10));
  return tops.length === 0 ? undefined : Math.max(...tops);
}

/** Fields that only the cluster's own record has. */
const IN_RECORD = new Set(['members', 'memberHashes', 'features', 'raw']);

/**
 * The cluster once its record is there, where something is selected that needs it: the proteins behind its other fields,
 * its representative for one, then share a call with its members.
 */
export function withRecord(
  ctx: GatewayContext,
  info: GraphQLResolveInfo,
  cluster: ClusterRef,
): MaybePromise<ClusterRef> {
  const needed = selectedFields(info, 'Cluster').some((field) => IN_RECORD.has(field.name));
  if (!needed || cluster.representative === undefined) return cluster;
  const given = () => cluster;
  // A failure belongs to the fields that need the record; they ask for it again and are told.
  return ctx.clusters.load(cluster.representative, selectedTop(info)).then(given, given);
}
