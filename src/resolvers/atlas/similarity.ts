// Similarity search: one call, what its hits say of proteins and clusters fed to the loaders, so that nothing is asked twice.
import type { GraphQLResolveInfo } from 'graphql';
import type { GatewayContext } from '../../context.ts';
import { builder } from '../../schema/builder.ts';
import { Cluster, type ClusterRef } from '../../schema/cluster.ts';
import { Feature } from '../../schema/feature.ts';
import { Protein, type ProteinRef } from '../../schema/protein.ts';
import { badInput } from '../../schema/scalars.ts';
import { type SearchRef, SharedFeature, SimilarityHit, SimilaritySearch } from '../../schema/similarity.ts';
import { hashOfSequence } from '../../schema/uniprot.ts';
import { drifted, promised } from '../../upstream/http/validate-response.ts';
import type { SimilarProtein } from '../../upstream/wire.ts';
import { CLUSTER_OF_PROTEIN, proteinLink, RECORD } from '../costs.ts';
import { selectedBelow, selectedFields } from '../selection.ts';
import { findProtein } from './protein.ts';
import { PARTS_OF_FIELD, requiredPartsOf } from './protein-parts.ts';

/** Residues in a query at most, and results in an answer (spec, section Endpoints, as the public deployment has it). */
export const MOST_RESIDUES = 2048;
const MOST_RESULTS = 100;

/** The search, and a bulk call each for the proteins and the clusters of all hits. */
const SEARCH_CALLS = 3;

interface SearchArgs {
  readonly first?: number | null | undefined;
  readonly minSimilarity?: number | null | undefined;
  readonly maxPercentCharacterized?: number | null | undefined;
}

const within = (value: number | null | undefined, least: number, most: number, name: string): void => {
  if (value != null && (value < least || value > most)) {
    throw badInput(`\`${name}\` must be between ${least} and ${most}; it is ${value}.`);
  }
};

/** Number of shared features to ask for: the largest selected, at least one. */
function wantedFeatures(info: GraphQLResolveInfo): number {
  const firsts = selectedFields(info, 'SimilaritySearch')
    .filter((field) => field.name === 'sharedFeatures')
    .map((field) => (typeof field.args.first === 'number' ? field.args.first : 20));
  return Math.min(100, Math.max(1, ...firsts));
}

/** Searches with a sequence. @throws GraphQLError BAD_USER_INPUT for what the upstream would refuse, before anything is sent */
async function search(
  ctx: GatewayContext,
  info: GraphQLResolveInfo,
  sequence: string,
  args: SearchArgs,
): Promise<SearchRef> {
  if (sequence.length > MOST_RESIDUES) {
    throw badInput(
      `The sequence has ${sequence.length} residues; similarity search takes at most ${MOST_RESIDUES}. Search with a domain of it.`,
    );
  }
  within(args.first, 1, MOST_RESULTS, 'first');
  within(args.minSimilarity, 0, 1, 'minSimilarity');
  within(args.maxPercentCharacterized, 0, 100, 'maxPercentCharacterized');
  const hits = selectedBelow(info, selectedFields(info, 'SimilaritySearch'), 'hits', 'SimilarityHit');
  const proteins = hits.filter((field) => field.name === 'protein').flatMap((field) => field.nodes);
  const answer = await ctx.searches.search(
    {
      sequence,
      results: args.first ?? 10,
      features: wantedFeatures(info),
      minSimilarity: args.minSimilarity ?? undefined,
      maxPercentCharacterized: args.maxPercentCharacterized ?? undefined,
      clusterInfo: hits.some((field) => field.name === 'cluster'),
    },
    requiredPartsOf(info, proteins).structure === true,
  );
  return { queryHash: answer.protein_hash ?? hashOfSequence(sequence), answer };
}

async function similarTo(
  ctx: GatewayContext,
  info: GraphQLResolveInfo,
  { hash }: ProteinRef,
  args: SearchArgs,
) {
  const sequence = (await ctx.proteins.load(hash, PARTS_OF_FIELD.similar))?.sequence;
  return sequence == null ? null : search(ctx, info, sequence.toUpperCase(), args);
}

const clusterOfHit = (hit: SimilarProtein): ClusterRef => ({
  member: hit.protein_hash,
  info: {
    ...(hit.cluster_size == null ? {} : { cluster_size: hit.cluster_size }),
    ...(hit.protein_name == null ? {} : { protein_name: hit.protein_name }),
  },
});

