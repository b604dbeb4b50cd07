// The parts of a protein that a query needs, as a small algebra: needs are joined, compared and
// subtracted.

/**
 * Parts of a protein that are fetched together.
 *
 * `sequence`: sequence, accession, source · `structure`: PDB text, pTM, pLDDT · `scores`: pTM and
 * mean pLDDT · `link`: the representative of its cluster · `cluster`: that and the bulk answer's
 * cluster · `features`: that many top features · `regions`: that many with residue regions ·
 * `residues`: that many with activations along the sequence · `rows`: activations of these features
 * along the sequence · `level`: the activations of all features · `header`: the FASTA header and name of
 * its record · `record`: what only the single record has · `fold`: fold it when it has no structure.
 */
export interface RequiredParts {
  readonly sequence?: boolean;
  readonly structure?: boolean;
  readonly scores?: boolean;
  readonly link?: boolean;
  readonly cluster?: boolean;
  /** How many top features, 1 to 100. */
  readonly features?: number;
  /** How many top features with regions, 1 to 100. */
  readonly regions?: number;
  /** How many top features with activations along the sequence, 1 to 100. */
  readonly residues?: number;
  /** Indices of features. */
  readonly rows?: readonly number[];
  readonly level?: boolean;
  readonly header?: boolean;
  readonly record?: boolean;
  readonly fold?: boolean;
}

/** What is there already; `everyRow` stands for all features. */
export type AvailableParts = RequiredParts & { readonly everyRow?: boolean };

type Joined = { -readonly [K in keyof RequiredParts]: RequiredParts[K] };

const FLAGS = [
  'sequence',
  'structure',
  'scores',
  'link',
  'cluster',
  'level',
  'header',
  'record',
  'fold',
] as const;
const AMOUNTS = ['features', 'regions', 'residues'] as const;

/** Whether nothing is needed. */
export const needsNothing = (needs: RequiredParts): boolean => Object.keys(needs).length === 0;

const NOTHING: RequiredParts = {};

/** All that any of them needs. */
export function unionParts(all: Iterable<RequiredParts>): RequiredParts {
  // The proteins of a list need the same, and mostly by the same object.
  const different = new Set(all);
  const [first = NOTHING] = different;
  if (different.size <= 1) return first;
  const joined: Joined = {};
  const rows = new Set<number>();
  for (const needs of different) {
    for (const flag of FLAGS) if (needs[flag] === true) joined[flag] = true;
    for (const amount of AMOUNTS) {
      const wanted = needs[amount] ?? 0;
      if (wanted > (joined[amount] ?? 0)) joined[amount] = wanted;
    }
    for (const row of needs.rows ?? []) rows.add(row);
  }
  if (rows.size > 0) joined.rows = [...rows];
  return joined;
}

const lacksRow = (row: number, had: AvailableParts): boolean =>
  had.everyRow !== true && had.rows?.includes(row) !== true;

/** The cluster includes the representative, and the structure includes the scores. */
const hasFlag = (flag: (typeof FLAGS)[number], had: AvailableParts): boolean =>
  had[flag] === true ||
  (flag === 'link' && had.cluster === true) ||
  (flag === 'scores' && had.structure === true);

/** Whether `had` includes all of `needs`. Spelled out: it runs several times for each protein of a list. */
export const isSatisfied = (needs: RequiredParts, had: AvailableParts): boolean =>
  (needs.sequence !== true || had.sequence === true) &&
  (needs.structure !== true || had.structure === true) &&
  (needs.scores !== true || hasFlag('scores', had)) &&
  (needs.link !== true || hasFlag('link', had)) &&
  (needs.cluster !== true || had.cluster === true) &&
  (needs.level !== true || had.level === true) &&
  (needs.header !== true || had.header === true) &&
  (needs.record !== true || had.record === true) &&
  (needs.fold !== true || had.fold === true) &&
  (needs.features ?? 0) <= (had.features ?? 0) &&
  (needs.regions ?? 0) <= (had.regions ?? 0) &&
  (needs.residues ?? 0) <= (had.residues ?? 0) &&
  needs.rows?.some((row) => lacksRow(row, had)) !== true;

/** What of `needs` is not in `had`. */
export function missingParts(needs: RequiredParts, had: AvailableParts): RequiredParts {
  // The two usual answers need no new object.
  if (isSatisfied(needs, had)) return NOTHING;
  if (needsNothing(had)) return needs;
  const lacking: Joined = {};
  for (const flag of FLAGS) if (needs[flag] === true && !hasFlag(flag, had)) lacking[flag] = true;
  for (const amount of AMOUNTS) {
    const wanted = needs[amount];
    if (wanted !== undefined && wanted > (had[amount] ?? 0)) lacking[amount] = wanted;
  }
  const rows = needs.rows?.filter((row) => lacksRow(row, had)) ?? [];
  if (rows.length > 0) lacking.rows = rows;
  return lacking;
}

/** Whether only `GET /proteins/{hash}` can give it. */
export const needsRecord = (needs: RequiredParts): boolean =>
  needs.record === true || needs.header === true || needs.fold === true || needs.regions !== undefined;

/** Whether activations along the sequence are needed, which are most of an archive. */
export const needsRows = (needs: RequiredParts): boolean =>
  needs.rows !== undefined || needs.residues !== undefined;

/** The largest number of top features that any part of the needs speaks of; at least 1. */
export const topOf = (needs: RequiredParts): number =>
  Math.max(needs.features ?? 0, needs.regions ?? 0, needs.residues ?? 0, 1);
