// Similarity search: one call. The loaders receive the protein and cluster data of its hits, which
// then need no call.
import type { GraphQLResolveInfo } from 'graphql';
import type { GatewayContext } from '../../context.ts';
import { builder } from '../../schema/builder.ts';
import { Cluster } from '../../schema/cluster.ts';
import { Feature } from '../../schema/feature.ts';
import { publicNonNull, publicNullable } from '../../schema/field-options.ts';
import { Protein } from '../../schema/protein.ts';
import { badInput, checkRange } from '../../schema/scalars.ts';
import { hashSequence } from '../../schema/uniprot.ts';
import { readRestrictedCount } from '../../upstream/atlas.ts';
import { promised } from '../../upstream/http/validate-response.ts';
import { readPart } from '../../upstream/part.ts';
import { emptyRecord } from '../../upstream/proteins/record.ts';
import type { SimilarityAnswer, SimilarProtein } from '../../upstream/wire.ts';
import { CLUSTER_OF_PROTEIN, proteinLink, RECORD } from '../costs.ts';
import { type Selected, selectedFields } from '../selection.ts';
import { looksLikeDna } from './identifier.ts';
import { loadHitCluster } from './load-cluster.ts';
import { findProtein, loadNamed } from './load-protein.ts';
import { requiredParts, requiredPartsBelow, selectedBelow } from './look-ahead.ts';

/** Largest sequence and number of hits (spec, section Endpoints, as in the public deployment). */
export const MAX_RESIDUES = 2048;
const MAX_RESULTS = 100;
const MAX_FEATURES = 100;
const DEFAULT_RESULTS = 10;
const DEFAULT_FEATURES = 20;

/** The search, and one bulk call each for the proteins and the clusters of all hits. */
const SEARCH_CALLS = 3;

const DNA =
  'The sequence has only letters of DNA or RNA, and was searched with as a protein. Translate it first.';

interface SearchRef {
  /** MD5 of the sequence that was searched with. */
  readonly queryHash: string;
  /** Why the search was probably not meant. */
  readonly warnings: readonly string[];
  readonly answer: SimilarityAnswer;
}

type SharedFeatureRef = NonNullable<SimilarityAnswer['top_features_across_results']>[number];

interface SearchArgs {
  readonly first?: number | null | undefined;
  readonly minSimilarity?: number | null | undefined;
  readonly maxPercentCharacterized?: number | null | undefined;
}

/** Number of shared features to request: the largest selected, at least one. */
function countFeatures(selected: readonly Selected[]): number {
  const firsts = selected
    .filter(({ name }) => name === 'sharedFeatures')
    .map(({ args: { first } }) => (typeof first === 'number' ? first : DEFAULT_FEATURES));
  return Math.min(MAX_FEATURES, Math.max(1, ...firsts));
}

/** @throws GraphQLError BAD_USER_INPUT for what the upstream would refuse */
async function search(
  ctx: GatewayContext,
  info: GraphQLResolveInfo,
  sequence: string,
  args: SearchArgs,
): Promise<SearchRef> {
  if (sequence.length > MAX_RESIDUES) {
    throw badInput(
      `The sequence has ${sequence.length} residues; similarity search takes at most ${MAX_RESIDUES}. ` +
        'Search with a domain of it.',
    );
  }
  checkRange('first', args.first, 1, MAX_RESULTS);
  checkRange('minSimilarity', args.minSimilarity, 0, 1);
  checkRange('maxPercentCharacterized', args.maxPercentCharacterized, 0, 100);
  const selected = selectedFields(info, 'SimilaritySearch');
  const hits = selectedBelow(info, selected, 'hits', 'SimilarityHit');
  const answer = await ctx.searches.search(
    {
      sequence,
      results: args.first ?? DEFAULT_RESULTS,
      features: countFeatures(selected),
      minSimilarity: args.minSimilarity ?? undefined,
      maxPercentCharacterized: args.maxPercentCharacterized ?? undefined,
      clusterInfo: hits.some((field) => field.name === 'cluster'),
    },
    requiredPartsBelow(info, hits, 'protein').structure === true,
  );
  const warnings = looksLikeDna(sequence) ? [DNA] : [];
  return { queryHash: hashSequence(sequence), warnings, answer };
}

/** Facts about the cluster of a protein that its hit brings. */
const clusterInfo = ({ cluster_size: size, protein_name: name }: SimilarProtein) => ({
  ...(size == null ? {} : { cluster_size: size }),
  ...(name == null ? {} : { protein_name: name }),
});

const SharedFeature = builder.objectRef<SharedFeatureRef>('SharedFeature').implement({
  description: 'A feature that many of the hits share.',
  fields: (t) => ({
    occurrences: t.exposeInt(
      'occurrence_count',
      publicNonNull('record', 'Number of hits that have it, such as 14.'),
    ),
    minActivation: t.exposeFloat(
      'min_activation',
      publicNullable('record', 'Lowest activation among them, such as 0.4.'),
    ),
    maxActivation: t.exposeFloat(
      'max_activation',
      publicNullable('record', 'Highest activation among them, such as 3.27.'),
    ),
    meanActivation: t.exposeFloat(
      'mean_activation',
      publicNullable('record', 'Mean activation among them, such as 1.9.'),
    ),
    feature: t.field({
      ...publicNonNull('record', 'The feature.'),
      type: Feature,
      resolve: ({ feature_index: index }) => ({ index }),
    }),
  }),
});

