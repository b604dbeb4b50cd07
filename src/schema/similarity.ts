// Types of a similarity search.

import type { SimilarityAnswer, SimilarProtein } from '../upstream/wire.ts';
import { builder } from './builder.ts';
import { publicNonNull, publicNullable } from './public-fields-plugin.ts';

export interface SearchRef {
  /** MD5 of the sequence that was searched with. */
  readonly queryHash: string;
  /** Why the search was probably not meant. */
  readonly warning: string | null;
  readonly answer: SimilarityAnswer;
}

export type SharedFeatureRef = NonNullable<SimilarityAnswer['top_features_across_results']>[number];

export const SimilaritySearch = builder.objectRef<SearchRef>('SimilaritySearch').implement({
  description: 'Proteins whose SAE feature vectors are similar to those of a sequence.',
  fields: (t) => ({
    queryHash: t.expose('queryHash', {
      ...publicNonNull('record', 'The hash of the sequence that was searched with.'),
      type: 'ProteinHash',
    }),
    warning: t.exposeString(
      'warning',
      publicNullable(
        'record',
        'What is probably not intended, such as a search with DNA; null without a warning.',
      ),
    ),
  }),
});

export const SimilarityHit = builder.objectRef<SimilarProtein>('SimilarityHit').implement({
  description: 'One similar protein.',
  fields: (t) => ({
    score: t.exposeFloat(
      'similarity_score',
      publicNonNull('record', 'Cosine similarity of the feature vectors, 0 to 1, such as 0.83.'),
    ),
  }),
});

export const SharedFeature = builder.objectRef<SharedFeatureRef>('SharedFeature').implement({
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
  }),
});