builder.objectFields(SimilaritySearch, (t) => ({
  queryProtein: t.field({
    public: 'record',
    type: Protein,
    cost: proteinLink,
    description: 'The protein searched with. Null when the query is not in the Atlas.',
    // That the answer names no protein does not prove that there is none.
    resolve: ({ answer, queryHash }, _, ctx, info) =>
      answer.protein_hash == null
        ? findProtein(ctx, queryHash, requiredPartsOf(info))
        : { hash: answer.protein_hash },
  }),
  restrictedCount: t.int({
    public: 'record',
    nullable: false,
    description: 'Hits withheld upstream. Not zero means that the list is incomplete.',
    resolve: ({ answer: { restricted_count: count } }) => {
      if (count == null) throw drifted('similarity', '$.restricted_count', 'missing, or of another type');
      return count;
    },
  }),
  hits: t.field({
    public: 'record',
    type: [SimilarityHit],
    nullable: { list: false, items: false },
    description: 'The similar proteins, most similar first.',
    resolve: ({ answer }) => answer.similar_proteins,
  }),
  sharedFeatures: t.field({
    public: 'record',
    type: [SharedFeature],
    nullable: { list: false, items: false },
    description: 'Features that the hits share, most frequent first.',
    cost: ({ first }) => ({ items: first ?? 20 }),
    args: { first: t.arg.int({ defaultValue: 20, description: 'How many at most, 1 to 100.' }) },
    resolve: ({ answer }, { first }) => {
      within(first, 1, 100, 'first');
      const shared = promised(
        'similarity',
        '$.top_features_across_results',
        answer.top_features_across_results,
      );
      return (shared ?? []).slice(0, first ?? 20);
    },
  }),
}));

builder.objectFields(SimilarityHit, (t) => ({
  protein: t.field({
    public: 'record',
    type: Protein,
    nullable: false,
    description: 'The protein. Hash, accession, length, pTM, pLDDT and structure came with the hit.',
    resolve: ({ protein_hash: hash }) => ({ hash }),
  }),
  cluster: t.field({
    public: 'record',
    type: Cluster,
    cost: CLUSTER_OF_PROTEIN,
    nullable: false,
    description: 'The cluster of the protein. Size and name come with the hit.',
    resolve: clusterOfHit,
  }),
}));

builder.objectField(SharedFeature, 'feature', (t) =>
  t.field({
    public: 'record',
    type: Feature,
    nullable: false,
    description: 'The feature.',
    resolve: ({ feature_index: index }) => ({ index }),
  }),
);

builder.objectField(Protein, 'similar', (t) =>
  t.field({
    public: 'record',
    type: SimilaritySearch,
    cost: ({ first }) => ({ calls: SEARCH_CALLS, ...RECORD, items: first ?? 10 }),
    description:
      "Proteins with similar features, found by this protein's own sequence; null when the Atlas does not hold it.",
    args: {
      first: t.arg.int({ defaultValue: 10, description: 'How many hits at most, 1 to 100.' }),
      minSimilarity: t.arg.float({ description: 'Leave out hits below this score, 0 to 1, such as 0.5.' }),
      maxPercentCharacterized: t.arg.int({
        description:
          'Only hits whose cluster is characterised to at most this percentage; 0 finds dark clusters.',
      }),
    },
    resolve: (protein, args, ctx, info) => similarTo(ctx, info, protein, args),
  }),
);

builder.queryField('similarProteins', (t) =>
  t.field({
    public: 'record',
    type: SimilaritySearch,
    cost: ({ first }) => ({ calls: SEARCH_CALLS, items: first ?? 10 }),
    nullable: false,
    description:
      'Proteins of the Atlas with features similar to those of a sequence, which need not be in the Atlas.',
    args: {
      sequence: t.arg({
        type: 'AminoAcidSequence',
        required: true,
        description: 'At most 2048 residues, or FASTA.',
      }),
      first: t.arg.int({ defaultValue: 10, description: 'How many hits at most, 1 to 100.' }),
      minSimilarity: t.arg.float({ description: 'Leave out hits below this score, 0 to 1, such as 0.5.' }),
      maxPercentCharacterized: t.arg.int({
        description:
          'Only hits whose cluster is characterised to at most this percentage; 0 finds dark clusters.',
      }),
    },
    resolve: (_, { sequence, ...args }, ctx, info) => search(ctx, info, sequence, args),
  }),
);
