// SAE feature types: the feature, its activation in a protein, its statistics.
import type { Part } from '../upstream/part.ts';
import type { FeatureRow } from '../upstream/proteins/activations.ts';
import type { FeatureValue } from '../upstream/wire.ts';
import { builder, keyedBy } from './builder.ts';
import { publicNonNull, publicNullable } from './field-options.ts';

/** A feature by its index, with the label and description that the answer contained. */
export interface FeatureRef {
  readonly index: number;
  readonly label?: string | null | undefined;
  readonly description?: string | null | undefined;
}

export const Feature = builder.objectRef<FeatureRef>('Feature');

builder.node(Feature, {
  extensions: keyedBy('index', 'id'),
  description:
    'One of the 16,384 features that a sparse autoencoder (SAE) found in a protein language model: a ' +
    'pattern that is more or less active in a protein.',
  id: { public: 'release', resolve: (feature) => feature.index },
  fields: (t) => ({
    index: t.exposeInt(
      'index',
      publicNonNull('release', 'Position in the catalogue, 0 to 16383, such as 4095.'),
    ),
  }),
});

/** A region of the sequence in which a feature is active. */
export type FeatureRegion = NonNullable<FeatureValue['residue_regions']>[number];

/** A feature's value in a protein or a cluster's representative. */
export interface ActivationRef {
  readonly value: FeatureValue;
  /** Where it is active; null where the upstream does not say. */
  readonly regions: Part<readonly FeatureRegion[]>;
  /**
   * Activations along the sequence, loaded where they are selected; null where the upstream has
   * none.
   */
  readonly row: Part<FeatureRow>;
  /** Residues of the sequence. */
  readonly length: Part<number>;
}

export const FeatureActivation = builder.objectRef<ActivationRef>('FeatureActivation').implement({
  description: 'How strongly a feature is active in a protein, or in the representative of a cluster.',
  fields: (t) => ({
    feature: t.field({
      ...publicNonNull('record', 'The feature.'),
      type: Feature,
      resolve: ({ value }) => ({
        index: value.feature_index,
        label: value.label,
        description: value.description,
      }),
    }),
    value: t.float({
      public: 'record',
      nullable: false,
      description:
        'Activation / largest activation x inverse document frequency, such as 3.27, which can be compared ' +
        'across proteins and is not bounded by 1. With `normalize: false`: as the autoencoder gave it.',
      resolve: ({ value }) => value.value,
    }),
  }),
});

export const ResidueRegion = builder.objectRef<FeatureRegion>('ResidueRegion').implement({
  description: 'Where in the sequence a feature is active: residues start to end, 0-based, end excluded.',
  fields: (t) => ({
    start: t.exposeInt('start', publicNonNull('record', 'First residue, 0-based, such as 12.')),
    end: t.exposeInt('end', publicNonNull('record', 'The residue after the last, 0-based, such as 19.')),
    peak: t.exposeInt(
      'peak_residue',
      publicNonNull('record', 'Residue of the highest activation, 0-based, such as 15.'),
    ),
    meanActivation: t.exposeFloat(
      'mean_activation',
      publicNullable('record', 'Mean activation over the region.'),
    ),
  }),
});
