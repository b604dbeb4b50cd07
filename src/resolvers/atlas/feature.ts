// Resolvers of Feature: labels and descriptions come from the catalogue, the rest costs one call
// for each feature.
import type { GatewayContext } from '../../context.ts';
import { builder, enumValues } from '../../schema/builder.ts';
import { Feature, type FeatureRef } from '../../schema/feature.ts';
import { publicNonNull, publicNullable } from '../../schema/field-options.ts';
import { LARGE_VALUE } from '../../schema/query-cost.ts';
import { UniprotEntry } from '../../schema/uniprot.ts';
import { promised } from '../../upstream/http/validate-response.ts';
import type { FeatureDetail } from '../../upstream/wire.ts';
import { CATALOGUE, FEATURE_DETAIL } from '../costs.ts';
import { readFirst } from '../relay/connection.ts';
import { findInCatalogue } from './feature-catalogue.ts';
import { readIdentifier } from './identifier.ts';
import { findEntry } from './uniprot.ts';

const ReferenceDatabase = builder.enumType('ReferenceDatabase', {
  description: 'A database whose proteins were ranked by a feature.',
  values: enumValues({
    SWISSPROT: 'UniProtKB/Swiss-Prot: reviewed entries.',
    UNIREF90: 'UniRef90: one sequence for each group of 90 % identity.',
  }),
});

interface Exemplar {
  readonly accession: string;
  readonly activation: number;
}

const FeatureExemplar = builder.objectRef<Exemplar>('FeatureExemplar').implement({
  description: 'A protein in which a feature is especially active.',
  fields: (t) => ({
    accession: t.exposeString(
      'accession',
      publicNonNull('release', 'Its identifier in the database, such as "P01308" or "UniRef90_P01308".'),
    ),
    activation: t.exposeFloat(
      'activation',
      publicNonNull('release', 'Activation of the feature in the protein, such as 9.1.'),
    ),
    uniprotEntry: t.field({
      public: 'release',
      type: UniprotEntry,
      cost: 1,
      description: 'Its UniProt entry; null where UniProt has none under this accession. One call for each.',
      // A UniRef name holds an accession, unless it is one of UniParc.
      resolve: ({ accession }, _, ctx) =>
        'entry' in readIdentifier(accession) ? findEntry(ctx, accession) : null,
    }),
  }),
});

type Lists = 'top_swissprot_activations' | 'top_100_uniref_ids' | 'decoder_nearest_neighbors';

/** A list that the record of a feature must have. @throws UpstreamError UPSTREAM_DRIFT */
async function loadList<K extends Lists>({ features }: GatewayContext, { index }: FeatureRef, key: K) {
  const found = await features.load(index);
  return found === null ? [] : (promised('feature', `$.${key}`, found.record[key]) ?? []);
}

/** The proteins in which a feature is most active, strongest first. */
async function loadExemplars(
  ctx: GatewayContext,
  feature: FeatureRef,
  database: typeof ReferenceDatabase.$inferType | null | undefined,
): Promise<Exemplar[]> {
  const exemplars =
    database === 'UNIREF90'
      ? (await loadList(ctx, feature, 'top_100_uniref_ids')).map((one) => ({
          ...one,
          accession: one.uniref_id,
        }))
      : (await loadList(ctx, feature, 'top_swissprot_activations')).map((one) => ({
          ...one,
          accession: one.uniprot_id,
        }));
  return exemplars.sort((a, b) => b.activation - a.activation);
}

const FeatureStatistics = builder.objectRef<FeatureDetail>('FeatureStatistics').implement({
  description: 'How a feature behaves over UniRef90.',
  fields: (t) => ({
    frequency: t.int({
      ...publicNullable('release', 'Number of sequences in which it is active, such as 1204.'),
      resolve: ({ uniref90_frequency: frequency }) => (frequency == null ? null : Math.round(frequency)),
    }),
    idf: t.exposeFloat(
      'uniref90_idf',
      publicNullable(
        'release',
        'Inverse document frequency, such as 4.2: the rarer the feature, the higher.',
      ),
    ),
    maxActivation: t.exposeFloat(
      'uniref90_max_activation',
      publicNullable('release', 'The highest activation found, such as 12.5.'),
    ),
  }),
});

