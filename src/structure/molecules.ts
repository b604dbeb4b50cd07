// Bonds within a component, and whether two components with the same atom names are one molecule:
// the same bonds of the same lengths, and the same stereochemistry. Results state neither.
import { covalentRadius } from './elements.ts';
import type { ModelAtom } from './model.ts';

/** A bond between two atoms by their indexes, the smaller first. */
interface MoleculeBond {
  readonly from: number;
  readonly to: number;
  /** Ångström. */
  readonly length: number;
}

export const distanceBetween = (a: ModelAtom, b: ModelAtom): number =>
  Math.hypot(a.x - b.x, a.y - b.y, a.z - b.z);

/**
 * How coarse the coordinates of an atom are, in ångström: the service writes them with half
 * precision, which has 11 significant bits.
 */
export const coordinateStep = ({ x, y, z }: ModelAtom): number =>
  2 ** (Math.floor(Math.log2(Math.max(1, Math.abs(x), Math.abs(y), Math.abs(z)))) - 10);

/** Atoms are bonded up to this much beyond the sum of their radii, the rule of Open Babel. */
const MAX_STRETCH = 0.45;
const MIN_BOND = 0.4;

/** No component of the Chemical Component Dictionary has so many atoms. */
const MAX_ATOMS = 1000;

/** The bonds of a component; none for one of more than 1,000 atoms. */
export function findBonds(atoms: readonly ModelAtom[]): MoleculeBond[] {
  const bonds: MoleculeBond[] = [];
  if (atoms.length > MAX_ATOMS) return bonds;
  const radii = atoms.map(({ element }) => covalentRadius(element));
  for (const [from, a] of atoms.entries())
    for (let to = from + 1; to < atoms.length; to += 1) {
      const length = distanceBetween(a, atoms[to] ?? a);
      const reach = (radii[from] ?? 0) + (radii[to] ?? 0) + MAX_STRETCH;
      if (length > MIN_BOND && length < reach) bonds.push({ from, to, length });
    }
  return bonds;
}

interface Molecule {
  readonly atoms: readonly ModelAtom[];
  readonly bonds: readonly MoleculeBond[];
  /** Indexes of the bonded atoms, by atom. */
  readonly neighbours: readonly (readonly number[])[];
}

function toMolecule(atoms: readonly ModelAtom[]): Molecule {
  const bonds = findBonds(atoms);
  const neighbours = atoms.map((): number[] => []);
  for (const { from, to } of bonds) {
    neighbours[from]?.push(to);
    neighbours[to]?.push(from);
  }
  return { atoms, bonds, neighbours };
}

/** A number for each atom; atoms that the graph of bonds cannot tell apart have the same. */
function rankAtoms({ atoms, neighbours }: Molecule): number[] {
  let ranks = atoms.map(() => 0);
  for (let classes = 0; ; ) {
    const keys = atoms.map(({ element }, k) =>
      [element, ranks[k], ...(neighbours[k] ?? []).map((n) => ranks[n] ?? 0).sort((a, b) => a - b)].join(),
    );
    const known = [...new Set(keys)].sort();
    if (known.length === classes) return ranks;
    classes = known.length;
    const byKey = new Map(known.map((key, rank) => [key, rank]));
    ranks = keys.map((key) => byKey.get(key) ?? 0);
  }
}

type Vector = readonly [x: number, y: number, z: number];

const unitVector = (from: ModelAtom | undefined, to: ModelAtom | undefined): Vector => {
  if (from === undefined || to === undefined) return [0, 0, 0];
  const length = distanceBetween(from, to) || 1;
  return [(to.x - from.x) / length, (to.y - from.y) / length, (to.z - from.z) / length];
};
const cross = ([a, b, c]: Vector, [x, y, z]: Vector): Vector => [b * z - c * y, c * x - a * z, a * y - b * x];
const dot = ([a, b, c]: Vector, [x, y, z]: Vector): number => a * x + b * y + c * z;

