// The catalogue of features: finds a feature by its index, and searches labels and descriptions.
import { memoize2 } from '@graphql-tools/utils';
import type { GraphQLResolveInfo } from 'graphql';
import type { GatewayContext } from '../../context.ts';
import { builder, pageArgs } from '../../schema/builder.ts';
import { Feature, type FeatureRef } from '../../schema/feature.ts';
import { publicNullable } from '../../schema/field-options.ts';
import { badInput } from '../../schema/scalars.ts';
import { SEARCH_LIMITS, SearchTooLong, searchWords } from '../../upstream/reads/catalogue-search.ts';
import type { CatalogueEntry, FeatureDetail } from '../../upstream/wire.ts';
import { CATALOGUE } from '../costs.ts';
import { listPage, type PageArgs, pageSize } from '../relay/connection.ts';
import { selectedFields } from '../selection.ts';

/** Cost of searching for one word, in upstream calls: CPU time of the gateway. */
const SEARCHED_WORD = 20;

/** Features of the catalogue. */
const MAX_INDICES = 16_384;

/** Fields in the catalogue; any other needs the feature's record. */
const IN_CATALOGUE = new Set(['__typename', 'id', 'index', 'label', 'description']);

/** The entry of a feature; undefined outside the catalogue. */
export const findInCatalogue = async (
  { services: { catalogue }, upstream }: GatewayContext,
  index: number,
): Promise<CatalogueEntry | undefined> => (await catalogue.entries(upstream)).get(index);

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
  const inEntries = (): Promise<FeatureNames | undefined> => findInCatalogue(ctx, index);
  const [first, other] = isInCatalogue ? [inEntries, inRecord] : [inRecord, inEntries];
  // Fields that need the answer that failed fail by themselves.
  const found = await first().catch((error: unknown) => {
    // The client has left, or the time of the request is up.
    if (ctx.upstream.signal?.aborted === true) throw error;
    return other().catch(() => Promise.reject(error));
  });
  return found === undefined ? null : { index, label: found.label, description: found.description };
}

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

/** The indices that the catalogue has, in order, duplicates included. */
const inCatalogue = memoize2((entries: ReadonlyMap<number, CatalogueEntry>, indices: readonly number[]) => {
  const listed = indices.filter((index) => entries.has(index));
  return { listed, chosen: new Set(listed) };
});

/** Indices of the entries to return, in order; indices outside the catalogue are left out. */
async function searchFeatures(
  ctx: GatewayContext,
  entries: ReadonlyMap<number, CatalogueEntry>,
  { search, indices }: FeatureSearch,
): Promise<readonly number[]> {
  if (indices != null && indices.length > MAX_INDICES)
    throw badInput(`\`indices\` holds ${indices.length} indices; there are ${MAX_INDICES} features.`);
  const inList = indices == null ? undefined : inCatalogue(entries, indices);
  if (search == null || search.trim() === '')
    return inList?.listed ?? ctx.services.catalogue.indices(ctx.upstream);
  const words = readWords(search);
  const found = words.length === 0 ? [] : await ctx.services.catalogue.search(ctx.upstream, words);
  return found.filter((index) => (inList?.chosen.has(index) ?? true) && entries.has(index));
}

async function featurePage(ctx: GatewayContext, args: FeatureSearch) {
  const entries = await ctx.services.catalogue.entries(ctx.upstream);
  return listPage(await searchFeatures(ctx, entries, args), args, (index): FeatureRef => {
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
        description: 'Only these features, at most 16384; indices outside the catalogue are left out.',
      }),
    },
    resolve: (_, args, ctx) => featurePage(ctx, args),
  }),
}));
