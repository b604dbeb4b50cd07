// Resolvers of SAE features, and the queries for them: labels and descriptions come from the
// catalogue, the rest, such as the proteins in which one is most active, costs one call for each
// feature.

import { memoize2 } from '@graphql-tools/utils';
import type { GraphQLResolveInfo } from 'graphql';
import type { GatewayContext } from '../../context.ts';
import { builder, enumValues, pageArgs } from '../../schema/builder.ts';
import { Feature, type FeatureRef } from '../../schema/feature.ts';
import { publicNonNull, publicNullable } from '../../schema/field-options.ts';
import { LARGE_VALUE } from '../../schema/query-cost.ts';
import { badInput } from '../../schema/scalars.ts';
import { UniprotEntry } from '../../schema/uniprot.ts';
import { promised } from '../../upstream/http/validate-response.ts';
import { SEARCH_LIMITS, SearchTooLong, searchWords } from '../../upstream/reads/catalogue.ts';
import type { CatalogueEntry, FeatureDetail } from '../../upstream/wire.ts';
import { CATALOGUE, FEATURE_DETAIL } from '../costs.ts';
import { type PageArgs, pageOf, pageSize, readFirst } from '../relay/connection.ts';
import { selectedFields } from '../selection.ts';
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
      // Of a UniRef name the accession in it, unless it is one of UniParc.
      resolve: ({ accession }, _, ctx) =>
        'entry' in readIdentifier(accession) ? findEntry(ctx, accession) : null,
    }),
  }),
});

builder.objectField(Feature, 'topProteins', (t) =>
  t.field({
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
    resolve: async (feature, { database, first }, ctx): Promise<Exemplar[]> => {
      const end = readFirst(first) ?? 10;
      const exemplars: Exemplar[] =
        database === 'UNIREF90'
          ? (await listOf(ctx, feature, 'top_100_uniref_ids')).map(
              ({ uniref_id: accession, activation }) => ({ accession, activation }),
            )
          : (await listOf(ctx, feature, 'top_swissprot_activations')).map(
              ({ uniprot_id: accession, activation }) => ({ accession, activation }),
            );
      return exemplars.sort((a, b) => b.activation - a.activation).slice(0, end);
    },
  }),
);

/** Cost of searching for one word, in upstream calls: CPU time of the gateway. */
const SEARCHED_WORD = 20;

/** Fields in the catalogue; any other needs the feature's record. */
const IN_CATALOGUE = new Set(['__typename', 'id', 'index', 'label', 'description']);

const inDetail = <K extends keyof FeatureDetail>(key: K, description: string) => ({
  ...publicNullable('release', description),
  cost: FEATURE_DETAIL,
  resolve: async ({ index }: FeatureRef, _: object, ctx: GatewayContext) =>
    (await ctx.features.load(index))?.record[key],
});

const catalogueEntry = async (ctx: GatewayContext, index: number) =>
  (await ctx.services.catalogue.entries(ctx.upstream)).get(index);

type FeatureNames = Pick<FeatureDetail, 'label' | 'description'>;

/**
 * A feature from the catalogue or, when more is selected, its record, and from the other where that
 * one cannot be read; null if there is none.
 */
export async function findFeature(
  ctx: GatewayContext,
  info: GraphQLResolveInfo,
  index: number,
): Promise<FeatureRef | null> {
  if (index < 0) return null;
  const isInCatalogue = selectedFields(info, 'Feature').every((field) => IN_CATALOGUE.has(field.name));
  const inRecord = async (): Promise<FeatureNames | undefined> => (await ctx.features.load(index))?.record;
  const inEntries = (): Promise<FeatureNames | undefined> => catalogueEntry(ctx, index);
  const [first, other] = isInCatalogue ? [inEntries, inRecord] : [inRecord, inEntries];
  // Fields that need the answer that failed fail by themselves.
  const found = await first().catch((error: unknown) => {
    // The client has left, or the time of the request is up.
    if (ctx.upstream.signal?.aborted === true) throw error;
    return other().catch(() => Promise.reject(error));
  });
  return found === undefined ? null : { index, label: found.label, description: found.description };
}

type Lists = 'top_swissprot_activations' | 'top_100_uniref_ids' | 'decoder_nearest_neighbors';

