/**
 * Ligands: SMILES to named heavy atoms in 3-D by openchemlib, the same for the same seed. The
 * library's first conformer costs seconds; later ones take milliseconds to half a second.
 */
import { LRUCache } from 'lru-cache';
import { ConformerGenerator, Molecule, Resources } from 'openchemlib';
import type { Vec } from '../structure/vector.ts';
import type { FoldAtom } from './model.ts';

let registered = false;

/** A SMILES that cannot be read or laid out in space; the message is for its sender. */
export class LigandError extends Error {}

const reason = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error))
    .replace(/^Class\$S\d+:\s*/, '')
    .replace(/^SmilesParser:\s*/, '')
    .replaceAll('\0', 'the end');

/**
 * Mistakes that the library lets pass: brackets that stay open, a ring number that never comes,
 * wildcards, too many bonds.
 */
function oversight(smiles: string, molecule: Molecule): string | null {
  const opened = smiles.split('(').length - smiles.split(')').length;
  if (opened > 0) return `${opened} opening parenthesis without a closing one`;
  if (/%(?!\d\d|\(\d+\))/.test(smiles)) return "'%' without a two-digit ring number";
  if (smiles.includes('*')) return "the wildcard '*' names no element";
  let heavy = 0;
  for (let i = 0; i < molecule.getAllAtoms(); i++) {
    if (molecule.getAtomicNo(i) > 1) heavy++;
    if (molecule.getFreeValence(i) < 0)
      return `atom ${i + 1} (${molecule.getAtomLabel(i)}) has too many bonds`;
  }
  return heavy === 0 ? 'it has no heavy atom' : null;
}

/** Openchemlib never ends on `n->n`. */
const AROMATIC_DATIVE = /[a-z]\]?(?:->|<-)\[?[a-z]/;

/** A SMILES of more characters is not laid out in space: that would take the thread for minutes. */
const MAX_SMILES = 4096;

function parse(smiles: string): Molecule {
  if (smiles.trim() === '') throw new LigandError('the SMILES is empty');
  if (smiles.length > MAX_SMILES)
    throw new LigandError(`the SMILES has ${smiles.length} characters; at most ${MAX_SMILES} are laid out`);
  if (AROMATIC_DATIVE.test(smiles))
    throw new LigandError(`the SMILES "${smiles}" has a dative bond between aromatic atoms`);
  let molecule: Molecule;
  try {
    molecule = Molecule.fromSmiles(smiles, { noCoordinates: true });
  } catch (error) {
    throw new LigandError(`the SMILES "${smiles}" cannot be parsed: ${reason(error)}`);
  }
  const missed = oversight(smiles, molecule);
  if (missed !== null) throw new LigandError(`the SMILES "${smiles}" cannot be parsed: ${missed}`);
  return molecule;
}

/**
 * The fault of a SMILES, as a sentence, or null when it can be read. Quick: nothing is laid
 * out in space.
 */
export function checkSmiles(smiles: string): string | null {
  try {
    parse(smiles);
    return null;
  } catch (error) {
    if (error instanceof LigandError) return error.message;
    throw error;
  }
}

/**
 * Laying out ATP takes half a second: a batch of complexes with the same ligand waits for it once.
 */
const laidOut = new LRUCache<string, readonly FoldAtom[]>({
  maxSize: 50_000,
  sizeCalculation: ({ length }) => length,
});

/**
 * The heavy atoms in SMILES order, called C1, C2, O1, …
 *
 * @throws LigandError as {@link buildLigand}
 */
function layOut(smiles: string, seed: number): readonly FoldAtom[] {
  const key = `${seed} ${smiles}`;
  const known = laidOut.get(key);
  if (known !== undefined) return known;
  if (!registered) Resources.registerFromNodejs();
  registered = true;
  const molecule = parse(smiles);
  const count = molecule.getAllAtoms();
  const conformer = new ConformerGenerator(seed).getOneConformerAsMolecule(molecule);
  if (!conformer) throw new LigandError(`the SMILES "${smiles}" cannot be embedded in three dimensions`);
  const counts = new Map<string, number>();
  const atoms: FoldAtom[] = [];
  for (let i = 0; i < count; i++) {
    const element = conformer.getAtomLabel(i);
    if (element === 'H') continue;
    const number = (counts.get(element) ?? 0) + 1;
    counts.set(element, number);
    const at: Vec = [conformer.getAtomX(i), conformer.getAtomY(i), conformer.getAtomZ(i)];
    atoms.push({ name: `${element.toUpperCase()}${number}`, element: element.toUpperCase(), at });
  }
  laidOut.set(key, atoms);
  return atoms;
}

/**
 * @param names one name per heavy atom in SMILES order; without them atoms are called C1, C2, O1, …
 * @throws LigandError when the SMILES cannot be parsed, is empty or gets no conformer
 */
export const buildLigand = (smiles: string, seed: number, names?: readonly string[]): FoldAtom[] =>
  layOut(smiles, seed).map((atom, i) => ({ ...atom, name: names?.[i] ?? atom.name }));
