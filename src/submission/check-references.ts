// Checks references to chains: covalent bonds, pocket, distograms (spec, the tables of these
// names).
import { checkBond } from './check-bond.ts';
import { type ItemIssues, quote } from './issues.ts';
import type { Chain, Item } from './submission.ts';

const residueCount = (chain: Chain): number =>
  chain.type === 'ligand' ? Math.max(1, chain.ccd?.length ?? 1) : chain.sequence.length;

/** Checks of one reference each, which add an issue at its path. */
export interface ReferenceChecks {
  /** Finds a chain by its id. */
  chainAt(path: string, id: string): Chain | undefined;
  /** Whether a chain has a residue. */
  residueAt(path: string, chain: Chain | undefined, residue: number): boolean;
}

function createReferenceChecks(item: Item, { wrong, odd }: ItemIssues): ReferenceChecks {
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
