/**
 * A protein model from its sequence: predicted secondary structure and confidence, an ideal-geometry backbone and
 * all heavy side-chain atoms. A geometric stand-in and no prediction. Must not know of files, records or HTTP.
 */
import { type AminoAcid, aminoAcid } from './amino-acids.ts';
import { type BackboneResidue, layBackbone } from './backbone.ts';
import { predictConfidence } from './confidence.ts';
import { spatialGrid } from './spatial-grid.ts';
import { place, type Vec } from './vector.ts';

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

interface Placed {
  name: string;
  element: string;
  at: Vec;
}

const SOFT_CONTACT = 3.1;

function backboneAtoms(residue: BackboneResidue, next: BackboneResidue | undefined): Placed[] {
  // The carbonyl oxygen lies in the plane of CA, C and the next N, on the far side of it.
  const o = next
    ? place(next.ca, next.n, residue.c, 1.231, 122.9, 0)
    : place(residue.n, residue.ca, residue.c, 1.231, 120.1, residue.psi + 180);
  return [
    { name: 'N', element: 'N', at: residue.n },
    { name: 'CA', element: 'C', at: residue.ca },
    { name: 'C', element: 'C', at: residue.c },
    { name: 'O', element: 'O', at: o },
  ];
}

function sideChain(acid: AminoAcid, backbone: readonly Placed[], chis: readonly number[]): Placed[] {
  const at = new Map(backbone.map((atom) => [atom.name, atom.at]));
  return acid.atoms.map((row) => {
    const [a, b, c] = row.from.map((name) => at.get(name));
    if (!a || !b || !c) throw new Error(`${acid.name} ${row.name} is placed from an atom that comes later`);
    const torsion = row.chi > 0 ? (chis[row.chi - 1] ?? 180) + row.torsion : row.torsion;
    const position = place(a, b, c, row.bond, row.angle, torsion);
    at.set(row.name, position);
    return { name: row.name, element: row.element, at: position };
  });
}

/** All heavy atoms; for each residue the first rotamer that touches nothing, else the one that touches least. */
function allAtoms(sequence: string, backbone: readonly BackboneResidue[]): Placed[][] {
  const grid = spatialGrid(SOFT_CONTACT);
  const residues = backbone.map((residue, i) => backboneAtoms(residue, backbone[i + 1]));
  residues.forEach((atoms, i) => {
    for (const atom of atoms) grid.add(...atom.at, i);
  });
  return residues.map((atoms, i) => {
    const acid = aminoAcid(sequence.charAt(i));
    let best: Placed[] = [];
    let fewest = Number.POSITIVE_INFINITY;
    for (const chis of acid.rotamers) {
      const side = sideChain(acid, atoms, chis);
      let touching = 0;
      for (const { name, at } of side)
        if (name !== 'CB')
          grid.near(...at, (tag, squared) => {
            if (tag !== i) touching += SOFT_CONTACT - Math.sqrt(squared);
          });
      if (touching < fewest) [best, fewest] = [side, touching];
      if (fewest === 0) break;
    }
    for (const { at } of best) grid.add(...at, i);
    return [...atoms, ...best];
  });
}

const round3 = (x: number): number => Math.round(x * 1000) / 1000;

/**
 * Builds the model of a chain. The same sequence (upper-case letters) and salt always give the same model.
 *
 * @param salt another number gives another arrangement of the same secondary structure; confidence stays
 */
export function buildProtein(sequence: string, salt = 0): ProteinModel {
  const { secondary, plddt, meanPlddt, ptm } = predictConfidence(sequence);
  const backbone = layBackbone(sequence, secondary, plddt, salt);
  const placed = allAtoms(sequence, backbone);
  // The middle of the chain becomes the origin: PDB columns hold ±999 Å, enough for over 5,000 packed residues.
  const middle = [0, 1, 2].map((axis) => {
    const values = backbone.map((residue) => residue.ca[axis] ?? 0);
    return (
      values.reduce((low, x) => Math.min(low, x), Infinity) / 2 +
      values.reduce((high, x) => Math.max(high, x), -Infinity) / 2
    );
  });
  const [mx = 0, my = 0, mz = 0] = sequence === '' ? [] : middle;
  const residues = placed.map((atoms, i) => {
    const letter = sequence.charAt(i);
    return {
      letter,
      name: aminoAcid(letter).name,
      atoms: atoms.map(({ name, element, at }) => ({
        name,
        element,
        x: round3(at[0] - mx),
        y: round3(at[1] - my),
        z: round3(at[2] - mz),
      })),
    };
  });
  return { residues, plddt, ptm, meanPlddt, secondary };
}
