// What SAE features cost: labels and descriptions from the catalogue, the rest by one call for each feature; the queries
// for features. Those of a protein are in protein-features.ts.
import type { GraphQLResolveInfo } from 'graphql';
import type { GatewayContext } from '../../context.ts';
import type { FieldCost } from '../../execution/query-cost.ts';
import { builder } from '../../schema/builder.ts';
import {
  type Exemplar,
  Feature,
  FeatureExemplar,
  type FeatureRef,
  FeatureStatistics,
  ReferenceDatabase,
} from '../../schema/feature.ts';
import { badInput } from '../../schema/scalars.ts';
import { UniprotEntry } from '../../schema/uniprot.ts';
import { promised } from '../../upstream/http/validate-response.ts';
import { SEARCH_LIMITS, SearchTooLong, searchWords } from '../../upstream/reads/catalogue-search.ts';
import type { CatalogueEntry, FeatureDetail } from '../../upstream/wire.ts';
import { CATALOGUE } from '../costs.ts';
import { type PageArgs, pageOf, pageSize } from '../relay/connection.ts';
import { selectedFields } from '../selection.ts';
import { findEntry } from './uniprot.ts';

/** Cost of a field of the feature's own record, which all of them share. */
const DETAIL: FieldCost = { shared: { detail: 1 } };
/** Cost of searching for a word: work of the gateway, as much as that of so many upstream calls. */
const SEARCHED_WORD = 20;

/** Fields that the catalogue has; any other needs the feature's own record. */
const IN_CATALOGUE = new Set(['__typename', 'id', 'index', 'label', 'description']);

const detail = async <K extends keyof FeatureDetail>(
  ctx: GatewayContext,
  { index }: FeatureRef,
  key: K,
): Promise<FeatureDetail[K] | undefined> => (await ctx.features.detail(index))?.record[key];

const catalogueEntry = async (ctx: GatewayContext, index: number) =>
  (await ctx.services.catalogue.entries(ctx.upstream)).get(index);

/** A feature by its index, from the catalogue or, where more is selected, from its own record; null outside the catalogue. */
export async function findFeature(
  ctx: GatewayContext,
  info: GraphQLResolveInfo,
  index: number,
): Promise<FeatureRef | null> {
  if (index < 0) return null;
  if (selectedFields(info, 'Feature').every((field) => IN_CATALOGUE.has(field.name))) {
    const entry = await catalogueEntry(ctx, index);
    return entry === undefined ? null : { index, label: entry.label, description: entry.description };
  }
  const found = await ctx.features.detail(index);
  return found === null ? null : { index, label: found.record.label, description: found.record.description };
}

const labelInCatalogue = async (ctx: GatewayContext, index: number): Promise<string> =>
  (await catalogueEntry(ctx, index))?.label ?? `Feature ${index}`;

const descriptionInCatalogue = async (ctx: GatewayContext, index: number) =>
  (await catalogueEntry(ctx, index))?.description;

/** The identifier that UniProt may know an exemplar by: the accession behind a UniRef90 name, unless it is UniParc's. */
function uniprotIdOf(accession: string): string | null {
  const id = accession.replace(/^UniRef90_/, '');
  return id.startsWith('UPI') ? null : id;
}

type Lists = 'top_swissprot_activations' | 'top_100_uniref_ids' | 'decoder_nearest_neighbors';

/** A list that the details of a feature must have. @throws UpstreamError UPSTREAM_DRIFT */
async function listOf<K extends Lists>(ctx: GatewayContext, { index }: FeatureRef, key: K) {
  const found = await ctx.features.detail(index);
  return found === null ? [] : (promised('feature', `$.${key}`, found.record[key]) ?? []);
}

