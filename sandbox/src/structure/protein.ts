/**
 * A protein model from its sequence: predicted secondary structure and confidence, an
 * ideal-geometry backbone and all heavy side-chain atoms. A geometric stand-in and no prediction.
 */
import { type AminoAcid, aminoAcid, BACKBONE } from './amino-acids.ts';
import { type Backbone, layBackbone } from './backbone.ts';
import { predictConfidence } from './confidence.ts';
import { type SpatialGrid, spatialGrid } from './spatial-grid.ts';
import { placePoint, toBond } from './vector.ts';

export interface Atom {
  /** PDB name, such as CA or OD1. */
  name: string;
  element: string;
  /** Ångström. */
  x: number;
  y: number;
  z: number;
}

export interface ResidueModel {
  letter: string;
  /** Three-letter name; UNK for a letter that names no single residue. */
  name: string;
  atoms: Atom[];
}

export interface ProteinModel {
  residues: ResidueModel[];
  /** Per residue, 0 to 1. */
  plddt: number[];
  ptm: number;
  meanPlddt: number;
  /** H, E or C per residue. */
  secondary: string;
}

const SOFT_CONTACT = 3.1;
/** The longest side chain (tryptophan's) has ten atoms. */
const LONGEST_SIDE = 10;
const C_TO_O = toBond(1.231, 122.9);
const LAST_C_TO_O = toBond(1.231, 120.1);

/**
 * The atoms of a chain while they are placed: the backbone of each residue, then its side chain.
 */
interface Placed {
  readonly acids: readonly AminoAcid[];
  /** Number of the first atom of each residue, and behind the last the number of all atoms. */
  readonly firsts: Int32Array;
  /** Coordinates of atom k from 3k on. */
  readonly points: Float64Array;
  /** The atoms that were placed, each with the number of its residue, to find clashes. */
  readonly grid: SpatialGrid;
}

function toPlaced(sequence: string): Placed {
  const acids = Array.from(sequence, (letter) => aminoAcid(letter));
  const firsts = new Int32Array(acids.length + 1);
  for (const [i, acid] of acids.entries())
    firsts[i + 1] = (firsts[i] ?? 0) + BACKBONE.length + acid.atoms.length;
  // Four places more for the atoms from which an oxygen is placed.
  const points = new Float64Array(3 * ((firsts[acids.length] ?? 0) + 4));
  return { acids, firsts, points, grid: spatialGrid(SOFT_CONTACT) };
}

/** Adds atoms of residue i to those that later atoms must not touch. */
function addToGrid({ grid, points }: Placed, i: number, start: number, end: number): void {
  for (let atom = start; atom < end; atom++)
    grid.add(points[3 * atom] ?? 0, points[3 * atom + 1] ?? 0, points[3 * atom + 2] ?? 0, i);
}

/** Places N, CA, C and O of each residue. */
function placeBackbone(placed: Placed, backbone: Backbone): void {
  const { acids, firsts, points } = placed;
  const spare = firsts[acids.length] ?? 0;
  for (let i = 0; i < acids.length; i++) {
    const first = firsts[i] ?? 0;
    points.set(backbone.points.subarray(9 * i, 9 * i + 9), 3 * first);
    // The carbonyl oxygen lies in the plane of CA, C and the next N, on the far side of it.
    if (i + 1 < acids.length) {
      points.set(backbone.points.subarray(9 * i + 9, 9 * i + 15), 3 * spare);
      placePoint(points, first + 3, spare + 1, spare, first + 2, C_TO_O, 0);
    } else
      placePoint(points, first + 3, first, first + 1, first + 2, LAST_C_TO_O, (backbone.psi[i] ?? 0) + 180);
    addToGrid(placed, i, first, first + BACKBONE.length);
  }
}

/**
 * How much the atoms of residue i from `start` to `end` touch other residues, in ångström summed
 * over all contacts; counted no further than `limit`.
 */
