// SAE feature types: the feature, its activation in a protein, its statistics.

import type { FeatureRow } from '../upstream/proteins/activations.ts';
import type { FeatureValue } from '../upstream/wire.ts';
import { builder } from './builder.ts';
import { keyedBy } from './keys.ts';
import { publicNonNull, publicNullable } from './public-fields-plugin.ts';

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
  id: {
    public: 'release',
    resolve: (feature) => feature.index,
    description: 'Relay id, for `node(id:)`.',
  },
  fields: (t) => ({
    index: t.exposeInt(
      'index',
      publicNonNull('release', 'Position in the catalogue, 0 to 16383, such as 4095.'),
    ),
  }),
});

/**
 * A feature's value in a protein or in the representative of a cluster, and where more details are.
 */
export interface ActivationRef {
  readonly value: FeatureValue;
  /** The protein, and `top`: the length of the ranking that contains the value. */
  readonly from?: { readonly hash: string; readonly top?: number | undefined } | undefined;
  /**
   * Activations along the sequence where the answer contained them; null where the upstream has
   * none.
   */
  readonly row?: (() => FeatureRow | null) | undefined;
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
        'Activation, such as 3.27. Normalised: activation / largest activation x inverse document ' +
        'frequency, comparable across proteins and not bounded by 1. With `normalize: false`: as the ' +
        'autoencoder gave it.',
      resolve: ({ value }) => value.value,
    }),
  }),
});

export const ResidueRegion = builder
  .objectRef<NonNullable<FeatureValue['residue_regions']>[number]>('ResidueRegion')
  .implement({
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

export interface Statistics {
  readonly frequency: number | null | undefined;
  readonly idf: number | null | undefined;
  readonly maxActivation: number | null | undefined;
}

export const FeatureStatistics = builder.objectRef<Statistics>('FeatureStatistics').implement({
  description: 'How a feature behaves over UniRef90.',
  fields: (t) => ({
    frequency: t.int({
      ...publicNullable('release', 'Number of sequences in which it is active, such as 1204.'),
      resolve: ({ frequency }) => (frequency == null ? null : Math.round(frequency)),
    }),
    idf: t.exposeFloat(
      'idf',
      publicNullable(
        'release',
        'Inverse document frequency, such as 4.2: the rarer the feature, the higher.',
      ),
    ),
    maxActivation: t.exposeFloat(
      'maxActivation',
      publicNullable('release', 'The highest activation found, such as 12.5.'),
    ),
  }),
});

export const ReferenceDatabase = builder.enumType('ReferenceDatabase', {
  description: 'A database whose proteins were ranked by a feature.',
  values: {
    SWISSPROT: { value: 'SWISSPROT', description: 'UniProtKB/Swiss-Prot: reviewed entries.' },
    UNIREF90: { value: 'UNIREF90', description: 'UniRef90: one sequence for each group of 90 % identity.' },
  } as const,
});

/** `uniprotId` is its identifier in UniProt; null where the accession cannot be one. */
export interface Exemplar {
  readonly accession: string;
  readonly activation: number;
  readonly uniprotId: string | null;
}

export const FeatureExemplar = builder.objectRef<Exemplar>('FeatureExemplar').implement({
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
  }),
});
