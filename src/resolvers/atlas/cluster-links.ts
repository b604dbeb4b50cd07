// The cluster of a protein, and loading the record of a cluster before its fields are resolved.
import type { GraphQLResolveInfo } from 'graphql';
import type { GatewayContext } from '../../context.ts';
import type { ClusterRef } from '../../schema/cluster.ts';
import type { ProteinRef } from '../../schema/protein.ts';
import type { PresentProtein } from '../../upstream/proteins/protein-data.ts';
import type { RequiredParts } from '../../upstream/proteins/required-parts.ts';
import { fromProtein, type MaybePromise } from '../maybe-promise.ts';
import { selectedFields } from '../selection.ts';

/**
 * The cluster of a protein; null when it belongs to none.
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
  if (data === null || data.cluster === null) return null;
  if (data.cluster !== undefined) return data.cluster;
  // The single record of a representative names none either; the cluster's record does.
  return ctx.clusters.load(hash).then((found) => (found === null ? null : { representative: hash }));
}

/** The largest number of features selected on the cluster, so that one call returns them all. */
export function selectedTop(info: GraphQLResolveInfo): number | undefined {
  const tops = selectedFields(info, 'Cluster')
    .filter((field) => field.name === 'features')
    .map((field) => (typeof field.args.top === 'number' ? Math.min(Math.max(field.args.top, 1), 100) : 10));
  return tops.length === 0 ? undefined : Math.max(...tops);
}

/** Fields that only the cluster's record has. */
const IN_RECORD = new Set(['members', 'memberHashes', 'features', 'raw']);

/**
 * The cluster, with its record loaded where a selected field needs it. The proteins behind its
 * other fields, such as the representative, then share a bulk call with its members.
 */
export function withRecord(
  ctx: GatewayContext,
  info: GraphQLResolveInfo,
  cluster: ClusterRef,
): MaybePromise<ClusterRef> {
  const needed = selectedFields(info, 'Cluster').some((field) => IN_RECORD.has(field.name));
  if (!needed || cluster.representative === undefined) return cluster;
  const given = () => cluster;
  // The fields that need the record load it again and report the failure.
  return ctx.clusters.load(cluster.representative, selectedTop(info)).then(given, given);
}
