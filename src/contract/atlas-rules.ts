// The contract of the values in the Atlas's answers: ranges, forms and relations, field by field.
import { createHash } from 'node:crypto';
import { isFields, valuesAt } from '../upstream/renames.ts';
import {
  agree,
  asAsked,
  between,
  descending,
  type Effect,
  type Fields,
  isSorted,
  LINK,
  lengthOf,
  matching,
  notNegative,
  numberOf,
  numbersAt,
  unit,
  type ValueRule,
  within,
} from './rules.ts';

const FEATURES = 16_384;

const md5 = (sequence: string): string =>
  createHash('md5').update(sequence.toUpperCase().replace(/[*\s]/g, '')).digest('hex');
const isMd5 = ({ sequence, protein_hash: own }: Fields): boolean | undefined =>
  typeof sequence === 'string' && typeof own === 'string' ? md5(sequence) === own : undefined;
const hash = (path: string): ValueRule => matching(path, /^[0-9a-f]{32}$/, 'an MD5 in lower case');
const requestedHash = asAsked('protein_hash', 'the hash that was asked for', 'hash', 'drift');

/** The sequence, or a list, is as long as the record says. @param key - of the sequence or list */
const ofLength = (path: string, key: string, expected: string, effect?: Effect): ValueRule =>
  within(
    path,
    expected,
    ({ [key]: value, sequence_length: length }) => agree(lengthOf(value), numberOf(length)),
    effect,
  );

/** Residues of a PDB text, and whether its B-factors lie between 0 and 1. */
function readPdb(pdb: string): { residues: number; isUnit: boolean } {
  const atoms = pdb.split('\n').filter((line) => line.startsWith('ATOM'));
  const residues = new Set(atoms.map((line) => line.slice(21, 27)));
  const factors = atoms.map((line) => Number(line.slice(60, 66)));
  return { residues: residues.size, isUnit: factors.every((factor) => factor >= 0 && factor <= 1) };
}

/** Rules for a list of `{feature_index, value}`, with the effect of an index of no feature. */
const ranking = (path: string, outsideCatalogue: Effect): ValueRule[] => [
  between(`${path}[].feature_index`, 0, FEATURES - 1, outsideCatalogue),
  notNegative(`${path}[].value`),
  within(
    `${path}[].residue_regions[].end`,
    // It may be the last residue or the one after it: region-ends.ts finds out which.
    'not before start, with the peak between them',
    ({ start, end, peak_residue: peak }) =>
      typeof start === 'number' && typeof end === 'number' && typeof peak === 'number'
        ? start <= peak && peak <= end
        : undefined,
    'drift',
  ),
];

/** The ranking of a record, which has as many features as were asked for. */
const topFeatures = (key: string): ValueRule[] => [
  ...ranking(key, 'drift'),
  within(key, 'as many as were asked for, the strongest first', ({ [key]: all }, { top, indices }) =>
    Array.isArray(all) && indices === undefined
      ? isSorted(numbersAt(all, '[].value')) && (top === undefined || all.length <= top) && all.length > 0
      : undefined,
  ),
];

const sparse = (path: string, dimensions: number, effect: Effect): ValueRule[] => [
  within(
    `${path}.indices`,
    `${dimensions} list${dimensions === 1 ? '' : 's'} as long as the values`,
    ({ indices, values }) => {
      if (!Array.isArray(indices) || !Array.isArray(values)) return undefined;
      const lists: unknown[] = indices.every(Array.isArray) && indices.length > 0 ? indices : [indices];
      return lists.length === dimensions && lists.every((list) => lengthOf(list) === values.length);
    },
    effect,
  ),
  within(
    `${path}.shape`,
    `${FEATURES} features`,
    ({ shape }) =>
      Array.isArray(shape) ? shape.length === dimensions && shape.at(-1) === FEATURES : undefined,
    effect,
  ),
];

/**
 * Rules for the confidences of a structure beside its text.
 *
 * @param below - what paths begin with
 * @param lengths - the effect of a wrong length
 */
const confidences = (below: string, lengths: Effect): ValueRule[] => [
  unit(`${below}ptm`),
  // The scale is found out.
  unit(`${below}mean_plddt`, 'none'),
  unit(`${below}residues_plddt[]`, 'none'),
  ofLength(`${below}residues_plddt`, 'residues_plddt', 'one for each residue', lengths),
  within(
    `${below}pdb`,
    'one residue for each of the sequence',
    ({ pdb, sequence_length: length }) =>
      typeof pdb === 'string' && typeof length === 'number' ? readPdb(pdb).residues === length : undefined,
    lengths,
  ),
  within(`${below}pdb`, 'B-factors of 0 to 1', ({ pdb }) =>
    typeof pdb === 'string' ? readPdb(pdb).isUnit : undefined,
  ),
];

const clusterRules = (below: string): ValueRule[] => [
  between(`${below}cluster_size`, 1, Number.POSITIVE_INFINITY),
  between(`${below}cluster_pct_characterized`, 0, 100),
  within(
    `${below}cluster_pct_characterized`,
    'a percentage: 0, or at least that of one member',
    ({ cluster_pct_characterized: share, cluster_size: size }) =>
      typeof share === 'number' && typeof size === 'number' && size > 0
        ? share === 0 || share >= Math.floor(1000 / size) / 10
        : undefined,
  ),
  unit(`${below}cluster_mean_domain_coverage`),
  unit(`${below}mean_plddt`, 'none'),
  unit(`${below}ptm`),
  within(`${below}cluster_top_pfam_domains`, 'Pfam accessions', ({ cluster_top_pfam_domains: domains }) =>
    isFields(domains) ? Object.keys(domains).every((key) => /^PF\d{5}(\.\d+)?$/.test(key)) : undefined,
  ),
];

