// Warns of a ligand of several components that no covalent bonds join: they are folded as one
// molecule in name only.
import type { Bond } from './bonds.ts';
import type { ItemIssues } from './issues.ts';
import type { Item } from './submission.ts';

const MAX_LISTED = 5;

/** Pairs of bonded residues, by the chain that has both. */
function bondsWithinChains(bonds: readonly Bond[]): Map<string, (readonly [number, number])[]> {
  const found = new Map<string, (readonly [number, number])[]>();
  for (const { ends } of bonds) {
    const [one, two] = ends;
    if (one.chainId !== two.chainId) continue;
    const pairs = found.get(one.chainId) ?? [];
    pairs.push([one.residueIndex, two.residueIndex]);
    found.set(one.chainId, pairs);
  }
  return found;
}

/** Whether bonds lead from the first of so many residues to all others. */
function areJoined(count: number, bonds: readonly (readonly [number, number])[]): boolean {
  if (bonds.length < count - 1) return false;
  const neighbours = new Map<number, number[]>();
  const add = (from: number, to: number): void => {
    const known = neighbours.get(from);
    if (known === undefined) neighbours.set(from, [to]);
    else known.push(to);
  };
  for (const [one, two] of bonds) {
    add(one, two);
    add(two, one);
  }
  const reached = new Set([0]);
  for (const residue of reached) for (const next of neighbours.get(residue) ?? []) reached.add(next);
  return Array.from({ length: count }, (_, residue) => residue).every((residue) => reached.has(residue));
}

/** Checks the ligands of an item that have several components. */
export function checkComponents({ chains, covalentBonds }: Item, { odd }: ItemIssues): void {
  const bonds = bondsWithinChains(covalentBonds);
  for (const [c, chain] of chains.entries()) {
    if (chain.type !== 'ligand' || chain.ccd === null || chain.ccd.length < 2) continue;
    const { ccd, ids } = chain;
    if (ids?.length && ids.every((id) => areJoined(ccd.length, bonds.get(id) ?? []))) continue;
    const listed = ccd.slice(0, MAX_LISTED).map((code) => code.slice(0, 8));
    odd(
      `chains.${c}.ligand.ccd`,
      'UNBONDED_COMPONENTS',
      `This ligand has ${ccd.length} components (${listed.join(', ')}${ccd.length > MAX_LISTED ? ', …' : ''}), and no bonds join all of them.`,
      'Give each molecule a ligand of its own, or the bonds in `covalentBonds`, for which the ligand needs an id.',
    );
  }
}
