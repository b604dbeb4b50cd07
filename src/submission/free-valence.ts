// Atoms that chemistry does not bond further: valences filled by bonds that stay, and hydrogens of
// alkyl carbons, which do not leave. Known for standard residues, nucleotides and sugars; other
// components are not judged.
import { isMetal } from '../structure/elements.ts';
import { isStandardResidue } from './atom-names.ts';
import type { BondAtom } from './bonds.ts';
import type { Chain } from './chain.ts';

/** Carbons of standard residues that are no alkyl carbons: of rings, acids, amides, guanidine. */
const FLAT_CARBONS: Readonly<Record<string, string>> = {
  ...{ ASN: 'CG', ASP: 'CG', GLN: 'CD', GLU: 'CD', HIS: 'CD2 CE1' },
  ...{ PHE: 'CD1 CD2 CE1 CE2 CZ', TYR: 'CD1 CD2 CE1 CE2', TRP: 'CD1 CE3 CZ2 CZ3 CH2' },
};
/** Ring and guanidine carbons without a hydrogen. */
const FILLED_CARBONS: Readonly<Record<string, string>> = {
  ...{ ARG: 'CZ', HIS: 'CG', PHE: 'CG', TRP: 'CG CD2 CE2', TYR: 'CG CZ' },
};
/** Oxygens and sulfurs of standard residues that have no hydrogen to lose. */
const CLOSED: Readonly<Record<string, string>> = { ASN: 'OD1', GLN: 'OE1', MET: 'SD' };
/** Atoms of each nucleotide that chemistry does not bond further; adducts of bases are real. */
const CLOSED_IN_NUCLEOTIDES = "C5' C4' O4' C3' C2' C1' C2 C4";
/** The carbon of a sugar that its leaving oxygen is bonded to. */
const toAnomeric = (leaving: string): string => leaving.replace('O', 'C');

const has = (names: string | undefined, name: string): boolean => names?.split(' ').includes(name) === true;

const isAlkyl = ({ residue, atomIndex }: BondAtom): boolean => {
  const name = residue?.names?.[atomIndex ?? -1] ?? '';
  return name !== 'C' && !has(FILLED_CARBONS[residue?.component ?? ''], name);
};

function isClosedInProtein(component: string, name: string, isLast: boolean): boolean {
  if (name === 'C' || name === 'O') return !isLast;
  if (name.startsWith('C')) return !has(FLAT_CARBONS[component], name);
  return has(CLOSED[component], name) || (component === 'PRO' && name === 'N');
}

function isClosed({ residue, residueIndex, atomIndex }: BondAtom, chain: Chain): boolean {
  const name = residue?.names?.[atomIndex ?? -1];
  if (residue?.component == null || name === undefined) return false;
  if (chain.type !== 'ligand' && !isStandardResidue(residue.component)) return false;
  if (chain.type === 'protein') {
    const isFirstProline = residueIndex === 0 && name === 'N';
    const isLast = residueIndex === chain.sequence.length - 1;
    return !isFirstProline && isClosedInProtein(residue.component, name, isLast);
  }
  if (chain.type !== 'ligand') {
    const hasNext = residueIndex < chain.sequence.length - 1;
    const isInChain = (name === "O3'" && hasNext) || (name === "O5'" && residueIndex > 0);
    return isInChain || has(CLOSED_IN_NUCLEOTIDES, name);
  }
  // Carbons of sugars bond where an atom left.
  const { isSugar, leaving, elements } = residue;
  return isSugar && elements[atomIndex ?? -1] === 'C' && !leaving.map(toAnomeric).includes(name);
}

/**
 * Whether an atom has no valence for this bond. Lone pairs of nitrogen, oxygen and sulfur bind
 * metals, and sulfur binds alkyl carbons in the thioethers of some peptides.
 */
export function hasNoFreeValence(end: BondAtom, other: BondAtom, chain: Chain): boolean {
  const element = end.residue?.elements[end.atomIndex ?? -1] ?? '';
  const partner = other.residue?.elements[other.atomIndex ?? -1]?.toUpperCase() ?? '';
  if (element !== 'C' && partner !== '' && isMetal(partner)) return false;
  if (element === 'C' && partner === 'S' && chain.type === 'protein' && isAlkyl(end)) return false;
  return isClosed(end, chain);
}