/** A field of the record of a feature. */
const detailField = <K extends keyof FeatureDetail>(key: K, description: string) => ({
  ...publicNullable('release', description),
  cost: FEATURE_DETAIL,
  resolve: async ({ index }: FeatureRef, _: object, ctx: GatewayContext) =>
    (await ctx.features.load(index))?.record[key],
});

builder.objectFields(Feature, (t) => ({
  label: t.string({
    ...publicNullable(
      'release',
      'A few words on what it represents; "Feature 4095" where the upstream has none for feature 4095.',
    ),
    cost: CATALOGUE,
    resolve: ({ label, index }, _, ctx) =>
      label || findInCatalogue(ctx, index).then((entry) => entry?.label || `Feature ${index}`),
  }),
  description: t.string({
    ...publicNullable('release', 'What it represents, as text.'),
    cost: CATALOGUE,
    resolve: ({ description, index }, _, ctx) =>
      description ?? findInCatalogue(ctx, index).then((entry) => entry?.description),
  }),
  summary: t.string(
    detailField(
      'summary',
      'What it represents, in a sentence. Costs one call for each feature; cached for a year.',
    ),
  ),
  activationPattern: t.string(
    detailField('activation_pattern', 'The part of a sequence in which it is active, in words.'),
  ),
  category: t.string(detailField('category', 'The kind of pattern that it represents, such as "motif".')),
  exemplarProteinFamilies: t.string(
    detailField('exemplar_protein_families', 'Families in which it is typical, as text.'),
  ),
  threshold: t.float(detailField('threshold', 'Lowest activation that counts as active, such as 0.5.')),
  uniref90: t.field({
    ...publicNullable('release', 'How it behaves over UniRef90.'),
    cost: FEATURE_DETAIL,
    type: FeatureStatistics,
    resolve: async ({ index }, _, ctx) => (await ctx.features.load(index))?.record,
  }),
  nearestNeighbors: t.field({
    ...publicNullable('release', 'Features with the most similar decoder vectors, nearest first.'),
    cost: ({ first }) => ({ items: first ?? 10, ...FEATURE_DETAIL }),
    type: [Feature],
    args: { first: t.arg.int({ defaultValue: 10, description: 'Return at most this many, such as 5.' }) },
    resolve: async (feature, { first }, ctx) =>
      (await loadList(ctx, feature, 'decoder_nearest_neighbors'))
        .slice(0, readFirst(first) ?? 10)
        .map((index) => ({ index })),
  }),
  topProteins: t.field({
    ...publicNullable('release', 'The proteins in which it is most active, strongest first.'),
    cost: ({ first }) => ({ items: first ?? 10, ...FEATURE_DETAIL }),
    type: [FeatureExemplar],
    args: {
      database: t.arg({
        type: ReferenceDatabase,
        defaultValue: 'SWISSPROT',
        description: 'The ranked database.',
      }),
      first: t.arg.int({
        defaultValue: 10,
        description: 'Return at most this many; the upstream has up to 100.',
      }),
    },
    resolve: async (feature, { database, first }, ctx) => {
      const end = readFirst(first) ?? 10;
      return (await loadExemplars(ctx, feature, database)).slice(0, end);
    },
  }),
  raw: t.field({
    public: 'release',
    cost: { ...FEATURE_DETAIL, ...LARGE_VALUE },
    type: 'JSON',
    description: 'The upstream record unchanged, for keys that this schema does not have yet.',
    resolve: async ({ index }, _, ctx) => (await ctx.features.load(index))?.raw,
  }),
}));
