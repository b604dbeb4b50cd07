// Finds clusters, and loads the record of a cluster where a selected field needs it.
import type { GraphQLResolveInfo } from 'graphql';
import type { GatewayContext } from '../../context.ts';
import type { ClusterRef } from '../../schema/cluster.ts';
import { asError, UpstreamError } from '../../upstream/errors.ts';
import { type Part, partValue, readPart, UNKNOWN } from '../../upstream/part.ts';
import type { LoadedClusterRecord } from '../../upstream/reads/cluster-loader.ts';
import type { ClusterInfo } from '../../upstream/wire.ts';
import { loadNamed } from './load-protein.ts';
import { CLUSTER_KEYS, type ClusterSelection, clusterSelection } from './look-ahead.ts';

const contradiction = (): UpstreamError =>
  new UpstreamError(
    "The upstream's answers contradict each other: one names a cluster, another says that there is none.",
    { operation: 'cluster', code: 'UPSTREAM_DRIFT', status: 404, retryable: true },
  );

/**
 * Whether an earlier answer says what a field reads. A field that is not known here is one of the
 * record.
 */
function isInInfo(field: string, info: ClusterRef['info']): boolean {
  const key = Object.hasOwn(CLUSTER_KEYS, field)
    ? CLUSTER_KEYS[field as keyof typeof CLUSTER_KEYS]
    : undefined;
  return key !== undefined && info[key] !== undefined;
}

/**
 * A cluster that an answer has named, with its record where a selected field needs it. The proteins
 * behind its other fields, such as the representative, then share a bulk call with its members.
 *
 * @param info - what earlier answers say of it
 * @returns at once what needs no record: a list of clusters would else make a promise for each
 */
export function withRecord(
  ctx: GatewayContext,
  selection: ClusterSelection,
  representative: string,
  info: ClusterRef['info'] = {},
): ClusterRef | Promise<ClusterRef> {
  const { fields, describesRepresentative, top } = selection;
  const isNeeded = describesRepresentative || fields.some((field) => !isInInfo(field, info));
  if (!isNeeded) return { representative, info, record: UNKNOWN, top: 0 };
  return ctx.clusters.load(representative, top).then(
    (record) => fromRecord(representative, info, record ?? contradiction(), top),
    (error: unknown) => fromRecord(representative, info, asError(error), top),
  );
}

function fromRecord(
  representative: string,
  info: ClusterRef['info'],
  record: Part<LoadedClusterRecord>,
  top: number | undefined,
): ClusterRef {
  return { representative, info: { ...info, ...partValue(record)?.record }, record, top: top ?? 0 };
}

/** A cluster by its representative or any member. The selection decides the order of the calls. */
export async function findCluster(
  ctx: GatewayContext,
  info: GraphQLResolveInfo,
  hash: string,
): Promise<ClusterRef | null> {
  const own = clusterSelection(info);
  const selection = {
    ...own,
    describesRepresentative: own.describesRepresentative || own.scoresRepresentative,
  };
  if (own.isBulkEnough && !own.scoresRepresentative) return loadProteinCluster(ctx, own, hash);
  // Skips trying a member as representative when an earlier request found its cluster.
  const cached = await ctx.proteins.findCached(hash, { link: true });
  const link = cached && partValue(cached.cluster);
  if (link !== undefined && link.representative !== hash)
    return withRecord(ctx, selection, link.representative);
  const record = await ctx.clusters.load(hash, selection.top);
  if (record !== null) return fromRecord(hash, {}, record, selection.top);
  return loadProteinCluster(ctx, { ...selection, needs: { link: true } }, hash);
}

async function loadProteinCluster(
  ctx: GatewayContext,
  selection: ClusterSelection,
  hash: string,
): Promise<ClusterRef | null> {
  const protein = await ctx.proteins.load(hash, selection.needs);
  const link = protein && readPart(protein.cluster);
  return link && withRecord(ctx, selection, link.representative, link.info ?? undefined);
}

/**
 * The cluster of a search hit.
 *
 * @param info - what the hit says of it
 */
export async function loadHitCluster(
  ctx: GatewayContext,
  graphql: GraphQLResolveInfo,
  hash: string,
  info: Partial<ClusterInfo>,
): Promise<ClusterRef> {
  const selection = clusterSelection(graphql);
  const fields = selection.fields.filter((field) => !isInInfo(field, info));
  if (fields.length === 0 && !selection.needsLink)
    return { representative: UNKNOWN, info, record: UNKNOWN, top: 0 };
  const needs = fields.length === 0 ? { link: true as const } : selection.needs;
  const [protein] = await loadNamed(ctx, [hash], needs);
  const cluster = protein?.cluster ?? null;
  if (cluster instanceof Error) return { representative: cluster, info, record: cluster, top: 0 };
  const link = partValue(cluster);
  // A protein without a cluster represents itself.
  if (link === undefined) return { representative: hash, info, record: null, top: 0 };
  return withRecord(ctx, selection, link.representative, { ...(link.info ?? undefined), ...info });
}
