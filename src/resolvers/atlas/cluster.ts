// Resolvers of Cluster. Its fields read what the resolver of the cluster has loaded.
import type { GraphQLResolveInfo } from 'graphql';
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
import { Protein, type ProteinRef } from '../../schema/protein.ts';
import { LARGE_VALUE } from '../../schema/query-cost.ts';
import { promised } from '../../upstream/http/validate-response.ts';
import { readPart } from '../../upstream/part.ts';
import { readMembers } from '../../upstream/reads/cluster-loader.ts';
import type { ClusterInfo } from '../../upstream/wire.ts';
import { bulkCalls, FIND_CLUSTER, loadsProtein, proteinLink } from '../costs.ts';
import { listPage, type Page, type PageArgs, pageSize, readFirst } from '../relay/connection.ts';
import { findCluster } from './load-cluster.ts';
import { loadNamed } from './load-protein.ts';
import { readNodeParts } from './look-ahead.ts';
import { loadRepresentative } from './representative.ts';

const representativeHash = ({ representative }: ClusterRef): string => readPart(representative) ?? '';

/** A key of the cluster, of an earlier answer or of its record. */
function readKey<K extends keyof ClusterInfo>(cluster: ClusterRef, key: K): ClusterInfo[K] {
  const known = cluster.info[key];
  return known === undefined ? readPart(cluster.record)?.record[key] : known;
}

const exposeKey = <K extends keyof ClusterInfo>(key: K, description: string) => ({
  ...publicNullable('record', description),
  resolve: (cluster: ClusterRef) => readKey(cluster, key),
});

/**
 * A map that the record of a cluster must have.
 *
 * @throws UpstreamError UPSTREAM_DRIFT where it is missing
 */
function requiredMap<T extends object>(
  cluster: ClusterRef,
  key: string,
  value: T | null | undefined,
): T | Record<string, never> {
  if (value === undefined && cluster.record === null) return {};
  return promised('cluster', `$.${key}`, value) ?? {};
}

function pfamDomains(cluster: ClusterRef): Pfam[] {
  const key = 'cluster_top_pfam_domains';
  return Object.entries(requiredMap(cluster, key, readKey(cluster, key)))
    .map(([id, domain]) => ({ id, name: domain.name ?? null, count: domain.count ?? null }))
    .sort((a, b) => (b.count ?? 0) - (a.count ?? 0));
}

/** All members. @throws UpstreamError UPSTREAM_DRIFT when the list is not complete */
function memberHashes(cluster: ClusterRef): readonly string[] {
  const record = readPart(cluster.record)?.record;
  if (record === undefined) return [];
  return readMembers(record);
}

/** A page of the members, with what is selected on them. */
async function loadMembers(
  ctx: GatewayContext,
  info: GraphQLResolveInfo,
  cluster: ClusterRef,
  args: PageArgs,
): Promise<Page<ProteinRef>> {
  const page = listPage(memberHashes(cluster), args, (hash) => hash);
  const hashes = page.edges.map(({ node }) => node);
  const proteins = await loadNamed(ctx, hashes, readNodeParts(info));
  const edges = proteins.map((node, i) => ({ node, cursor: page.edges[i]?.cursor ?? '' }));
  return { ...page, edges };
}

const firstArgs = builder.args((t) => ({
  first: t.int({ description: 'Return at most this many; all when left out.' }),
}));

const ProteinConnection = builder.connectionObject(
  { type: Protein, name: 'ProteinConnection', description: 'A page of the members of a cluster.' },
  { name: 'ProteinEdge', description: 'One member, with its cursor.' },
);

builder.node(Cluster, {
  extensions: keyedBy('representativeHash', 'id'),
  description: 'A group of similar proteins in the Atlas. Its id is the hash of its representative.',
  id: { public: 'record', resolve: representativeHash },
  fields: (t) => ({
    representativeHash: t.field({
      ...publicNonNull('record', 'Hash of the protein that represents the cluster.'),
      type: 'ProteinHash',
      resolve: representativeHash,
    }),
    representative: t.field({
      public: 'record',
      type: Protein,
      cost: proteinLink,
      description:
        'The protein that represents the cluster. What an answer about the cluster says of it (accession, ' +
        'source, pTM, mean pLDDT, top features) costs no further call.',
      resolve: (cluster, _args, ctx, info) => loadRepresentative(ctx, info, cluster),
    }),
    name: t.string(
      exposeKey('protein_name', 'Name of the cluster, such as "Insulin": that of its representative.'),
    ),
    size: t.int(exposeKey('cluster_size', 'Number of members, the representative included, such as 1204.')),
    percentCharacterized: t.float(
      exposeKey(
        'cluster_pct_characterized',
        'Share of the members with a characterised domain, 0 to 100, such as 42.5; 0 is a dark cluster.',
      ),
    ),
    percentDomainCoverage: t.float({
      ...publicNullable('record', 'Mean share of a member that domains cover, 0 to 100, such as 60.'),
      resolve: (cluster) => {
        const share = readKey(cluster, 'cluster_mean_domain_coverage');
        return share == null ? share : toPercent(share);
      },
    }),
    taxonomy: t.field({
      ...exposeKey('cluster_taxonomy_info', 'Lowest common ancestor of the members.'),
      type: Taxonomy,
    }),
    pfamDomains: t.field({
      ...publicNullable('record', 'Pfam domains of the members, most frequent first.'),
      type: [PfamDomain],
      args: firstArgs,
      resolve: (cluster, { first }) => pfamDomains(cluster).slice(0, readFirst(first)),
    }),
    phyla: t.field({
      ...publicNullable('record', 'Phyla of the members, most frequent first.'),
      type: [PhylumCount],
      args: firstArgs,
      resolve: (cluster, { first }) =>
        Object.entries(requiredMap(cluster, 'top_phyla', readKey(cluster, 'top_phyla')))
          .map(([name, count]) => ({ name, count }))
          .sort((a, b) => b.count - a.count)
          .slice(0, readFirst(first)),
    }),
    memberHashes: t.field({
      ...publicNullable('record', 'Hashes of all members, the representative included.'),
      type: ['ProteinHash'],
      cost: LARGE_VALUE,
      resolve: (cluster) => memberHashes(cluster),
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
      resolve: (cluster, page, ctx, info) => loadMembers(ctx, info, cluster, page),
    }),
    raw: t.field({
      public: 'record',
      cost: LARGE_VALUE,
      type: 'JSON',
      description: 'The upstream record unchanged, for keys that this schema does not have yet.',
      resolve: (cluster) => readPart(cluster.record)?.raw,
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
