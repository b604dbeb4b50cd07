// Last common ancestor and phyla of a cluster from the lineages of its members.
import { RANKS } from './organisms.ts';

/** A node of the taxonomy, as `cluster_taxonomy_info` has it. */
export interface Taxon {
  readonly rank: string;
  readonly name: string;
}

/**
 * The deepest rank at which all known lineages agree. A lineage may end early (metagenomes) or be
 * empty; then it only counts as far as it goes.
 */
export function lowestCommonAncestor(lineages: readonly (readonly string[])[]): Taxon {
  const known = lineages.filter((lineage) => lineage.length > 0);
  let found: Taxon = {
    rank: 'no rank',
    name: known.length === 0 ? 'unclassified sequences' : 'cellular organisms',
  };
  for (const [depth, rank] of RANKS.entries()) {
    const names = new Set(known.filter((lineage) => lineage.length > depth).map((lineage) => lineage[depth]));
    const [name] = names;
    if (names.size !== 1 || name === undefined) {
      if (depth === 0 && names.has('Viruses')) return { rank: 'no rank', name: 'root' };
      return found;
    }
    found = { rank, name };
  }
  return found;
}

/** How many members each phylum has, commonest first, at most ten. */
export function countPhyla(lineages: readonly (readonly string[])[]): Record<string, number> {
  const counts = new Map<string, number>();
  for (const [, phylum] of lineages)
    if (phylum !== undefined) counts.set(phylum, (counts.get(phylum) ?? 0) + 1);
  const ranked = [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
  return Object.fromEntries(ranked.slice(0, 10));
}
