// Checks references to chains: covalent bonds, pocket, distograms (spec, the tables of these
// names).

import { quote } from '../plain-text.ts';
import type { Chain } from './chain.ts';
import { checkBond } from './check-bond.ts';
import type { ItemIssues } from './issues.ts';
import { createReferenceChecks, type ReferenceChecks } from './reference-checks.ts';
import type { Item } from './submission.ts';

function checkPocket({ pocket }: Item, { chainAt, residueAt }: ReferenceChecks, { odd }: ItemIssues): void {
  if (pocket === null) return;
  chainAt('pocket.binderChainId', pocket.binderChainId);
  if (pocket.contacts.length === 0) {
    odd(
      'pocket.contacts',
      'EMPTY_LIST',
      'The pocket has no contacts.',
      'Name the residues that the binder should touch, or leave the pocket out.',
    );
  }
  for (const [c, { chainId, residueIndex }] of pocket.contacts.entries()) {
    const path = `pocket.contacts.${c}`;
    residueAt(`${path}.residueIndex`, chainAt(`${path}.chainId`, chainId), residueIndex);
    if (chainId === pocket.binderChainId) {
      odd(
        `${path}.chainId`,
        'CONTACT_ON_BINDER',
        `The contact is on the binder ${quote(chainId)} itself.`,
        'Contacts usually name residues of the other chains.',
      );
    }
  }
}

/** Checks the matrix of one distogram. @param chain - undefined where it is unknown */
function checkMatrix(
  distogram: readonly (readonly number[])[],
  chain: Chain | undefined,
  path: string,
  { wrong, odd }: ItemIssues,
): void {
  const rows = distogram.length;
  const columns = distogram[0]?.length ?? 0;
  const other = distogram.findIndex((row) => row.length !== columns);
  if (other >= 0) {
    wrong(
      `${path}.${other}`,
      'DISTOGRAM_RAGGED',
      `Row ${other} has ${distogram[other]?.length} values, and the first row has ${columns}.`,
      'The rows of a matrix are equally long.',
    );
    return;
  }
  if (rows !== columns) {
    odd(
      path,
      'DISTOGRAM_NOT_SQUARE',
      `The distogram has ${rows} rows and ${columns} columns.`,
      'Give one row and one column for each residue.',
    );
  } else if (chain !== undefined && chain.type !== 'ligand' && rows !== chain.sequence.length) {
    odd(
      path,
      'DISTOGRAM_LENGTH',
      `The distogram has ${rows} rows, and the chain has ${chain.sequence.length} residues.`,
      'Give one row and one column for each residue.',
    );
  }
}

function checkDistograms(item: Item, { chainAt }: ReferenceChecks, issues: ItemIssues): void {
  const { odd } = issues;
  const seen = new Set<string>();
  for (const [d, { chainId, distogram }] of item.distogramConditioning.entries()) {
    const path = `distogramConditioning.${d}`;
    const chain = chainAt(`${path}.chainId`, chainId);
    if (seen.has(chainId)) {
      odd(
        `${path}.chainId`,
        'DUPLICATE_DISTOGRAM',
        `Chain ${quote(chainId)} has a distogram already.`,
        'Give one for each chain; which of them the service takes is not known.',
      );
    }
    seen.add(chainId);
    if (chain?.type === 'ligand') {
      odd(
        `${path}.chainId`,
        'DISTOGRAM_ON_LIGAND',
        `Chain ${quote(chainId)} is a ligand.`,
        'Condition a protein, RNA or DNA chain.',
      );
    }
    checkMatrix(distogram, chain, `${path}.distogram`, issues);
  }
}

export function checkReferences(item: Item, issues: ItemIssues): void {
  const { covalentBonds, pocket, distogramConditioning } = item;
  if (covalentBonds.length === 0 && pocket === null && distogramConditioning.length === 0) return;
  const checks = createReferenceChecks(item, issues);
  for (const [b, bond] of covalentBonds.entries()) checkBond(bond, `covalentBonds.${b}`, checks, issues);
  checkPocket(item, checks, issues);
  checkDistograms(item, checks, issues);
}
