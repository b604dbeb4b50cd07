// Rules that several answers of the Atlas share: rankings, sparse activations, confidences,
// clusters.
import { createHash } from 'node:crypto';
import {
  agree,
  between,
  type Effect,
  having,
  isFields,
  lengthOf,
  matching,
  numberOf,
  unit,
  type ValueRule,
  within,
} from './rules.ts';

/** Features of the catalogue. */
export const FEATURES = 16_384;
const HASH = /^[0-9a-f]{32}$/;
const { POSITIVE_INFINITY: INFINITE } = Number;

export const md5 = (sequence: string): string =>
  createHash('md5').update(sequence.toUpperCase().replace(/[*\s]/g, '')).digest('hex');
export const hash = (path: string): ValueRule => matching(path, HASH, 'an MD5 in lower case');

/** Residues of a PDB text, and whether its B-factors lie between 0 and 1. */
function readPdb(pdb: string): { residues: number; isUnit: boolean } {
  const atoms = pdb.split('\n').filter((line) => line.startsWith('ATOM'));
  const residues = new Set(atoms.map((line) => line.slice(21, 27)));
  const factors = atoms.map((line) => Number(line.slice(60, 66)));
  return { residues: residues.size, isUnit: factors.every((factor) => factor >= 0 && factor <= 1) };
}

/**
 * Rules for a list of `{feature_index, value}`, strongest first.
 *
 * @param outsideCatalogue - the effect of an index that no feature has
 */
export const ranking = (path: string, outsideCatalogue: Effect): ValueRule[] => [
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
export const sparse = (path: string, dimensions: number, effect: Effect): ValueRule[] =>
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
export const confidences = (parent: string): ValueRule[] => {
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

export const clusterRules = (parent: string): ValueRule[] => {
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
