// The Cluster type with its small parts: taxonomy, Pfam domains, phyla. resolvers/atlas/cluster.ts
// has the fields.
import type { Part } from '../upstream/part.ts';
import type { LoadedClusterRecord } from '../upstream/reads/cluster-loader.ts';
import type { ClusterInfo } from '../upstream/wire.ts';
import { builder } from './builder.ts';
import { publicNonNull, publicNullable } from './field-options.ts';

/** A cluster with what was loaded for the selection. */
export interface ClusterRef {
  /**
   * Hash of its representative; unknown for the cluster of a search hit whose name and size are
   * enough.
   */
  readonly representative: Part<string>;
  /** Facts from earlier answers; those that are undefined stand in its record. */
  readonly info: Partial<ClusterInfo>;
  /**
   * Its record, loaded where a selected field needs it; null for the cluster of a protein without
   * one.
   */
  readonly record: Part<LoadedClusterRecord>;
  /** The number of features of the representative that were requested with this record. */
  readonly top: number;
}

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