/** A list that the details of a feature must have. @throws UpstreamError UPSTREAM_DRIFT */
async function listOf<K extends Lists>(ctx: GatewayContext, { index }: FeatureRef, key: K) {
  const found = await ctx.features.load(index);
  return found === null ? [] : (promised('feature', `$.${key}`, found.record[key]) ?? []);
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

builder.objectFields(Feature, (t) => ({
  label: t.string({
    ...publicNullable(
      'release',
      'A few words on what it represents; "Feature 4095" where the upstream has none for feature 4095.',
    ),
    cost: CATALOGUE,
    resolve: ({ label, index }, _, ctx) =>
      label || catalogueEntry(ctx, index).then((entry) => entry?.label || `Feature ${index}`),
  }),
  description: t.string({
    ...publicNullable('release', 'What it represents, as text.'),
    cost: CATALOGUE,
    resolve: ({ description, index }, _, ctx) =>
      description ?? catalogueEntry(ctx, index).then((entry) => entry?.description),
  }),
  summary: t.string(
    inDetail(
      'summary',
      'What it represents, in a sentence. Costs one call for each feature; cached for a year.',
    ),
  ),
  activationPattern: t.string(
    inDetail('activation_pattern', 'The part of a sequence in which it is active, in words.'),
  ),
  category: t.string(inDetail('category', 'The kind of pattern that it represents, such as "motif".')),
  exemplarProteinFamilies: t.string(
    inDetail('exemplar_protein_families', 'Families in which it is typical, as text.'),
  ),
  threshold: t.float(inDetail('threshold', 'Lowest activation that counts as active, such as 0.5.')),
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
      (await listOf(ctx, feature, 'decoder_nearest_neighbors'))
        .slice(0, readFirst(first) ?? 10)
        .map((index) => ({ index })),
  }),
  raw: t.field({
    public: 'release',
    cost: { ...FEATURE_DETAIL, ...LARGE_VALUE },
    type: 'JSON',
    description: 'The upstream record unchanged, for keys that this schema does not have yet.',
    resolve: async ({ index }, _, ctx) => (await ctx.features.load(index))?.raw,
  }),
}));

interface FeatureSearch extends PageArgs {
  readonly search?: string | null | undefined;
  readonly indices?: readonly number[] | null | undefined;
}

/** The words of a search. @throws GraphQLError BAD_USER_INPUT that names the limit */
function readWords(search: string): string[] {
  try {
    return searchWords(search);
  } catch (error) {
    throw error instanceof SearchTooLong ? badInput(error.message) : error;
  }
}

/** The indices that the catalogue has; worked out once for a list that a document gives at many places. */
const inCatalogue = memoize2(
  (entries: ReadonlyMap<number, CatalogueEntry>, indices: readonly number[]): ReadonlySet<number> =>
    new Set(indices.filter((index) => entries.has(index))),
);

/** Indices of the entries to return, in order; indices outside the catalogue are left out. */
async function searchFeatures(
  ctx: GatewayContext,
  entries: ReadonlyMap<number, CatalogueEntry>,
  { search, indices }: FeatureSearch,
): Promise<readonly number[]> {
  const chosen = indices == null ? undefined : inCatalogue(entries, indices);
  if (search == null || search.trim() === '')
    return chosen === undefined ? ctx.services.catalogue.indices(ctx.upstream) : [...chosen];
  const words = readWords(search);
  const found = words.length === 0 ? [] : await ctx.services.catalogue.search(ctx.upstream, words);
  return found.filter((index) => (chosen?.has(index) ?? true) && entries.has(index));
}

async function featurePage(ctx: GatewayContext, args: FeatureSearch) {
  const entries = await ctx.services.catalogue.entries(ctx.upstream);
  return pageOf(await searchFeatures(ctx, entries, args), args, (index): FeatureRef => {
    const { label, description } = entries.get(index) ?? {};
    return { index, label, description };
  });
}

const FeatureConnection = builder.connectionObject(
  { type: Feature, name: 'FeatureConnection', description: 'A page of the features of the catalogue.' },
  { name: 'FeatureEdge', description: 'One feature, with its cursor.' },
);

builder.queryFields((t) => ({
  feature: t.field({
    ...publicNullable('release', 'A feature by its index; null outside the catalogue.'),
    type: Feature,
    cost: CATALOGUE,
    args: {
      index: t.arg.int({ required: true, description: 'Index of the feature, 0 to 16383, such as 4095.' }),
    },
    resolve: (_, { index }, ctx, info) => findFeature(ctx, info, index),
  }),
  features: t.field({
    public: 'release',
    type: FeatureConnection,
    cost: ({ search, ...page }) => ({
      ...CATALOGUE,
      calls: SEARCHED_WORD * (search == null ? 0 : searchWords(search).length),
      items: pageSize(page),
    }),
    semanticNonNull: true,
    description:
      'The catalogue by index, or in the order of `indices`; with `search`, the matches in label and ' +
      'description, best first. Null only with an error.',
    args: {
      ...pageArgs,
      search: t.arg.string({
        description:
          'Words, all of which must match, incomplete or slightly misspelt ones too, such as "hydrophobic core". ' +
          `At most ${SEARCH_LIMITS.words} different words of ${SEARCH_LIMITS.letters} letters, ` +
          `${SEARCH_LIMITS.characters} characters in all.`,
      }),
      indices: t.arg.intList({
        description: 'Only these features; indices outside the catalogue are left out.',
      }),
    },
    resolve: (_, args, ctx) => featurePage(ctx, args),
  }),
}));
