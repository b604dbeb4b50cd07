// The order of designs: the best interface first.

interface Scored {
  readonly scores: { readonly iptm: number | null; readonly ptm: number | null } | null;
}

/**
 * Complexes by ipTM, then those without interfaces by pTM, then those without scores. The two scores
 * are never compared with each other: a single chain with a good pTM is no good interface.
 */
export const bestFirst = ({ scores: a }: Scored, { scores: b }: Scored): number =>
  (b?.iptm ?? -1) - (a?.iptm ?? -1) || (b?.ptm ?? -1) - (a?.ptm ?? -1);
