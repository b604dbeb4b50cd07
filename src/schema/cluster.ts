// The Cluster type with its small parts: taxonomy, Pfam domains, phyla. resolvers/atlas/cluster.ts
// loads the fields.
import type { ClusterInfo, ClusterRecord } from '../upstream/wire.ts';
import { builder } from './builder.ts';
import { publicNonNull, publicNullable } from './field-options.ts';

/**
 * A cluster, known by its representative or by one of its members. `info` holds what an earlier
 * answer contained; the resolver loads the keys that are undefined. With the record in it, `top` is
 * the number of features that were requested.
 */
export type ClusterRef = {
  readonly info?: Partial<ClusterRecord> | null | undefined;
  readonly top?: number;
} & ({ readonly representative: string } | { readonly representative?: undefined; readonly member: string });

export const Cluster = builder.objectRef<ClusterRef>('Cluster');

export const Taxonomy = builder
  .objectRef<NonNullable<ClusterInfo['cluster_taxonomy_info']>>('Taxonomy')
  .implement({
    description: 'Lowest common ancestor of the members of a cluster.',
    fields: (t) => ({
      rank: t.exposeString('rank', publicNullable('record', 'Rank, such as "phylum".')),
      name: t.exposeString('name', publicNullable('record', 'Name, such as "Chordata".')),
    }),
  });

export interface Pfam {
  readonly id: string;
  readonly name: string | null;
  readonly count: number | null;
}

export const PfamDomain = builder.objectRef<Pfam>('PfamDomain').implement({
  description: 'A Pfam domain family found in members of a cluster.',
  fields: (t) => ({
    id: t.exposeString('id', publicNonNull('record', 'Pfam accession, such as "PF00049".')),
    name: t.exposeString('name', publicNullable('record', 'Short name, such as "Insulin".')),
    count: t.exposeInt('count', publicNullable('record', 'Number of members that have it, such as 70.')),
  }),
});

export const PhylumCount = builder.objectRef<{ name: string; count: number }>('PhylumCount').implement({
  description: 'How many members of a cluster belong to a phylum.',
  fields: (t) => ({
    name: t.exposeString('name', publicNonNull('record', 'Name of the phylum, such as "Pseudomonadota".')),
    count: t.exposeInt('count', publicNonNull('record', 'Number of members, such as 12.')),
  }),
});
