// Checks references to chains: covalent bonds, pocket, distograms (spec, the tables of these
// names).
import type { ItemIssues } from './issues.ts';
import { countHeavyAtoms } from './polymers.ts';
import { scanSmiles } from './smiles.ts';
import type { Chain, Item } from './submission.ts';

const residueCount = (chain: Chain): number =>
  chain.type === 'ligand' ? Math.max(1, chain.ccd?.length ?? 1) : chain.sequence.length;

/** Counts heavy atoms at a residue of a chain, where the input allows it; reads each chain once. */
function createAtomCounter(chains: Item['chains']) {
  const modified = new Map<Chain, ReadonlySet<number>>();
  const smilesAtoms = new Map<Chain, number>();
  for (const chain of chains) {
    if (chain.type !== 'ligand') modified.set(chain, new Set(chain.modifications.map((one) => one.position)));
    else if (chain.smiles !== null && !chain.ccd?.length)
      smilesAtoms.set(chain, scanSmiles(chain.smiles).heavyAtoms);
  }
  return (chain: Chain, residue: number): number | undefined => {
    if (chain.type === 'ligand') return smilesAtoms.get(chain);
    const isModified = modified.get(chain)?.has(residue) === true;
    return isModified ? undefined : countHeavyAtoms(chain.type, chain.sequence, residue);
  };
}

/** Checks of one reference each, which add an issue at its path. */
interface ReferenceChecks {
  /** Finds a chain by its id. */
  chainAt(path: string, id: string): Chain | undefined;
  /** Whether a chain has a residue. */
  residueAt(path: string, chain: Chain | undefined, residue: number): boolean;
  atomAt(path: string, chain: Chain | undefined, residue: number, atom: number): void;
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
    .join(', ');
  const hasUnnamed = item.chains.some((chain) => !chain.ids?.length);
  const countAtoms = createAtomCounter(item.covalentBonds.length === 0 ? [] : item.chains);

  const chainAt: ReferenceChecks['chainAt'] = (path, id) => {
    const chain = byId.get(id);
    if (chain === undefined) {
      const hint =
        byId.size === 0 ? 'Give the chains ids, such as ids: ["A"].' : `The chains with ids are ${known}.`;
      const name = JSON.stringify(id.slice(0, 40));
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
  const atomAt: ReferenceChecks['atomAt'] = (path, chain, residue, atom) => {
    if (atom < 0) {
      wrong(path, 'ATOM_OUT_OF_RANGE', `${atom} is not the index of an atom.`, 'Indices are 0-based.');
      return;
    }
    const atoms = chain === undefined ? undefined : countAtoms(chain, residue);
    if (atoms === undefined || atom < atoms) return;
    odd(
      path,
      'ATOM_OUT_OF_RANGE',
      `Atom ${atom} is none of the residue, whose heavy atoms are 0 to ${atoms - 1} as far as the ` +
        'gateway knows.',
      'Indices are 0-based and count heavy atoms.',
    );
  };
  return { chainAt, residueAt, atomAt };
}

function checkBonds(item: Item, { chainAt, residueAt, atomAt }: ReferenceChecks, { odd }: ItemIssues): void {
  for (const [b, bond] of item.covalentBonds.entries()) {
    const path = `covalentBonds.${b}`;
    const ends = [
      { n: 1, id: bond.chainId1, residue: bond.residueIndex1, atom: bond.atomIndex1 },
      { n: 2, id: bond.chainId2, residue: bond.residueIndex2, atom: bond.atomIndex2 },
    ] as const;
    for (const { n, id, residue, atom } of ends) {
      const chain = chainAt(`${path}.chainId${n}`, id);
      const inside = residueAt(`${path}.residueIndex${n}`, chain, residue);
      atomAt(`${path}.atomIndex${n}`, inside ? chain : undefined, residue, atom);
    }
    const [one, two] = ends;
    if (one.id === two.id && one.residue === two.residue && one.atom === two.atom) {
      odd(path, 'SELF_BOND', 'The bond joins an atom to itself.', 'Name two different atoms.');
    }
  }
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
        `The contact is on the binder "${chainId}" itself.`,
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
        `Chain "${chainId}" has a distogram already.`,
        'Give one for each chain; which of them the service takes is not known.',
      );
    }
    seen.add(chainId);
    if (chain?.type === 'ligand') {
      odd(
        `${path}.chainId`,
        'DISTOGRAM_ON_LIGAND',
        `Chain "${chainId}" is a ligand.`,
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
  checkBonds(item, checks, issues);
  checkPocket(item, checks, issues);
  checkDistograms(item, checks, issues);
}
