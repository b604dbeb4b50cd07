// The parts of a protein that a query needs, as a small algebra: needs are joined, compared and
// subtracted. One table says of each need which answers and which cached parts may meet it.

/** Parts of a protein that are fetched together. */
export interface RequiredParts {
  /** Sequence, accession and source. */
  readonly sequence?: true;
  /** PDB text and pLDDT. */
  readonly structure?: true;
  /** Stands beside the structure, which may come without it. */
  readonly ptm?: true;
  readonly meanPlddt?: true;
  /** The representative of its cluster. */
  readonly link?: true;
  /** That and what the bulk answer says of the cluster. */
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

type Need = keyof RequiredParts;

/** Parts of a protein that are cached each for itself. */
export type PartName =
  | 'identity'
  | 'names'
  | 'structure'
  | 'link'
  | 'cluster'
  | 'features'
  | 'level'
  | 'rows'
  | 'record';

interface NeedRule {
  /** The cached parts of which each may meet it. */
  readonly parts: readonly PartName[];
  /** `record`: only the record has it. `both`: an archive may have what a record lost. */
  readonly in?: 'record' | 'both';
  /** Where the record has it, for the error when no answer does. */
  readonly path?: string;
  /** The need that includes it. */
  readonly within?: Need;
}

const NEEDS: Readonly<Record<Need, NeedRule>> = {
  sequence: { parts: ['identity'], in: 'both', path: '$.sequence' },
  structure: { parts: ['structure'], in: 'both', path: '$.pdb' },
  ptm: { parts: ['structure'], in: 'both', path: '$.ptm' },
  meanPlddt: { parts: ['structure'], in: 'both', path: '$.mean_plddt', within: 'structure' },
  link: { parts: ['cluster', 'link'], within: 'cluster' },
  cluster: { parts: ['cluster'] },
  features: { parts: ['features'], in: 'both', path: '$.sae_features' },
  regions: { parts: ['features'], in: 'record', path: '$.sae_features' },
  residues: { parts: ['features', 'rows'], in: 'both', path: '$.sae_features' },
  rows: { parts: ['rows'], in: 'both' },
  level: { parts: ['level'], in: 'both' },
  header: { parts: ['names'], in: 'record' },
  record: { parts: ['record'], in: 'record' },
  fold: { parts: ['structure'], in: 'record' },
};

const namesOf = (needs: RequiredParts) => Object.keys(needs) as Need[];

/** What is there already; `everyRow` stands for all features. */
export type AvailableParts = RequiredParts & { readonly everyRow?: true };

const NOTHING: RequiredParts = {};

/** Whether nothing is needed. */
export const needsNothing = (needs: RequiredParts): boolean => namesOf(needs).length === 0;

/** All that any of them needs. */
export function unionParts(all: Iterable<RequiredParts>): RequiredParts {
  // The proteins of a list need the same, and mostly by the same object.
  const different = new Set(all);
  const [first = NOTHING] = different;
  if (different.size <= 1) return first;
  const joined: Partial<Record<Need, true | number | readonly number[]>> = {};
  for (const needs of different) {
    for (const need of namesOf(needs)) {
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

function isMet(need: Need, needs: RequiredParts, had: AvailableParts): boolean {
  const wanted = needs[need];
  if (typeof wanted === 'number') return wanted <= Number(had[need] ?? 0);
  if (typeof wanted === 'object') return !wanted.some((row) => lacksRow(row, had));
  const { within } = NEEDS[need];
  return wanted === undefined || had[need] === true || (within !== undefined && had[within] === true);
}

/** Whether `had` includes all of `needs`. */
export function isSatisfied(needs: RequiredParts, had: AvailableParts): boolean {
  for (const need in needs) if (!isMet(need as Need, needs, had)) return false;
  return true;
}

/** What of `needs` is not in `had`. */
export function missingParts(needs: RequiredParts, had: AvailableParts): RequiredParts {
  // The two usual answers need no new object.
  if (isSatisfied(needs, had)) return NOTHING;
  if (needsNothing(had)) return needs;
  const lacking = pick(needs, (need) => !isMet(need, needs, had));
  return lacking.rows === undefined
    ? lacking
    : { ...lacking, rows: lacking.rows.filter((row) => lacksRow(row, had)) };
}

const pick = (needs: RequiredParts, isWanted: (need: Need) => boolean): RequiredParts =>
  Object.fromEntries(namesOf(needs).flatMap((need) => (isWanted(need) ? [[need, needs[need]]] : [])));

/** Whether only `GET /proteins/{hash}` can give it. */
export const needsRecord = (needs: RequiredParts): boolean =>
  namesOf(needs).some((need) => NEEDS[need].in === 'record');

/** Whether its cluster is needed, of which a record knows less than an archive. */
export const needsCluster = (needs: RequiredParts): boolean => needs.cluster === true || needs.link === true;

/** Whether its structure is needed, which is where an archive has pTM and mean pLDDT. */
export const needsStructure = (needs: RequiredParts): boolean =>
  needs.structure === true || needs.ptm === true || needs.meanPlddt === true;

/** What of the needs an archive may have that a record lost; undefined where it has none of it. */
export function inArchive(needs: RequiredParts): RequiredParts | undefined {
  const shared = pick(needs, (need) => NEEDS[need].in === 'both');
  if (needsCluster(needs)) return { ...shared, cluster: true };
  return needsNothing(shared) ? undefined : shared;
}

/** Where the record has the first of the needs that it tells of. */
export const pathOf = (needs: RequiredParts): string =>
  namesOf(needs)
    .map((need) => NEEDS[need].path)
    .find((path) => path !== undefined) ?? '$';

/** By needs, most of which come again with their query. */
const partsKnown = new WeakMap<RequiredParts, ReadonlySet<PartName>>();

/** The cached parts of which at least one has to be there for each of these needs. */
export function partsFor(needs: RequiredParts): ReadonlySet<PartName> {
  const known = partsKnown.get(needs);
  if (known !== undefined) return known;
  const parts = new Set(namesOf(needs).flatMap((need) => NEEDS[need].parts));
  // Any part says that the protein exists.
  if (parts.size === 0) parts.add('identity');
  partsKnown.set(needs, parts);
  return parts;
}

/** Whether activations along the sequence are needed, which are most of an archive. */
export const needsRows = (needs: RequiredParts): boolean =>
  needs.rows !== undefined || needs.residues !== undefined;

/** The largest number of top features that any part of the needs speaks of; at least 1. */
export const topOf = (needs: RequiredParts): number =>
  Math.max(needs.features ?? 0, needs.regions ?? 0, needs.residues ?? 0, 1);
