// Resolvers of Cluster. Fields of an earlier answer are free; the rest costs one call a cluster.

import type { GatewayContext } from '../../context.ts';
import { builder, keyedBy, pageArgs } from '../../schema/builder.ts';
import {
  Cluster,
  type ClusterRef,
  type Pfam,
  PfamDomain,
  PhylumCount,
  Taxonomy,
} from '../../schema/cluster.ts';
import { publicNonNull, publicNullable } from '../../schema/field-options.ts';
import { toPercent } from '../../schema/plddt.ts';
import { Protein } from '../../schema/protein.ts';
import { LARGE_VALUE } from '../../schema/query-cost.ts';
import { UpstreamError } from '../../upstream/errors.ts';
import type { WithRaw } from '../../upstream/http/validate-response.ts';
import { drifted, promised } from '../../upstream/http/validate-response.ts';
import { hasAllMembers } from '../../upstream/reads/cached-reads.ts';
import type { ClusterInfo, ClusterRecord } from '../../upstream/wire.ts';
import { bulkCalls, FIND_CLUSTER, loadsProtein, proteinLink } from '../costs.ts';
import { pageOf, pageSize, readFirst } from '../relay/connection.ts';
import { clusterOf, findCluster } from './cluster-links.ts';
import { type MaybePromise, mapMaybePromise } from './load-protein.ts';

/** The hash of the representative; loaded when only a member is known. */
function representativeOf(ctx: GatewayContext, cluster: ClusterRef): MaybePromise<string> {
  if (cluster.representative !== undefined) return cluster.representative;
  const { member } = cluster;
  // A protein without a cluster represents itself.
  return mapMaybePromise(
    clusterOf(ctx, { hash: member }, { link: true }),
    (found) => found?.representative ?? member,
  );
}

const recordOf = async (
  ctx: GatewayContext,
  cluster: ClusterRef,
  top?: number,
): Promise<WithRaw<ClusterRecord> | null> => {
  const found = await ctx.clusters.load(await representativeOf(ctx, cluster), top);
  // A cluster that an answer named exists. The protein of a search hit may be in none.
  if (found !== null || cluster.representative === undefined) return found;
  throw new UpstreamError(
    "The upstream's answers contradict each other: one names a cluster, another says that there is none.",
    { operation: 'cluster', code: 'UPSTREAM_DRIFT', status: 404, retryable: true },
  );
};

/** A key of the cluster, from the reference, the bulk answer or its record. */
function key<K extends keyof ClusterInfo>(
  ctx: GatewayContext,
  cluster: ClusterRef,
  name: K,
): MaybePromise<ClusterInfo[K] | undefined> {
  const known = cluster.info?.[name];
  return known === undefined ? keyElsewhere(ctx, cluster, name) : known;
}

async function keyElsewhere<K extends keyof ClusterInfo>(
  ctx: GatewayContext,
  cluster: ClusterRef,
  name: K,
): Promise<ClusterInfo[K] | undefined> {
  if (cluster.representative === undefined) {
    const info = (await clusterOf(ctx, { hash: cluster.member }))?.info?.[name];
    if (info !== undefined) return info;
  }
  return (await recordOf(ctx, cluster))?.record[name];
}

const ofCluster = <K extends keyof ClusterInfo>(name: K, description: string) => ({
  ...publicNullable('record', description),
  resolve: (cluster: ClusterRef, _: object, ctx: GatewayContext) => key(ctx, cluster, name),
});

/** A map in the record of a cluster. @throws UpstreamError UPSTREAM_DRIFT where it is missing */
async function listed<T extends object>(
  ctx: GatewayContext,
  cluster: ClusterRef,
  name: string,
  value: T | null | undefined,
): Promise<T | Record<string, never>> {
  if (value === undefined && (await recordOf(ctx, cluster)) === null) return {};
  return promised('cluster', `$.${name}`, value) ?? {};
}

async function pfamOf(ctx: GatewayContext, cluster: ClusterRef): Promise<Pfam[]> {
  const found = await key(ctx, cluster, 'cluster_top_pfam_domains');
  const domains = Object.entries(await listed(ctx, cluster, 'cluster_top_pfam_domains', found));
  return domains
    .map(([id, domain]) => ({ id, name: domain.name ?? null, count: domain.count ?? null }))
    .sort((a, b) => (b.count ?? 0) - (a.count ?? 0));
}

/** All members. @throws UpstreamError UPSTREAM_DRIFT when the list is not complete */
async function membersOf(ctx: GatewayContext, cluster: ClusterRef): Promise<readonly string[]> {
  const record = (await recordOf(ctx, cluster))?.record;
  if (record === undefined) return [];
  if (!hasAllMembers(record))
    throw drifted(
      'cluster',
      '$.member_protein_hashes',
      `expected ${record.cluster_size ?? 'all'} different hashes, that of the representative among them, ` +
        `seen ${record.member_protein_hashes.length}`,
    );
  return record.member_protein_hashes;
}

