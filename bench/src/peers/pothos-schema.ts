// The schema of the peers written with Pothos, as one would for a bare Yoga: the same names, the
// same resolvers.
import SchemaBuilder from '@pothos/core';
import { type PeerContext, resolvers } from './schema.ts';
import type { ClusterRecord, Feature, FeatureValue, ProteinRecord } from './sources.ts';

const builder = new SchemaBuilder<{
  Context: PeerContext;
  Scalars: { ProteinHash: { Input: string; Output: string } };
}>({});

builder.scalarType('ProteinHash', { serialize: (hash) => hash });
const PlddtScale = builder.enumType('PlddtScale', { values: ['UNIT'] as const });
const FeatureType = builder.objectRef<Feature>('Feature').implement({
  fields: (t) => ({
    index: t.exposeInt('index', { nullable: false }),
    label: t.exposeString('label', { nullable: false }),
    description: t.exposeString('description'),
  }),
});
const FeatureList = builder.objectRef<{ nodes: readonly Feature[] }>('FeatureList').implement({
  fields: (t) => ({
    nodes: t.field({ type: [FeatureType], nullable: false, resolve: ({ nodes }) => nodes }),
  }),
});
const FeatureActivation = builder.objectRef<FeatureValue>('FeatureActivation').implement({
  fields: (t) => ({
    value: t.exposeFloat('value', { nullable: false }),
    feature: t.field({
      type: FeatureType,
      nullable: false,
      resolve: ({ feature_index: index, label }) => ({ index, label, description: '' }),
    }),
  }),
});
const Cluster = builder.objectRef<ClusterRecord>('Cluster').implement({
  fields: (t) => ({
    representativeHash: t.expose('protein_hash', { type: 'ProteinHash' }),
    name: t.exposeString('protein_name'),
    size: t.exposeInt('cluster_size'),
    percentCharacterized: t.exposeFloat('cluster_pct_characterized'),
  }),
});
const Structure = builder.objectRef<{ text: string }>('Structure').implement({
  fields: (t) => ({ text: t.exposeString('text', { nullable: false }) }),
});
const Protein = builder.objectRef<ProteinRecord>('Protein').implement({
  fields: (t) => ({
    hash: t.expose('protein_hash', { type: 'ProteinHash', nullable: false }),
    accession: t.exposeString('accession'),
    length: t.int({ resolve: resolvers.Protein.length }),
    sequence: t.exposeString('sequence'),
    ptm: t.exposeFloat('ptm'),
    cluster: t.field({ type: Cluster, resolve: resolvers.Protein.cluster }),
    features: t.field({
      type: [FeatureActivation],
      nullable: false,
      args: { first: t.arg.int({ required: true, defaultValue: 10 }) },
      resolve: ({ sae_features: features }, { first }) => features.slice(0, first),
    }),
    structure: t.field({
      type: Structure,
      args: { plddtScale: t.arg({ type: PlddtScale, defaultValue: 'UNIT' }) },
      resolve: resolvers.Protein.structure,
    }),
  }),
});
const ProteinLookup = builder
  .objectRef<{ requested: string; protein: ProteinRecord | null }>('ProteinLookup')
  .implement({
    fields: (t) => ({
      requested: t.exposeString('requested', { nullable: false }),
      protein: t.field({ type: Protein, resolve: ({ protein }) => protein }),
    }),
  });
builder.queryType({
  fields: (t) => ({
    features: t.field({
      type: FeatureList,
      nullable: false,
      args: { first: t.arg.int() },
      resolve: resolvers.Query.features,
    }),
    protein: t.field({
      type: Protein,
      args: { hash: t.arg({ type: 'ProteinHash', required: true }) },
      resolve: resolvers.Query.protein,
    }),
    proteins: t.field({
      type: t.listRef(Protein, { nullable: true }),
      nullable: false,
      args: { hashes: t.arg({ type: ['ProteinHash'], required: true }) },
      resolve: resolvers.Query.proteins,
    }),
    lookup: t.field({
      type: [ProteinLookup],
      nullable: false,
      args: { ids: t.arg.stringList({ required: true }) },
      resolve: resolvers.Query.lookup,
    }),
  }),
});

export const pothosSchema = builder.toSchema();
