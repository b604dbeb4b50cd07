// The parts of a protein that a selection needs, as a small algebra: needs are joined, compared and
// subtracted. One table says which answers may have what a need asks for.

/** Parts of a protein that are fetched together. */
export interface RequiredParts {
  readonly sequence?: true;
  readonly length?: true;
  readonly accession?: true;
  readonly source?: true;
  /** Which answer said something of it last. */
  readonly provenance?: true;
  /** The file, and pLDDT by residue. */
  readonly structure?: true;
  /** Stands beside the structure, which may come without it. */
  readonly ptm?: true;
  readonly meanPlddt?: true;
  /** The representative of its cluster. */
  readonly link?: true;
  /** That and what the archive says of the cluster. */
  readonly cluster?: true;
  /** How many top features, 1 to 100. */
  readonly features?: number;
  /** How many top features with regions, 1 to 100. */
  readonly regions?: number;
  /** How many top features with activations along the sequence, 1 to 100. */
  readonly residues?: number;
  /** Indices of features whose activations along the sequence are needed. */
  readonly rows?: readonly number[];
  /** The activations of all features. */
  readonly level?: true;
  /** The FASTA header and name of its record. */
  readonly header?: true;
  /** What only the single record has. */
  readonly record?: true;
  /** Fold it when it has no structure. */
  readonly fold?: true;
}

export type Need = keyof RequiredParts;

interface NeedRule {
  /** `record`: only the record has it. `both`: an archive may have what a record lost. */
  readonly in?: 'record' | 'both';
  /** Where the record has it, for the error when no answer does. */
  readonly path?: string;
  /** The need that includes it. */
  readonly within?: Need;
}

const NEEDS: Readonly<Record<Need, NeedRule>> = {
  sequence: { in: 'both', path: '$.sequence' },
  length: { in: 'both', path: '$.sequence_length' },
  accession: { in: 'both', path: '$.accession' },
  source: { in: 'both', path: '$.source' },
  provenance: {},
  structure: { in: 'both', path: '$.pdb' },
  ptm: { in: 'both', path: '$.ptm' },
  meanPlddt: { in: 'both', path: '$.mean_plddt', within: 'structure' },
  link: { within: 'cluster' },
  cluster: {},
  features: { in: 'both', path: '$.sae_features' },
  regions: { in: 'record', path: '$.sae_features' },
  residues: { in: 'both', path: '$.sae_features' },
  rows: { in: 'both' },
  level: { in: 'both' },
  header: { in: 'record' },
  record: { in: 'record' },
  fold: { in: 'record' },
};

/** Keys of the table above only: TypeScript's Object.keys does not say so. */
export const needNames = (needs: RequiredParts): Need[] => Object.keys(needs) as Need[];

/** The parts that are loaded; `everyRow` stands for all features. */
export type AvailableParts = RequiredParts & { readonly everyRow?: true };

export const NO_PARTS: RequiredParts = {};

/** Whether nothing is needed. */
export const needsNothing = (needs: RequiredParts): boolean => needNames(needs).length === 0;

/** All that any of them needs. */
export function unionParts(all: Iterable<RequiredParts>): RequiredParts {
  // The proteins of a list mostly have their needs by the same object.
  const different = new Set(all);
  const [first = NO_PARTS] = different;
  if (different.size <= 1) return first;
  const joined: Partial<Record<Need, true | number | readonly number[]>> = {};
  for (const needs of different) {
    for (const need of needNames(needs)) {
      const [before, more] = [joined[need], needs[need]];
      if (typeof more === 'number') joined[need] = Math.max(more, Number(before ?? 0));
      else if (typeof more === 'object')
        joined[need] = [...new Set([...(typeof before === 'object' ? before : []), ...more])];
      else if (more) joined[need] = true;
    }
  }
  return joined as RequiredParts;
}

const lacksRow = (row: number, { everyRow, rows }: AvailableParts): boolean =>
  everyRow !== true && rows?.includes(row) !== true;

function isAvailable(need: Need, needs: RequiredParts, available: AvailableParts): boolean {
  const wanted = needs[need];
  if (typeof wanted === 'number') return wanted <= Number(available[need] ?? 0);
  if (typeof wanted === 'object') return !wanted.some((row) => lacksRow(row, available));
  const { within } = NEEDS[need];
  return (
    wanted === undefined || available[need] === true || (within !== undefined && available[within] === true)
  );
}

/** The needs that pass a test. */
export const pickParts = (needs: RequiredParts, isWanted: (need: Need) => boolean): RequiredParts =>
  Object.fromEntries(needNames(needs).flatMap((need) => (isWanted(need) ? [[need, needs[need]]] : [])));

/** The needs that `available` does not meet. */
export function missingParts(needs: RequiredParts, available: AvailableParts): RequiredParts {
  const isMissing = (need: Need): boolean => !isAvailable(need, needs, available);
  // The usual case, for each protein of a list.
  if (!needNames(needs).some(isMissing)) return NO_PARTS;
  const missing = pickParts(needs, isMissing);
  const { rows } = missing;
  return rows === undefined ? missing : { ...missing, rows: rows.filter((row) => lacksRow(row, available)) };
}

/** Whether only `GET /proteins/{hash}` can give it. */
export const needsRecord = (needs: RequiredParts): boolean =>
  needNames(needs).some((need) => NEEDS[need].in === 'record');

const IN_SEQUENCES: ReadonlySet<Need> = new Set<Need>([
  'sequence',
  'length',
  'accession',
  'source',
  'provenance',
]);

/** Whether the list of sequences, which every archive has, says all that is needed. */
export const needsSequenceOnly = (needs: RequiredParts): boolean =>
  needNames(needs).every((need) => IN_SEQUENCES.has(need));

/** Whether its cluster is needed, of which a record knows less than an archive. */
export const needsCluster = (needs: RequiredParts): boolean => needs.cluster === true || needs.link === true;

/** Whether its structure is needed, which is where an archive has pTM and mean pLDDT. */
export const needsStructure = (needs: RequiredParts): boolean =>
  needs.structure === true || needs.ptm === true || needs.meanPlddt === true;

/** The needs that an archive may meet where a record does not. */
export const inArchive = (needs: RequiredParts): RequiredParts => ({
  ...pickParts(needs, (need) => NEEDS[need].in === 'both'),
  ...(needsCluster(needs) ? { cluster: true } : {}),
});

/** Where the record has the first of the needs that it tells of. */
export const findPath = (needs: RequiredParts): string =>
  needNames(needs)
    .map((need) => NEEDS[need].path)
    .find((path) => path !== undefined) ?? '$';

/** Whether activations along the sequence are needed, which are most of an archive. */
export const needsRows = (needs: RequiredParts): boolean =>
  needs.rows !== undefined || needs.residues !== undefined;

/** Whether top features are needed, or activations on their scale. */
export const needsRanking = (needs: RequiredParts): boolean =>
  needs.features !== undefined || needs.regions !== undefined || needsRows(needs);

/** The service has at most 100 top features. */
const ALL_FEATURES = 100;

/**
 * The largest number of top features that any part of the needs speaks of; at least 1. The record
 * as it came has all of them, so that it is the same whatever else is needed.
 */
export const topFeatureCount = (needs: RequiredParts): number =>
  needs.record === true || needs.fold === true
    ? ALL_FEATURES
    : Math.max(needs.features ?? 0, needs.regions ?? 0, needs.residues ?? 0, 1);
