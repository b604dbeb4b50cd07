// What is promised of the values of the Atlas's answers: ranges, forms and relations, field by field.
import { createHash } from 'node:crypto';
import {
  agree,
  asAsked,
  between,
  descending,
  type Effect,
  having,
  isFields,
  isSorted,
  LINK,
  lengthOf,
  matching,
  numberOf,
  unit,
  type ValueRule,
  valuesAt,
  within,
} from './rules.ts';

const FEATURES = 16_384;
const HASH = /^[0-9a-f]{32}$/;
const { POSITIVE_INFINITY: INFINITE } = Number;

const md5 = (sequence: string): string =>
  createHash('md5').update(sequence.toUpperCase().replace(/[*\s]/g, '')).digest('hex');
const hash = (path: string): ValueRule => matching(path, HASH, 'an MD5 in lower case');

/** Residues of a PDB text, and whether its B-factors lie between 0 and 1. */
function readPdb(pdb: string): { residues: number; isUnit: boolean } {
  const atoms = pdb.split('\n').filter((line) => line.startsWith('ATOM'));
  const residues = new Set(atoms.map((line) => line.slice(21, 27)));
  const factors = atoms.map((line) => Number(line.slice(60, 66)));
  return { residues: residues.size, isUnit: factors.every((factor) => factor >= 0 && factor <= 1) };
}

/** Rules for a list of `{feature_index, value}`, strongest first. @param outsideCatalogue - what comes of an index that no feature has */
const ranking = (path: string, outsideCatalogue: Effect): ValueRule[] => [
  having(outsideCatalogue, between(`${path}[].feature_index`, 0, FEATURES - 1)),
  between(`${path}[].value`, 0, INFINITE),
  having(
    'drift',
    within(
      `${path}[].residue_regions[]`,
      'end',
      // It may be the last residue or the one after it: region-ends.ts finds out which.
      'not before start, with the peak between them',
      ({ start, end, peak_residue: peak }) =>
        typeof start === 'number' && typeof end === 'number' && typeof peak === 'number'
          ? start <= peak && peak <= end
          : undefined,
    ),
  ),
];

/** Rules for sparse activations: as many values as indices, within the shape. */
const sparse = (path: string, dimensions: number, effect: Effect): ValueRule[] =>
  [
    within(
      path,
      'indices',
      `${dimensions} list${dimensions === 1 ? '' : 's'} as long as the values`,
      ({ indices, values }) => {
        if (!Array.isArray(indices) || !Array.isArray(values)) return undefined;
        const lists: unknown[] = indices.every(Array.isArray) && indices.length > 0 ? indices : [indices];
        return lists.length === dimensions && lists.every((list) => lengthOf(list) === values.length);
      },
    ),
    within(path, 'shape', `${FEATURES} features`, ({ shape }) =>
      Array.isArray(shape) ? shape.length === dimensions && shape.at(-1) === FEATURES : undefined,
    ),
  ].map((rule) => having(effect, rule));

/** Rules for the confidences of a structure beside its text. */
const confidences = (parent: string): ValueRule[] => {
  const below = parent === '' ? '' : `${parent}.`;
  return [
    unit(`${below}ptm`),
    // The scale is found out.
    having('none', unit(`${below}mean_plddt`)),
    having('none', unit(`${below}residues_plddt[]`)),
    having(
      // The lengths of hits are not checked.
      parent === '' ? 'drift' : 'shown',
      within(
        parent,
        'residues_plddt',
        'one for each residue',
        ({ residues_plddt: all, sequence_length: length }) => agree(lengthOf(all), numberOf(length)),
      ),
    ),
    having(
      parent === '' ? 'drift' : 'shown',
      within(parent, 'pdb', 'one residue for each of the sequence', ({ pdb, sequence_length: length }) =>
        typeof pdb === 'string' && typeof length === 'number' ? readPdb(pdb).residues === length : undefined,
      ),
    ),
    within(parent, 'pdb', 'B-factors of 0 to 1', ({ pdb }) =>
      typeof pdb === 'string' ? readPdb(pdb).isUnit : undefined,
    ),
  ];
};

const clusterRules = (parent: string): ValueRule[] => {
  const below = parent === '' ? '' : `${parent}.`;
  return [
    between(`${below}cluster_size`, 1, INFINITE),
    between(`${below}cluster_pct_characterized`, 0, 100),
    within(
      parent,
      'cluster_pct_characterized',
      'a percentage: 0, or at least that of one member',
      ({ cluster_pct_characterized: share, cluster_size: size }) =>
        typeof share === 'number' && typeof size === 'number' && size > 0
          ? share === 0 || share >= Math.floor(1000 / size) / 10
          : undefined,
    ),
    unit(`${below}cluster_mean_domain_coverage`),
    having('none', unit(`${below}mean_plddt`)),
    unit(`${below}ptm`),
    within(parent, 'cluster_top_pfam_domains', 'Pfam accessions', ({ cluster_top_pfam_domains: domains }) =>
      isFields(domains) ? Object.keys(domains).every((key) => /^PF\d{5}(\.\d+)?$/.test(key)) : undefined,
    ),
  ];
};

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
