// The schema of the peers: the part of the schema that is measured, in the same names, resolved
// from whichever sources a peer has. It knows no server.
import type { FieldNode, GraphQLResolveInfo } from 'graphql';
import type { ClusterRecord, FeatureValue, ProteinRecord, Sources, Wanted } from './sources.ts';

export const typeDefs = /* GraphQL */ `
  scalar ProteinHash
  type Query {
    features(first: Int): FeatureList!
    protein(hash: ProteinHash!): Protein
    proteins(hashes: [ProteinHash!]!): [Protein]!
    lookup(ids: [String!]!): [ProteinLookup!]!
  }
  type FeatureList { nodes: [Feature!]! }
  type Feature { index: Int! label: String! description: String }
  type FeatureActivation { value: Float! feature: Feature! }
  type ProteinLookup { requested: String! protein: Protein }
  type Protein {
    hash: ProteinHash!
    accession: String
    length: Int
    sequence: String
    ptm: Float
    cluster: Cluster
    features(first: Int = 10): [FeatureActivation!]!
    structure(plddtScale: PlddtScale = UNIT): Structure
  }
  type Cluster { representativeHash: ProteinHash! name: String size: Int percentCharacterized: Float }
  enum PlddtScale { UNIT }
  type Structure { text: String! }
`;

/** The data that a request carries. */
export interface PeerContext {
  readonly sources: Sources;
}

/** Names of all fields below a node. */
function namesBelow(nodes: readonly FieldNode[], names = new Set<string>()): Set<string> {
  for (const { selectionSet } of nodes)
    for (const selection of selectionSet?.selections ?? [])
      if (selection.kind === 'Field') {
        names.add(selection.name.value);
        namesBelow([selection], names);
      }
  return names;
}

/** The parts of proteins that the query asks for, so that nothing else is fetched. */
function readWanted(info: GraphQLResolveInfo): Wanted {
  const names = namesBelow(info.fieldNodes);
  return {
    cluster: names.has('cluster'),
    features: names.has('features'),
    structure: names.has('structure') || names.has('ptm'),
    sequence: names.has('sequence') || names.has('length') || names.has('accession'),
  };
}

const activation = ({ feature_index: index, value, label }: FeatureValue) => ({
  value,
  feature: { index, label },
});

export const resolvers = {
  Query: {
    features: (_: unknown, { first }: { first?: number | null | undefined }, { sources }: PeerContext) => ({
      nodes: sources.catalogue.slice(0, first ?? 1000),
    }),
    protein: (_: unknown, { hash }: { hash: string }, { sources }: PeerContext, info: GraphQLResolveInfo) =>
      sources.protein(hash, readWanted(info)),
    proteins: (
      _: unknown,
      { hashes }: { hashes: string[] },
      { sources }: PeerContext,
      info: GraphQLResolveInfo,
    ) => sources.proteins(hashes, readWanted(info)),
    lookup: async (
      _: unknown,
      { ids }: { ids: string[] },
      { sources }: PeerContext,
      info: GraphQLResolveInfo,
    ) => {
      const proteins = await sources.proteins(ids, readWanted(info));
      return ids.map((requested, n) => ({ requested, protein: proteins[n] ?? null }));
    },
  },
  Protein: {
    hash: (p: ProteinRecord) => p.protein_hash,
    length: (p: ProteinRecord) => p.sequence?.length ?? null,
    cluster: (p: ProteinRecord, _: unknown, { sources }: PeerContext) => sources.cluster(p),
    features: (p: ProteinRecord, { first }: { first: number }) =>
      p.sae_features.slice(0, first).map(activation),
    structure: (p: ProteinRecord) => (p.pdb == null ? null : { text: p.pdb }),
  },
  Cluster: {
    representativeHash: (c: ClusterRecord) => c.protein_hash,
    name: (c: ClusterRecord) => c.protein_name,
    size: (c: ClusterRecord) => c.cluster_size,
    percentCharacterized: (c: ClusterRecord) => c.cluster_pct_characterized,
  },
};
