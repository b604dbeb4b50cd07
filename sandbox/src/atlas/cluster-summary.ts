// The summary of a cluster, computed from its members.
import type { DomainHit } from './evolve.ts';
import { pfamName } from './pfam.ts';
import { countPhyla, lowestCommonAncestor, type Taxon } from './taxonomy.ts';

/** The facts of a member that a summary needs. */
interface Summarised {
  readonly hash: string;
  readonly sequence: string;
  readonly domains: readonly DomainHit[];
  readonly lineage: readonly string[];
}

/** Cluster metadata in the terms of the wire. */
export interface ClusterSummary {
  readonly size: number;
  /** Share of the members with at least one characterised domain, 0 to 100. */
  readonly pctCharacterized: number;
  /** Mean share of the residues that lie in a domain, 0 to 1. */
  readonly meanDomainCoverage: number;
  /** Members that carry each domain, commonest first. */
  readonly pfam: Readonly<Record<string, { name: string; count: number }>>;
  readonly taxon: Taxon;
  readonly phyla: Readonly<Record<string, number>>;
}

/** Share of a sequence's residues that lie in a domain. */
function domainCoverage(length: number, domains: readonly DomainHit[]): number {
  const covered = new Uint8Array(length);
  for (const { start, end } of domains) covered.fill(1, start, end);
  return covered.reduce((sum, one) => sum + one, 0) / length;
}

/** The longest member, as clusterings choose it; of equals the one with the lower hash. */
export function chooseRepresentative<T extends Summarised>(members: readonly T[]): T | undefined {
  let best: T | undefined;
  for (const one of members) {
    const longer = best === undefined ? 1 : one.sequence.length - best.sequence.length;
    if (best === undefined || longer > 0 || (longer === 0 && one.hash < best.hash)) best = one;
  }
  return best;
}

/** @param members at least one */
export function summarise(members: readonly Summarised[]): ClusterSummary {
  const counts = new Map<string, number>();
  for (const { domains } of members)
    for (const pfam of new Set(domains.map((hit) => hit.pfam))) counts.set(pfam, (counts.get(pfam) ?? 0) + 1);
  const ranked = [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).slice(0, 10);
  const lineages = members.map(({ lineage }) => lineage);
  const characterised = members.filter(({ domains }) => domains.length > 0).length;
  const coverage = members.reduce((sum, m) => sum + domainCoverage(m.sequence.length, m.domains), 0);
  return {
    size: members.length,
    pctCharacterized: Math.round((characterised / members.length) * 1e4) / 100,
    meanDomainCoverage: Math.round((coverage / members.length) * 1e4) / 1e4,
    pfam: Object.fromEntries(ranked.map(([pfam, count]) => [pfam, { name: pfamName(pfam), count }])),
    taxon: lowestCommonAncestor(lineages),
    phyla: countPhyla(lineages),
  };
}
