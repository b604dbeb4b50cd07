// The order of designs: the best interface first.

interface Scores {
  readonly ipsae: number | null;
  readonly iptm: number | null;
  readonly ptm: number | null;
}

interface Scored {
  readonly scores: Scores | null;
}

/** The score that designs are ranked by, and the one for designs that lack it. */
export const ORDERS = { ipsae: ['ipsae', 'iptm', 'ptm'], iptm: ['iptm', 'ptm'] } as const;
export type Order = keyof typeof ORDERS;

export const SCORE_NAMES: Readonly<Record<Order, string>> = { ipsae: 'ipSAE', iptm: 'ipTM' };

/** Whether a design has the score that designs are ranked by. */
export const isRanked = (order: Order, { scores }: Scored): boolean => scores?.[order] != null;

/**
 * Designs by a score, then those without it by the next one, then those without scores. Two scores
 * are never compared with each other: a single chain with a good pTM is no good interface.
 */
export const bestFirst =
  (order: Order) =>
  ({ scores: a }: Scored, { scores: b }: Scored): number => {
    for (const name of ORDERS[order]) {
      const difference = (b?.[name] ?? -1) - (a?.[name] ?? -1);
      if (difference !== 0) return difference;
    }
    return 0;
  };