const ProteinConnection = builder.connectionObject(
  { type: Protein, name: 'ProteinConnection', description: 'A page of the members of a cluster.' },
  { name: 'ProteinEdge', description: 'One member, with its cursor.' },
);

builder.node(Cluster, {
  extensions: keyedBy('representativeHash', 'id'),
  description: 'A group of similar proteins in the Atlas. Its id is the hash of its representative.',
  id: { public: 'record', resolve: (cluster, _, ctx) => representativeOf(ctx, cluster) },
  fields: (t) => ({
    representativeHash: t.field({
      ...publicNonNull('record', 'Hash of the protein that represents the cluster.'),
      type: 'ProteinHash',
      resolve: (cluster, _, ctx) => representativeOf(ctx, cluster),
    }),
    representative: t.field({
      public: 'record',
      type: Protein,
      cost: proteinLink,
      description:
        'The protein that represents the cluster. What an answer about the cluster says of it (name, ' +
        'accession, source, pTM, mean pLDDT, top features) costs no further call.',
      resolve: (cluster, _, ctx) =>
        mapMaybePromise(representativeOf(ctx, cluster), (hash) => ({ hash, represents: cluster })),
    }),
    name: t.string(
      ofCluster('protein_name', 'Name of the cluster, such as "Insulin": that of its representative.'),
    ),
    size: t.int(ofCluster('cluster_size', 'Number of members, the representative included, such as 1204.')),
    percentCharacterized: t.float(
      ofCluster(
        'cluster_pct_characterized',
        'Share of the members with a characterised domain, 0 to 100, such as 42.5; 0 is a dark cluster.',
      ),
    ),
    percentDomainCoverage: t.float({
      ...publicNullable('record', 'Mean share of a member that domains cover, 0 to 100, such as 60.'),
      resolve: (cluster, _, ctx) =>
        mapMaybePromise(key(ctx, cluster, 'cluster_mean_domain_coverage'), (share) =>
          share == null ? share : toPercent(share),
        ),
    }),
    taxonomy: t.field({
      ...ofCluster('cluster_taxonomy_info', 'Lowest common ancestor of the members.'),
      type: Taxonomy,
    }),
    pfamDomains: t.field({
      ...publicNullable('record', 'Pfam domains of the members, most frequent first.'),
      type: [PfamDomain],
      args: { first: t.arg.int({ description: 'Return at most this many; all when left out.' }) },
      resolve: async (cluster, { first }, ctx) => (await pfamOf(ctx, cluster)).slice(0, readFirst(first)),
    }),
    phyla: t.field({
      ...publicNullable('record', 'Phyla of the members, most frequent first.'),
      type: [PhylumCount],
      args: { first: t.arg.int({ description: 'Return at most this many; all when left out.' }) },
      resolve: async (cluster, { first }, ctx) =>
        Object.entries(await listed(ctx, cluster, 'top_phyla', await key(ctx, cluster, 'top_phyla')))
          .map(([name, count]) => ({ name, count }))
          .sort((a, b) => b.count - a.count)
          .slice(0, readFirst(first)),
    }),
    memberHashes: t.field({
      ...publicNullable('record', 'Hashes of all members, the representative included.'),
      type: ['ProteinHash'],
      cost: LARGE_VALUE,
      resolve: (cluster, _, ctx) => membersOf(ctx, cluster),
    }),
    members: t.field({
      public: 'record',
      type: ProteinConnection,
      args: pageArgs,
      cost: (page, selection) => {
        const items = pageSize(page);
        const shown = [selection.below('nodes'), selection.below('edges').below('node')];
        return { calls: shown.some(loadsProtein) ? bulkCalls(items) : 0, items };
      },
      description: 'One call for each cluster; fields of the members cost one bulk call for each 500.',
      resolve: async (cluster, page, ctx) =>
        pageOf(await membersOf(ctx, cluster), page, (hash) => ({ hash })),
    }),
    raw: t.field({
      public: 'record',
      cost: LARGE_VALUE,
      type: 'JSON',
      description: 'The upstream record unchanged, for keys that this schema does not have yet.',
      resolve: async (cluster, _, ctx) => (await recordOf(ctx, cluster))?.raw,
    }),
  }),
});

builder.queryField('cluster', (t) =>
  t.field({
    public: 'record',
    type: Cluster,
    cost: FIND_CLUSTER,
    description: 'A cluster by the hash of its representative or of any member; null when there is none.',
    args: {
      hash: t.arg({
        type: 'ProteinHash',
        required: true,
        description: 'Hash of a protein, such as "12e9c9e4e2835c302e8ba615115edda3".',
      }),
    },
    resolve: (_, { hash }, ctx, info) => findCluster(ctx, info, hash),
  }),
);
