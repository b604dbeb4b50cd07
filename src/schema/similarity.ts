// Types of a similarity search.

import type { SimilarityAnswer, SimilarProtein } from '../upstream/wire.ts';
import { builder } from './builder.ts';

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
      public: 'record',
      type: 'ProteinHash',
      nullable: false,
      description: 'The hash of the sequence that was searched with.',
    }),
    warning: t.exposeString('warning', {
      public: 'record',
      description: 'What is probably not intended, such as a search with DNA; null without a warning.',
    }),
  }),
});

export const SimilarityHit = builder.objectRef<SimilarProtein>('SimilarityHit').implement({
  description: 'One similar protein.',
  fields: (t) => ({
    score: t.exposeFloat('similarity_score', {
      public: 'record',
      nullable: false,
      description: 'Cosine similarity of the feature vectors, 0 to 1, such as 0.83.',
    }),
  }),
});

export const SharedFeature = builder.objectRef<SharedFeatureRef>('SharedFeature').implement({
  description: 'A feature that many of the hits share.',
  fields: (t) => ({
    occurrences: t.exposeInt('occurrence_count', {
      public: 'record',
      nullable: false,
      description: 'Number of hits that have it, such as 14.',
    }),
    minActivation: t.exposeFloat('min_activation', {
      public: 'record',
      description: 'Lowest activation among them, such as 0.4.',
    }),
    maxActivation: t.exposeFloat('max_activation', {
      public: 'record',
      description: 'Highest activation among them, such as 3.27.',
    }),
    meanActivation: t.exposeFloat('mean_activation', {
      public: 'record',
      description: 'Mean activation among them, such as 1.9.',
    }),
  }),
});