const SimilarityHit = builder.objectRef<SimilarProtein>('SimilarityHit').implement({
  description: 'One similar protein.',
  fields: (t) => ({
    score: t.exposeFloat(
      'similarity_score',
      publicNonNull('record', 'Cosine similarity of the feature vectors, 0 to 1, such as 0.83.'),
    ),
    protein: t.field({
      public: 'record',
      type: Protein,
      nullable: false,
      description: 'The protein. The hit contains its hash, accession, length, pTM, pLDDT and structure.',
      resolve: async ({ protein_hash: hash }, _args, ctx, info) => {
        const [protein] = await loadNamed(ctx, [hash], requiredParts(info));
        return protein ?? emptyRecord(hash);
      },
    }),
    cluster: t.field({
      public: 'record',
      semanticNonNull: true,
      description: 'The cluster of the protein, null only with an error. The hit contains its size and name.',
      type: Cluster,
      cost: CLUSTER_OF_PROTEIN,
      resolve: (hit, _args, ctx, info) => loadHitCluster(ctx, info, hit.protein_hash, clusterInfo(hit)),
    }),
  }),
});

const SimilaritySearch = builder.objectRef<SearchRef>('SimilaritySearch').implement({
  description: 'Proteins whose SAE feature vectors are similar to those of a sequence.',
  fields: (t) => ({
    queryHash: t.expose('queryHash', {
      ...publicNonNull('record', 'The hash of the sequence that was searched with.'),
      type: 'ProteinHash',
    }),
    warnings: t.exposeStringList('warnings', {
      ...publicNonNull('record', 'What is probably not intended, such as a search with DNA.'),
    }),
    queryProtein: t.field({
      ...publicNullable('record', 'The protein of the query sequence; null when the Atlas does not have it.'),
      type: Protein,
      cost: proteinLink,
      // An answer without a protein does not prove that there is none.
      resolve: async ({ answer, queryHash }, _, ctx, info) => {
        const needs = requiredParts(info);
        if (answer.protein_hash !== queryHash) return findProtein(ctx, queryHash, needs);
        const [protein] = await loadNamed(ctx, [queryHash], needs);
        return protein;
      },
    }),
    restrictedCount: t.int({
      public: 'record',
      nullable: false,
      description: 'Number of hits that the upstream withheld. If it is not 0, the list is incomplete.',
      resolve: ({ answer }) => readRestrictedCount(answer),
    }),
    hits: t.field({
      ...publicNonNull('record', 'The similar proteins, most similar first.'),
      type: [SimilarityHit],
      resolve: ({ answer }) => answer.similar_proteins,
    }),
    sharedFeatures: t.field({
      ...publicNonNull('record', 'Features that the hits share, in the order of the service.'),
      type: [SharedFeature],
      cost: ({ first }) => ({ items: first ?? DEFAULT_FEATURES }),
      args: {
        first: t.arg.int({
          defaultValue: DEFAULT_FEATURES,
          description: 'Return at most this many, 1 to 100.',
        }),
      },
      resolve: ({ answer }, { first }) => {
        checkRange('first', first, 1, MAX_FEATURES);
        const shared = promised(
          'similarity',
          '$.top_features_across_results',
          answer.top_features_across_results,
        );
        return (shared ?? []).slice(0, first ?? DEFAULT_FEATURES);
      },
    }),
  }),
});

const searchArgs = builder.args((t) => ({
  first: t.int({ defaultValue: DEFAULT_RESULTS, description: 'Return at most this many hits, 1 to 100.' }),
  minSimilarity: t.float({ description: 'Leave out hits with a lower score, 0 to 1, such as 0.5.' }),
  maxPercentCharacterized: t.int({
    description:
      'Only hits whose cluster is characterised to at most this percentage; 0 finds dark clusters.',
  }),
}));

builder.objectField(Protein, 'similar', (t) =>
  t.field({
    public: 'record',
    type: SimilaritySearch,
    cost: ({ first }) => ({ calls: SEARCH_CALLS, ...RECORD, items: first ?? DEFAULT_RESULTS }),
    description:
      'Proteins with similar features, found by the sequence of this protein; null when the Atlas does ' +
      'not have it.',
    args: searchArgs,
    resolve: (protein, args, ctx, info) => {
      const sequence = readPart(protein.sequence);
      return sequence === null ? null : search(ctx, info, sequence, args);
    },
  }),
);

builder.queryField('similarProteins', (t) =>
  t.field({
    public: 'record',
    type: SimilaritySearch,
    cost: ({ first }) => ({ calls: SEARCH_CALLS, items: first ?? DEFAULT_RESULTS }),
    semanticNonNull: true,
    description:
      'Proteins of the Atlas with features similar to those of a sequence, which need not be in the Atlas. ' +
      'Null only with an error.',
    args: {
      sequence: t.arg({
        type: 'AminoAcidSequence',
        required: true,
        description: 'One-letter codes or FASTA, at most 2048 residues.',
      }),
      ...searchArgs,
    },
    resolve: (_, { sequence, ...args }, ctx, info) => search(ctx, info, sequence, args),
  }),
);
