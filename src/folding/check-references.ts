// The rules of what refers to chains: covalent bonds, pocket, distograms (spec, the tables of these names). It must not
// know the chains' own rules.
import { atomsAt } from './check-chains.ts';
import { smilesAtoms } from './chemistry.ts';
import type { ItemNotes } from './issues.ts';
import type { Chain, Item } from './submission.ts';

const lengthOf = (chain: Chain): number =>
  chain.type === 'ligand' ? Math.max(1, chain.ccd?.length ?? 1) : chain.sequence.length;

const atomsOf = (chain: Chain, residue: number): number | undefined =>
  chain.type === 'ligand' && chain.smiles !== null ? smilesAtoms(chain.smiles) : atomsAt(chain, residue);

/** Checks of single references to the chains of one item. */
function referenceChecks(item: Item, { wrong }: ItemNotes) {
  const byId = new Map<string, Chain>();
  for (const chain of item.chains) for (const id of chain?.ids ?? []) if (chain) byId.set(id, chain);
  const known = [...byId.keys()].slice(0, 12).join(', ');

  const chainAt = (path: string, id: string): Chain | undefined => {
    const chain = byId.get(id);
    if (chain === undefined) {
      const hint =
        byId.size === 0 ? 'Give the chains ids, such as ids: ["A"].' : `The chains with ids are ${known}.`;
      wrong(path, 'UNKNOWN_CHAIN', `${JSON.stringify(id)} is no chain of this item.`, hint);
    }
    return chain;
  };
  const residueAt = (path: string, chain: Chain | undefined, residue: number): boolean => {
    if (chain === undefined) return false;
    const length = lengthOf(chain);
    if (residue >= 0 && residue < length) return true;
    const hint =
      residue === length && length > 0
        ? `Indices are 0-based and this one looks 1-based: the last residue is ${length - 1}.`
        : 'Indices are 0-based.';
    wrong(
      path,
      'RESIDUE_OUT_OF_RANGE',
      `Residue ${residue} is outside the chain, which has residues 0 to ${length - 1}.`,
      hint,
    );
    return false;
  };
  const atomAt = (path: string, chain: Chain | undefined, residue: number, atom: number): void => {
    const atoms = chain === undefined ? undefined : atomsOf(chain, residue);
    if (atom >= 0 && (atoms === undefined || atom < atoms)) return;
    const range = atoms === undefined ? 'from 0' : `0 to ${atoms - 1}`;
    wrong(
      path,
      'ATOM_OUT_OF_RANGE',
      `Atom ${atom} is none of the residue, whose heavy atoms are ${range}.`,
      'Indices are 0-based and count heavy atoms.',
    );
  };
  return { chainAt, residueAt, atomAt };
}

type Checks = ReturnType<typeof referenceChecks>;

function checkBonds(item: Item, { chainAt, residueAt, atomAt }: Checks, { wrong }: ItemNotes): void {
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
      wrong(path, 'SELF_BOND', 'The bond joins an atom to itself.', 'Name two different atoms.');
    }
  }
}

function checkPocket({ pocket }: Item, { chainAt, residueAt }: Checks, { wrong, odd }: ItemNotes): void {
  if (pocket === null) return;
  chainAt('pocket.binderChainId', pocket.binderChainId);
  if (pocket.contacts.length === 0) {
    wrong(
      'pocket.contacts',
      'EMPTY_LIST',
      'The pocket has no contacts.',
      'Name the residues that the binder should touch.',
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

function checkDistograms(item: Item, { chainAt }: Checks, { wrong }: ItemNotes): void {
  const seen = new Set<string>();
  for (const [d, { chainId, distogram }] of item.distogramConditioning.entries()) {
    const path = `distogramConditioning.${d}`;
    const chain = chainAt(`${path}.chainId`, chainId);
    if (seen.has(chainId)) {
      wrong(
        `${path}.chainId`,
        'DUPLICATE_DISTOGRAM',
        `Chain "${chainId}" has a distogram already.`,
        'Give one for each chain.',
      );
    }
    seen.add(chainId);
    if (chain?.type === 'ligand') {
      wrong(
        `${path}.chainId`,
        'DISTOGRAM_ON_LIGAND',
        `Chain "${chainId}" is a ligand.`,
        'Condition a protein, RNA or DNA chain.',
      );
    }
    const size = distogram.length;
    const crooked = distogram.findIndex((row) => row.length !== size);
    if (crooked >= 0) {
      wrong(
        `${path}.distogram.${crooked}`,
        'DISTOGRAM_NOT_SQUARE',
        `Row ${crooked} has ${distogram[crooked]?.length} values, and there are ${size} rows.`,
        'A distogram is square.',
      );
    }
    if (chain !== undefined && chain.type !== 'ligand' && size !== chain.sequence.length) {
      wrong(
        `${path}.distogram`,
        'DISTOGRAM_LENGTH',
        `The distogram has ${size} rows, chain "${chainId}" has ${chain.sequence.length} residues.`,
        'Give one row and one column for each residue.',
      );
    }
  }
}

/** Every rule of one item's covalent bonds, pocket and distograms. */
export function checkReferences(item: Item, notes: ItemNotes): void {
  const checks = referenceChecks(item, notes);
  checkBonds(item, checks, notes);
  checkPocket(item, checks, notes);
  checkDistograms(item, checks, notes);
}
