// What a query can need of a protein, as a small algebra: needs are joined, compared and taken from one another. Pure;
// it knows neither calls nor GraphQL.

/**
 * Parts of a protein that are fetched together.
 *
 * `sequence`: sequence, accession, source · `structure`: PDB text, pTM, pLDDT · `cluster`: its representative and
 * what the bulk answer says of the cluster · `features`: that many top features · `regions`: that many top features
 * with their residue regions · `record`: what only the single record has · `fold`: fold it when it has no structure.
 */
export interface ProteinNeeds {
  readonly sequence?: boolean;
  readonly structure?: boolean;
  readonly cluster?: boolean;
  /** How many top features, 1 to 100. */
  readonly features?: number;
  /** How many top features with regions, 1 to 100. */
  readonly regions?: number;
  readonly record?: boolean;
  readonly fold?: boolean;
}

type Joined = { -readonly [K in keyof ProteinNeeds]: ProteinNeeds[K] };

const FLAGS = ['sequence', 'structure', 'cluster', 'record', 'fold'] as const;
const AMOUNTS = ['features', 'regions'] as const;

/** All that any of them needs. */
export function joinNeeds(all: Iterable<ProteinNeeds>): ProteinNeeds {
  const joined: Joined = {};
  for (const needs of all) {
    for (const flag of FLAGS) if (needs[flag] === true) joined[flag] = true;
    for (const amount of AMOUNTS) {
      const wanted = needs[amount] ?? 0;
      if (wanted > (joined[amount] ?? 0)) joined[amount] = wanted;
    }
  }
  return joined;
}

/** What of `needs` is not in `had`. */
export function lackingNeeds(needs: ProteinNeeds, had: ProteinNeeds): ProteinNeeds {
  const lacking: Joined = {};
  for (const flag of FLAGS) if (needs[flag] === true && had[flag] !== true) lacking[flag] = true;
  for (const amount of AMOUNTS) {
    const wanted = needs[amount];
    if (wanted !== undefined && wanted > (had[amount] ?? 0)) lacking[amount] = wanted;
  }
  return lacking;
}

/** Whether nothing is needed. */
export const needsNothing = (needs: ProteinNeeds): boolean => Object.keys(needs).length === 0;

/** Whether only `GET /proteins/{hash}` can give it. */
export const needsRecord = (needs: ProteinNeeds): boolean =>
  needs.record === true || needs.fold === true || needs.regions !== undefined;