function findClash({ grid, points }: Placed, i: number, start: number, end: number, limit: number): number {
  const { tags, squares } = grid.found;
  let total = 0;
  for (let atom = start; atom < end && total < limit; atom++) {
    const at = 3 * atom;
    const count = grid.near(points[at] ?? 0, points[at + 1] ?? 0, points[at + 2] ?? 0);
    for (let k = 0; k < count; k++) if (tags[k] !== i) total += SOFT_CONTACT - Math.sqrt(squares[k] ?? 0);
  }
  return total;
}

/** Places the side chain of residue i with the torsions of one rotamer. */
function placeRotamer({ acids, firsts, points }: Placed, i: number, chis: readonly number[]): void {
  const first = firsts[i] ?? 0;
  for (const [k, { from, bond, chi, torsion }] of (acids[i]?.atoms ?? []).entries()) {
    const [a, b, c] = from;
    const turned = chi > 0 ? (chis[chi - 1] ?? 180) + torsion : torsion;
    placePoint(points, first + BACKBONE.length + k, first + a, first + b, first + c, bond, turned);
  }
}

/**
 * Places each side chain: the first rotamer that touches nothing, else the one that touches least.
 */
function placeSideChains(placed: Placed): void {
  const { acids, firsts, points } = placed;
  const best = new Float64Array(3 * LONGEST_SIDE);
  for (const [i, { rotamers }] of acids.entries()) {
    const side = (firsts[i] ?? 0) + BACKBONE.length;
    const end = firsts[i + 1] ?? 0;
    let least = Number.POSITIVE_INFINITY;
    for (const chis of rotamers) {
      placeRotamer(placed, i, chis);
      // CB, the first, is where it is in every rotamer.
      const clash = findClash(placed, i, side + 1, end, least);
      if (clash < least) {
        least = clash;
        best.set(points.subarray(3 * side, 3 * end));
      }
      if (least === 0) break;
    }
    if (least > 0) points.set(best.subarray(0, 3 * (end - side)), 3 * side);
    addToGrid(placed, i, side, end);
  }
}

const round3 = (x: number): number => Math.round(x * 1000) / 1000;

/**
 * Builds the model of a chain. The same sequence (upper-case letters) and salt always give the same
 * model.
 *
 * @param salt another number gives another arrangement of the same secondary structure; confidence
 * stays
 */
export function buildProtein(sequence: string, salt = 0): ProteinModel {
  const { secondary, plddt, meanPlddt, ptm } = predictConfidence(sequence);
  const backbone = layBackbone(sequence, secondary, plddt, salt);
  const placed = toPlaced(sequence);
  placeBackbone(placed, backbone);
  placeSideChains(placed);
  const { acids, firsts, points } = placed;
  // The middle of the chain becomes the origin: PDB columns hold ±999 Å, enough for over 5,000
  // packed residues.
  const middle = [3, 4, 5].map((axis) => {
    let low = Number.POSITIVE_INFINITY;
    let high = Number.NEGATIVE_INFINITY;
    for (let at = axis; at < backbone.points.length; at += 9) {
      low = Math.min(low, backbone.points[at] ?? 0);
      high = Math.max(high, backbone.points[at] ?? 0);
    }
    return (low + high) / 2;
  });
  const [mx = 0, my = 0, mz = 0] = middle;
  const residues = acids.map((acid, i) => {
    let at = 3 * (firsts[i] ?? 0);
    const atomHere = (name: string, element: string): Atom => {
      const atom = {
        name,
        element,
        x: round3((points[at] ?? 0) - mx),
        y: round3((points[at + 1] ?? 0) - my),
        z: round3((points[at + 2] ?? 0) - mz),
      };
      at += 3;
      return atom;
    };
    const atoms = BACKBONE.map((name) => atomHere(name, name.charAt(0)));
    for (const { name, element } of acid.atoms) atoms.push(atomHere(name, element));
    return { letter: sequence.charAt(i), name: acid.name, atoms };
  });
  return { residues, plddt, ptm, meanPlddt, secondary };
}