export const ATLAS_RULES = {
  features: [
    {
      path: '',
      expected: `${FEATURES} rows, each index once`,
      effect: 'shown',
      broken: (answer: unknown) => {
        const rows = valuesAt(answer, Array.isArray(answer) ? '[]' : 'data[]');
        const indices = new Set(rows.map((row) => (isFields(row) ? row.feature_index : undefined)));
        return indices.size === FEATURES ? undefined : `${indices.size} different rows`;
      },
    },
  ],
  feature: [
    asAsked('feature_index', 'the index that was asked for', 'index', 'drift'),
    notNegative('uniref90_frequency'),
    notNegative('uniref90_idf'),
    notNegative('uniref90_max_activation'),
    notNegative('threshold'),
    descending('top_100_uniref_ids[].activation'),
    descending('top_swissprot_activations[].activation'),
    between('decoder_nearest_neighbors[]', 0, FEATURES - 1),
    within(
      'decoder_nearest_neighbors',
      'other features, at least one',
      ({ decoder_nearest_neighbors: all, feature_index: own }) =>
        Array.isArray(all) ? all.length > 0 && !all.includes(own) : undefined,
    ),
  ],
  protein: [
    requestedHash,
    within('sequence', 'a sequence of which the hash is the MD5', isMd5, 'drift'),
    ofLength('sequence_length', 'sequence', 'the length of the sequence', 'drift'),
    hash('cluster_rep_protein_hash'),
    ...confidences('', 'drift'),
    ...topFeatures('sae_features'),
    within(
      'sae_features',
      'the features that were asked for, in that order',
      ({ sae_features: all }, { indices }) =>
        indices === undefined || !Array.isArray(all)
          ? undefined
          : JSON.stringify(valuesAt(all, '[].feature_index')) === JSON.stringify(indices),
    ),
    ...sparse('protein_activations', 1, 'none'),
    ...sparse('per_residue_activations', 2, 'elsewhere'),
    within(
      'per_residue_activations',
      'one row for each residue',
      ({ per_residue_activations: all, sequence_length: length }) =>
        isFields(all) && Array.isArray(all.shape)
          ? agree(numberOf(all.shape[0]), numberOf(length))
          : undefined,
    ),
  ],
  cluster: [
    requestedHash,
    ...clusterRules(''),
    hash('member_protein_hashes[]'),
    within(
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
      'drift',
    ),
    ...topFeatures('cluster_representative_features'),
  ],
  uniprot: [
    asAsked('accession', 'the accession that was asked for', 'accession'),
    within('protein_hash', 'the MD5 of the sequence', isMd5, 'drift'),
    ofLength('sequence_length', 'sequence', 'the length of the sequence'),
  ],
  similarity: [
    asAsked('query_sequence', 'the sequence that was asked for', 'sequence'),
    asAsked('protein_hash', 'the MD5 of the sequence', 'hash'),
    hash('similar_proteins[].protein_hash'),
    unit('similar_proteins[].similarity_score'),
    descending('similar_proteins[].similarity_score'),
    // The lengths of hits are not checked.
    ...confidences('similar_proteins[].', 'shown'),
    within('similar_proteins', 'not more hits than were asked for', ({ similar_proteins: all }, { total }) =>
      total === undefined || !Array.isArray(all) ? undefined : all.length <= total,
    ),
    within(
      'similar_proteins',
      'no hit below min_similarity',
      ({ similar_proteins: all }, { minSimilarity: least }) =>
        least === undefined
          ? undefined
          : numbersAt(all, '[].similarity_score').every((score) => score >= least),
    ),
    within(
      'top_features_across_results[].mean_activation',
      'between the lowest and the highest',
      ({ min_activation: min, mean_activation: mean, max_activation: max }) =>
        typeof min === 'number' && typeof mean === 'number' && typeof max === 'number'
          ? min <= mean + 1e-6 && mean <= max + 1e-6
          : undefined,
    ),
    notNegative('restricted_count'),
  ],
  bulkJob: [
    within('completed_count', 'not more than total_count', ({ completed_count: done, total_count: all }) =>
      typeof done === 'number' && typeof all === 'number' ? done <= all : undefined,
    ),
    within(
      'download_url',
      'an address once the job is completed',
      ({ status, download_url: url }) =>
        typeof status === 'string' && /^completed?$/i.test(status)
          ? typeof url === 'string' && url !== ''
          : undefined,
      'drift',
    ),
    matching('download_url', LINK, 'an address'),
    matching('poll_url', /\/jobs\/[^/\s]+$/, 'the path of a job'),
  ],
  clusterInfo: [...clusterRules('clusters.*.'), hash('proteins.*')],
  bulkFeatures: [
    ...sparse('*.protein_level', 1, 'none'),
    ...sparse('*.per_residue', 2, 'none'),
    ...ranking('*.top_features', 'elsewhere'),
  ],
} satisfies Record<string, readonly ValueRule[]>;
