// Checks one reference of an item: to a chain by its id, or to a residue of a chain.

import { quote } from '../plain-text.ts';
import type { Chain } from './chain.ts';
import type { ItemIssues } from './issues.ts';
import type { Item } from './submission.ts';

const residueCount = (chain: Chain): number =>
  chain.type === 'ligand' ? Math.max(1, chain.ccd?.length ?? 1) : chain.sequence.length;

/** Checks of one reference each, which add an issue at its path. */
export interface ReferenceChecks {
  /** Finds a chain by its id. */
  chainAt(path: string, id: string): Chain | undefined;
  /** Whether a chain has a residue. */
  residueAt(path: string, chain: Chain | undefined, residue: number): boolean;
}

/** Creates the checks of the references in one item. */
export function createReferenceChecks(item: Item, { wrong, odd }: ItemIssues): ReferenceChecks {
  const byId = new Map<string, Chain>();
  for (const chain of item.chains) {
    for (const id of chain.ids ?? []) {
      byId.set(id, chain);
    }
  }
  const known = item.chains
    .flatMap((chain) => chain.ids?.slice(0, 12) ?? [])
    .slice(0, 12)
    .map((id) => id.slice(0, 40))
    .join(', ');
  const hasUnnamed = item.chains.some((chain) => !chain.ids?.length);

  const chainAt: ReferenceChecks['chainAt'] = (path, id) => {
    const chain = byId.get(id);
    if (chain === undefined) {
      const hint =
        byId.size === 0 ? 'Give the chains ids, such as ids: ["A"].' : `The chains with ids are ${known}.`;
      const name = quote(id);
      if (!hasUnnamed) wrong(path, 'UNKNOWN_CHAIN', `${name} is not a chain of this item.`, hint);
      else
        odd(
          path,
          'UNNAMED_CHAIN',
          `${name} can only be a chain that the upstream names: some chains of this item have no ids.`,
          hint,
        );
    }
    return chain;
  };
  const residueAt: ReferenceChecks['residueAt'] = (path, chain, residue) => {
    if (residue < 0) {
      wrong(
        path,
        'RESIDUE_OUT_OF_RANGE',
        `${residue} is not the index of a residue.`,
        'Indices are 0-based.',
      );
      return false;
    }
    if (chain === undefined) return false;
    const length = residueCount(chain);
    if (residue < length) return true;
    const hint =
      residue === length && length > 0
        ? `Indices are 0-based and this one looks 1-based: the last residue is ${length - 1}.`
        : 'Indices are 0-based.';
    // The service decides how a ligand is divided into residues.
    const addIssue = chain.type === 'ligand' ? odd : wrong;
    addIssue(
      path,
      'RESIDUE_OUT_OF_RANGE',
      `Residue ${residue} is outside the chain, which has residues 0 to ${length - 1}.`,
      hint,
    );
    return false;
  };
  return { chainAt, residueAt };
}
