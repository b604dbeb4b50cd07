// Runs in a thread: checks valences and aromaticity of SMILES by openchemlib, which takes half a
// second to load. It may be stricter than the service, so that all it finds are warnings.
import { Molecule } from 'openchemlib';
import type { IssueCode } from './issue-codes.ts';
import { writtenAtoms } from './smiles.ts';

/** A remark on a SMILES. */
export interface SmilesRemark {
  readonly code: IssueCode;
  readonly message: string;
  readonly hint: string;
}

/** Longer SMILES take openchemlib seconds. */
const MAX_LENGTH = 4096;
/** Bonds that openchemlib does not know; it never ends on `n->n`. */
const UNUSUAL_BOND = /->|<-|[~$]/;
/**
 * Atomic numbers of B, C, N, O, F, P, S, Cl, Se, Br, I. Valences of other elements vary too much.
 */
const NON_METALS = new Set([5, 6, 7, 8, 9, 15, 16, 17, 34, 35, 53]);
const AROMATIC = /^\[?\d*[a-z]/;
const MAX_NAMED = 5;

const NOT_CHECKED: SmilesRemark = {
  code: 'SMILES_NOT_CHECKED',
  message: 'The valences and aromatic rings of this SMILES could not be checked.',
  hint: 'It may be right. The gateway does not know all of the chemistry that the service knows.',
};

/** A heavy atom. */
interface Atom {
  /** Its index in openchemlib. */
  readonly at: number;
  readonly name: string;
  /** Orders of its bonds in all, hydrogens included. */
  readonly bonds: number;
  /** Whether it is written as aromatic and has no double bond or no ring. */
  readonly isLeftOver: boolean;
}

const join = (names: readonly string[]): string =>
  names.slice(0, MAX_NAMED).join(', ') +
  (names.length > MAX_NAMED ? ` and ${names.length - MAX_NAMED} more` : '');

function readMolecule(smiles: string): Molecule | undefined {
  if (smiles.length > MAX_LENGTH || UNUSUAL_BOND.test(smiles)) return undefined;
  try {
    return Molecule.fromSmiles(smiles, { noCoordinates: true, noStereo: true });
  } catch {
    return undefined;
  }
}

/** Atoms with more bonds than their element and charge have, as sentences without an end. */
function findOverbonded(molecule: Molecule, atoms: readonly Atom[]): readonly string[] {
  // Openchemlib takes the valence that an atom in square brackets has as its largest one.
  for (const { at } of atoms) molecule.setAtomAbnormalValence(at, -1);
  return atoms.flatMap(({ at, name, bonds }) => {
    const most = molecule.getMaxValence(at);
    const isOverbonded = NON_METALS.has(molecule.getAtomicNo(at)) && bonds > most;
    return isOverbonded ? [`${name} has ${bonds} bonds and at most ${most}`] : [];
  });
}

function findRemarks(smiles: string): readonly SmilesRemark[] {
  const molecule = readMolecule(smiles);
  if (molecule === undefined) return [NOT_CHECKED];
  const written = writtenAtoms(smiles);
  const atoms: Atom[] = [];
  for (let at = 0; at < molecule.getAllAtoms(); at += 1) {
    if (molecule.getAtomicNo(at) === 1) continue;
    const text = written[atoms.length] ?? '';
    const bonds = molecule.getOccupiedValence(at) + molecule.getImplicitHydrogens(at);
    const isLeftOver = AROMATIC.test(text) && (molecule.getAtomRadical(at) !== 0 || !molecule.isRingAtom(at));
    atoms.push({ at, name: `${text} (atom ${atoms.length})`, bonds, isLeftOver });
  }
  if (atoms.length !== written.length) return [NOT_CHECKED];
  const unpaired = atoms.filter(({ isLeftOver }) => isLeftOver).map(({ name }) => name);
  const overbonded = findOverbonded(molecule, atoms);
  const remarks: SmilesRemark[] = [];
  if (overbonded.length > 0)
    remarks.push({
      code: 'SMILES_VALENCE',
      message: `Atoms have more bonds than usual: ${join(overbonded)}.`,
      hint: 'Check bonds and charges, such as [N+] with four bonds. The fold is likely to fail. Atoms count from 0.',
    });
  if (unpaired.length > 0)
    remarks.push({
      code: 'SMILES_AROMATICITY',
      message: `No double bonds fit the aromatic rings: ${join(unpaired)} left over.`,
      hint:
        'Often a hydrogen is missing, as in c1cc[nH]c1, or a ring has a letter too few. The fold is likely to ' +
        'fail. Atoms count from 0.',
    });
  return remarks;
}

/** @returns remarks for each SMILES of the list, which must be free of syntax errors */
export default function findSmilesRemarks(list: readonly string[]): readonly (readonly SmilesRemark[])[] {
  return list.map(findRemarks);
}