/** The neighbours of an atom by rank; undefined where two are alike. */
function rankedNeighbours({ neighbours }: Molecule, ranks: readonly number[], atom: number, but = -1) {
  const list = (neighbours[atom] ?? []).filter((n) => n !== but);
  const isClear = new Set(list.map((n) => ranks[n])).size === list.length;
  return isClear ? list.sort((a, b) => (ranks[a] ?? 0) - (ranks[b] ?? 0)) : undefined;
}

/** Nitrogen inverts freely with three neighbours. */
const MIN_NEIGHBOURS: Readonly<Record<string, number>> = { C: 3, S: 3, P: 3, SI: 3, N: 4 };

/** The handedness of each stereocentre, -1 to 1; 0 for other and for flat atoms. */
function readChirality(molecule: Molecule, ranks: readonly number[]): number[] {
  const { atoms } = molecule;
  return atoms.map((atom, k) => {
    const sorted = rankedNeighbours(molecule, ranks, k) ?? [];
    if (sorted.length < (MIN_NEIGHBOURS[atom.element] ?? Number.POSITIVE_INFINITY)) return 0;
    const [a, b, c] = sorted.map((n) => unitVector(atom, atoms[n]));
    return a && b && c ? dot(a, cross(b, c)) : 0;
  });
}

/** A double bond is shorter than this, in ångström: between carbons, and with nitrogen. */
const MAX_DOUBLE = { C: 1.4, N: 1.31 } as const;

/** The cosine of the torsion about each bond that does not turn; 0 for other bonds. */
function readTorsions(molecule: Molecule, ranks: readonly number[]): number[] {
  const { atoms, bonds, neighbours } = molecule;
  const isInRing = (from: number, to: number): boolean => {
    const seen = new Set([from]);
    for (const atom of seen)
      for (const next of neighbours[atom] ?? []) if (atom !== from || next !== to) seen.add(next);
    return seen.has(to);
  };
  return bonds.map(({ from, to, length }) => {
    const [a, b] = [atoms[from], atoms[to]];
    const kinds = `${a?.element}${b?.element}`;
    const limit = kinds === 'CC' ? MAX_DOUBLE.C : /^(?:CN|NC|NN)$/.test(kinds) ? MAX_DOUBLE.N : 0;
    if (length >= limit || isInRing(from, to)) return 0;
    const [before] = rankedNeighbours(molecule, ranks, from, to) ?? [];
    const [after] = rankedNeighbours(molecule, ranks, to, from) ?? [];
    if (before === undefined || after === undefined) return 0;
    const axis = unitVector(a, b);
    return dot(cross(unitVector(a, atoms[before]), axis), cross(unitVector(b, atoms[after]), axis));
  });
}

/** Whether no value is clearly positive in one list and clearly negative in the other. */
const agree = (a: readonly number[], b: readonly number[], clear: number): boolean =>
  a.every((value, k) => Math.min(Math.abs(value), Math.abs(b[k] ?? 0)) < clear || value * (b[k] ?? 0) > 0);

/** A single bond is at least this much longer than a double one, in ångström. */
const SAME_LENGTH = 0.1;

/** Compares two components whose atoms have the same names, in the same order. */
export function isSameMolecule(one: readonly ModelAtom[], other: readonly ModelAtom[]): boolean {
  const [a, b] = [toMolecule(one), toMolecule(other)];
  const step = [...one, ...other].reduce((most, atom) => Math.max(most, coordinateStep(atom)), 0);
  const hasSameBonds =
    a.bonds.length === b.bonds.length &&
    a.bonds.every(({ from, to, length }, k) => {
      const bond = b.bonds[k];
      const isThere = bond?.from === from && bond.to === to;
      return isThere && Math.abs(bond.length - length) < SAME_LENGTH + step;
    });
  if (!hasSameBonds) return false;
  const ranks = rankAtoms(a);
  return (
    agree(readChirality(a, ranks), readChirality(b, ranks), 0.25) &&
    agree(readTorsions(a, ranks), readTorsions(b, ranks), 0.4)
  );
}