async function exemplars(
  ctx: GatewayContext,
  feature: FeatureRef,
  database: 'SWISSPROT' | 'UNIREF90',
  first: number,
): Promise<Exemplar[]> {
  const rows =
    database === 'SWISSPROT'
      ? (await listOf(ctx, feature, 'top_swissprot_activations')).map((row) => ({
          accession: row.uniprot_id,
          activation: row.activation,
        }))
      : (await listOf(ctx, feature, 'top_100_uniref_ids')).map((row) => ({
          accession: row.uniref_id,
          activation: row.activation,
        }));
  return rows.slice(0, first).map((row) => ({ ...row, uniprotId: uniprotIdOf(row.accession) }));
}

function readFirst(first: number | null | undefined): number {
  const wanted = first ?? 10;
  if (wanted < 0) throw badInput('`first` must not be negative.');
  return wanted;
}

builder.objectFields(Feature, (t) => ({
  label: t.string({
    public: 'release',
    cost: CATALOGUE,
    nullable: false,
    description: 'A few words on what it stands for.',
    resolve: ({ label, index }, _, ctx) => label ?? labelInCatalogue(ctx, index),
  }),
  description: t.string({
    public: 'release',
    cost: CATALOGUE,
    description: 'What it stands for, in prose.',
    resolve: ({ description, index }, _, ctx) => description ?? descriptionInCatalogue(ctx, index),
  }),
  summary: t.string({
    public: 'release',
    cost: DETAIL,
    description: 'What it stands for, in a sentence. Costs one call for each feature, kept for a year.',
    resolve: (feature, _, ctx) => detail(ctx, feature, 'summary'),
  }),
  activationPattern: t.string({
    public: 'release',
    cost: DETAIL,
    description: 'Along which stretch of a sequence it is active.',
    resolve: (feature, _, ctx) => detail(ctx, feature, 'activation_pattern'),
  }),
  category: t.string({
    public: 'release',
    cost: DETAIL,
    description: 'The kind of thing it stands for, such as "motif".',
    resolve: (feature, _, ctx) => detail(ctx, feature, 'category'),
  }),
  exemplarProteinFamilies: t.string({
    public: 'release',
    cost: DETAIL,
    description: 'Families in which it is typical, in prose.',
    resolve: (feature, _, ctx) => detail(ctx, feature, 'exemplar_protein_families'),
  }),
  threshold: t.float({
    public: 'release',
    cost: DETAIL,
    description: 'Activation from which it counts as active.',
    resolve: (feature, _, ctx) => detail(ctx, feature, 'threshold'),
  }),
  uniref90: t.field({
    public: 'release',
    cost: DETAIL,
    type: FeatureStatistics,
    description: 'How it behaves over UniRef90.',
    resolve: async ({ index }, _, ctx) => {
      const record = (await ctx.features.detail(index))?.record;
      if (record === undefined) return null;
      const {
        uniref90_frequency: frequency,
        uniref90_idf: idf,
        uniref90_max_activation: maxActivation,
      } = record;
      return { frequency, idf, maxActivation };
    },
  }),
  topProteins: t.field({
    public: 'release',
    cost: ({ first }) => ({ ...DETAIL, items: first ?? 10 }),
    type: [FeatureExemplar],
    nullable: { list: false, items: false },
    description: 'The proteins in which it is most active, strongest first.',
    args: {
      database: t.arg({ type: ReferenceDatabase, defaultValue: 'SWISSPROT', description: 'Which ranking.' }),
      first: t.arg.int({ defaultValue: 10, description: 'How many at most; the upstream keeps up to 100.' }),
    },
    resolve: (feature, { database, first }, ctx) =>
      exemplars(ctx, feature, database ?? 'SWISSPROT', readFirst(first)),
  }),
  nearestNeighbors: t.field({
    public: 'release',
    cost: ({ first }) => ({ ...DETAIL, items: first ?? 10 }),
    type: [Feature],
    nullable: { list: false, items: false },
    description: 'Features with the most similar decoder vectors, nearest first.',
    args: { first: t.arg.int({ defaultValue: 10, description: 'How many at most, such as 5.' }) },
    resolve: async (feature, { first }, ctx) =>
      (await listOf(ctx, feature, 'decoder_nearest_neighbors'))
        .slice(0, readFirst(first))
        .map((index) => ({ index })),
  }),
  raw: t.field({
    public: 'release',
    cost: DETAIL,
    type: 'JSON',
    description: 'The upstream record as it came, for keys this schema does not know yet.',
    resolve: async ({ index }, _, ctx) => (await ctx.features.detail(index))?.raw,
  }),
}));

