// The contract of the values in the Atlas's answers: ranges, forms and relations, field by field.
import { clusterRules, confidences, FEATURES, hash, md5, ranking, sparse } from './atlas-values.ts';
import {
  agree,
  asAsked,
  between,
  descending,
  having,
  isFields,
  isSorted,
  LINK,
  lengthOf,
  matching,
  numberOf,
  unit,
  valuesAt,
  within,
} from './rules.ts';

const { POSITIVE_INFINITY: INFINITE } = Number;

const catalogueRows = (answer: unknown): unknown[] =>
  valuesAt(answer, Array.isArray(answer) ? '[]' : 'data[]');

/** The rules of each answer of the Atlas. */
export const ATLAS_RULES = {
  features: [
    {
      path: '',
      expected: `${FEATURES} rows, each index once`,
      broken: (answer: unknown) => {
        const indices = new Set(
          catalogueRows(answer).map((row) => (isFields(row) ? row.feature_index : undefined)),
        );
        return indices.size === FEATURES ? undefined : `${indices.size} different rows`;
      },
    },
  ],
  feature: [
    having(
      'drift',
      asAsked('feature_index', 'the index that was asked for', ({ index }) => index),
    ),
    between('uniref90_frequency', 0, INFINITE),
    between('uniref90_idf', 0, INFINITE),
    between('uniref90_max_activation', 0, INFINITE),
    between('threshold', 0, INFINITE),
    descending('top_100_uniref_ids[].activation'),
    descending('top_swissprot_activations[].activation'),
    between('decoder_nearest_neighbors[]', 0, FEATURES - 1),
    within(
      '',
      'decoder_nearest_neighbors',
      'other features, at least one',
      ({ decoder_nearest_neighbors: all, feature_index: own }) =>
        Array.isArray(all) ? all.length > 0 && !all.includes(own) : undefined,
    ),
  ],
  protein: [
    having(
      'drift',
      asAsked('protein_hash', 'the hash that was asked for', ({ hash: asked }) => asked),
    ),
    having(
      'drift',
      within('', 'sequence', 'a sequence of which the hash is the MD5', ({ sequence, protein_hash: own }) =>
        typeof sequence === 'string' && typeof own === 'string' ? md5(sequence) === own : undefined,
      ),
    ),
    having(
      'drift',
      within('', 'sequence_length', 'the length of the sequence', ({ sequence, sequence_length: length }) =>
        agree(lengthOf(sequence), numberOf(length)),
      ),
    ),
    hash('cluster_rep_protein_hash'),
    ...confidences(''),
    ...ranking('sae_features', 'drift'),
    within(
      '',
      'sae_features',
      'as many as were asked for, the strongest first',
      ({ sae_features: all }, { top, indices }) => {
        if (!Array.isArray(all) || indices !== undefined) return undefined;
        const values = valuesAt(all, '[].value').filter((value) => typeof value === 'number');
        return isSorted(values) && (top === undefined || all.length <= top) && all.length > 0;
      },
    ),
    within(
      '',
      'sae_features',
      'the features that were asked for, in that order',
      ({ sae_features: all }, { indices }) =>
        indices === undefined || !Array.isArray(all)
          ? undefined
          : JSON.stringify(valuesAt(all, '[].feature_index')) === JSON.stringify(indices),
    ),
    ...sparse('protein_activations', 1, 'none'),
    ...sparse('per_residue_activations', 2, 'null'),
    within(
      '',
      'per_residue_activations',
      'one row for each residue',
      ({ per_residue_activations: all, sequence_length: length }) =>
        isFields(all) && Array.isArray(all.shape)
          ? agree(numberOf(all.shape[0]), numberOf(length))
          : undefined,
    ),
  ],
  cluster: [
    having(
      'drift',
      asAsked('protein_hash', 'the hash that was asked for', ({ hash: asked }) => asked),
    ),
    ...clusterRules(''),
    hash('member_protein_hashes[]'),
    having(
      'drift',
      within(
        '',
        'member_protein_hashes',
        'cluster_size different hashes, the representative among them',
        ({ member_protein_hashes: all, cluster_size: size, protein_hash: own }) => {
          if (!Array.isArray(all)) return undefined;
          const different = new Set<unknown>(all).size;
          return (
            different === all.length &&
            different === (numberOf(size) ?? different) &&
            (own === undefined || all.includes(own))
          );
        },
      ),
    ),
    ...ranking('cluster_representative_features', 'drift'),
    within(
      '',
      'cluster_representative_features',
      'as many as were asked for, the strongest first',
      ({ cluster_representative_features: all }, { top }) => {
        if (!Array.isArray(all)) return undefined;
        const values = valuesAt(all, '[].value').filter((value) => typeof value === 'number');
        return isSorted(values) && all.length > 0 && (top === undefined || all.length <= top);
      },
    ),
  ],
  uniprot: [
    asAsked('accession', 'the accession that was asked for', ({ accession }) => accession),
    having(
      'drift',
      within('', 'protein_hash', 'the MD5 of the sequence', ({ sequence, protein_hash: own }) =>
        typeof sequence === 'string' && typeof own === 'string' ? md5(sequence) === own : undefined,
      ),
    ),
    within('', 'sequence_length', 'the length of the sequence', ({ sequence, sequence_length: length }) =>
      agree(lengthOf(sequence), numberOf(length)),
    ),
  ],
  similarity: [
    asAsked('query_sequence', 'the sequence that was asked for', ({ sequence }) => sequence),
    asAsked('protein_hash', 'the MD5 of the sequence', ({ sequence }) =>
      sequence === undefined ? undefined : md5(sequence),
    ),
    hash('similar_proteins[].protein_hash'),
    unit('similar_proteins[].similarity_score'),
    descending('similar_proteins[].similarity_score'),
    ...confidences('similar_proteins[]'),
    within(
      '',
      'similar_proteins',
      'not more hits than were asked for',
      ({ similar_proteins: all }, { total }) =>
        total === undefined ? undefined : Array.isArray(all) ? all.length <= total : undefined,
    ),
    within(
      '',
      'similar_proteins',
      'no hit below min_similarity',
      ({ similar_proteins: all }, { minSimilarity: least }) =>
        least === undefined
          ? undefined
          : valuesAt(all, '[].similarity_score').every(
              (score) => typeof score !== 'number' || score >= least,
            ),
    ),
    within(
      'top_features_across_results[]',
      'mean_activation',
      'between the lowest and the highest',
      ({ min_activation: min, mean_activation: mean, max_activation: max }) =>
        typeof min === 'number' && typeof mean === 'number' && typeof max === 'number'
          ? min <= mean + 1e-6 && mean <= max + 1e-6
          : undefined,
    ),
    between('restricted_count', 0, INFINITE),
  ],
  bulkJob: [
    within(
      '',
      'completed_count',
      'not more than total_count',
      ({ completed_count: done, total_count: all }) =>
        typeof done === 'number' && typeof all === 'number' ? done <= all : undefined,
    ),
    having(
      'drift',
      within('', 'download_url', 'an address once the job is completed', ({ status, download_url: url }) =>
        typeof status === 'string' && /^completed?$/i.test(status)
          ? typeof url === 'string' && url !== ''
          : undefined,
      ),
    ),
    matching('download_url', LINK, 'an address'),
    matching('poll_url', /\/jobs\/[^/\s]+$/, 'the path of a job'),
  ],
  clusterInfo: [...clusterRules('clusters.*'), hash('proteins.*')],
  bulkFeatures: [
    ...sparse('*.protein_level', 1, 'none'),
    ...sparse('*.per_residue', 2, 'none'),
    ...ranking('*.top_features', 'elsewhere'),
  ],
} as const;