builder.objectField(FeatureExemplar, 'entry', (t) =>
  t.field({
    public: 'release',
    type: UniprotEntry,
    cost: 1,
    description: 'Its UniProt entry; null where UniProt has none under this accession. One call for each.',
    resolve: ({ uniprotId }, _, ctx) => (uniprotId === null ? null : findEntry(ctx, uniprotId)),
  }),
);

interface FeatureSearch extends PageArgs {
  readonly search?: string | null | undefined;
  readonly indices?: readonly number[] | null | undefined;
}

/** The words of a search. @throws GraphQLError BAD_USER_INPUT that tells the limit */
function readWords(search: string): string[] {
  try {
    return searchWords(search);
  } catch (error) {
    throw error instanceof SearchTooLong ? badInput(error.message) : error;
  }
}

/** Indices of the catalogue's entries that are asked for, in their order; what the catalogue does not have is left out. */
async function searchFeatures(
  ctx: GatewayContext,
  entries: ReadonlyMap<number, CatalogueEntry>,
  search: string | null | undefined,
  indices: readonly number[] | null | undefined,
): Promise<readonly number[]> {
  const chosen = indices == null ? undefined : new Set(indices);
  if (search == null || search.trim() === '') {
    if (chosen === undefined) return ctx.services.catalogue.indices(ctx.upstream);
    return [...chosen].filter((index) => entries.has(index));
  }
  const words = readWords(search);
  const found = words.length === 0 ? [] : await ctx.services.catalogue.search(ctx.upstream, words);
  return found.filter((index) => (chosen?.has(index) ?? true) && entries.has(index));
}

async function featurePage(ctx: GatewayContext, { search, indices, ...page }: FeatureSearch) {
  const entries = await ctx.services.catalogue.entries(ctx.upstream);
  const { edges, ...rest } = pageOf(await searchFeatures(ctx, entries, search, indices), page);
  const refOf = (index: number): FeatureRef => ({
    index,
    label: entries.get(index)?.label,
    description: entries.get(index)?.description,
  });
  return { ...rest, edges: edges.map(({ node, cursor }) => ({ cursor, node: refOf(node) })) };
}

builder.queryFields((t) => ({
  feature: t.field({
    public: 'release',
    type: Feature,
    cost: CATALOGUE,
    description: 'A feature by its index; null outside the catalogue.',
    args: { index: t.arg.int({ required: true, description: '0 to 16383, such as 4095.' }) },
    resolve: (_, { index }, ctx, info) => findFeature(ctx, info, index),
  }),
  features: t.connection(
    {
      public: 'release',
      type: Feature,
      nullable: false,
      cost: ({ search, ...page }) => ({
        ...CATALOGUE,
        calls: SEARCHED_WORD * (search == null ? 0 : searchWords(search).length),
        items: pageSize(page),
      }),
      description:
        'The catalogue. With `search`: over label and description, best match first, words may be begun or slightly misspelt; without: by index, or in the order of `indices`.',
      args: {
        search: t.arg.string({
          description: `Words, all of which must match, such as "amphipathic helix": at most ${SEARCH_LIMITS.words} different ones of ${SEARCH_LIMITS.letters} letters, ${SEARCH_LIMITS.characters} characters in all.`,
        }),
        indices: t.arg.intList({ description: 'Only these; those not in the catalogue are left out.' }),
      },
      resolve: (_, args, ctx) => featurePage(ctx, args),
    },
    { description: 'Features of the catalogue, a page of them.' },
    { name: 'QueryFeaturesEdge', description: 'One feature, with its cursor.' },
  ),
}));
