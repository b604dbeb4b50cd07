/**
 * The result of every builder of chains: tokens with named atoms. Types and the rigid motion of a
 * chain.
 */
import { add, scale, type Vec } from '../structure/vector.ts';

export interface FoldAtom {
  name: string;
  element: string;
  at: Vec;
}

export interface Token {
  /** Component name: MET, A, DA, ATP. */
  name: string;
  atoms: FoldAtom[];
  /** 0 to 1. */
  plddt: number;
  hetero: boolean;
  /**
   * Number in the chain, 0-based: what covalent bonds and pocket contacts call the residue index.
   */
  index: number;
}

export interface ChainModel {
  id: string;
  entity: number;
  kind: 'protein' | 'rna' | 'dna' | 'ligand';
  tokens: Token[];
  /** The chain as text: what makes two chains the same molecule. */
  text: string;
}

/** A rotation (rows) about `pivot` with the pivot then at `to`. */
export interface Motion {
  rows: readonly [Vec, Vec, Vec];
  pivot: Vec;
  to: Vec;
}

export const moved = ({ rows: [x, y, z], pivot, to }: Motion, p: Vec): Vec => {
  const [a, b, c]: Vec = [p[0] - pivot[0], p[1] - pivot[1], p[2] - pivot[2]];
  return [
    to[0] + x[0] * a + x[1] * b + x[2] * c,
    to[1] + y[0] * a + y[1] * b + y[2] * c,
    to[2] + z[0] * a + z[1] * b + z[2] * c,
  ];
};

export const listAtoms = (chain: ChainModel): FoldAtom[] => chain.tokens.flatMap((token) => token.atoms);

export const movedChain = (chain: ChainModel, motion: Motion): ChainModel => ({
  ...chain,
  tokens: chain.tokens.map((token) => ({
    ...token,
    atoms: token.atoms.map((atom) => ({ ...atom, at: moved(motion, atom.at) })),
  })),
});

export function computeCentre(atoms: readonly FoldAtom[]): Vec {
  const sum = atoms.reduce<Vec>((total, atom) => add(total, atom.at), [0, 0, 0]);
  return scale(sum, 1 / Math.max(1, atoms.length));
}

/** A uniformly random rotation from three numbers in [0, 1) (Shoemake 1992). */
export function randomRotation(random: () => number): readonly [Vec, Vec, Vec] {
  const [u, v, w] = [random(), 2 * Math.PI * random(), 2 * Math.PI * random()];
  const [a, b] = [Math.sqrt(1 - u), Math.sqrt(u)];
  const [x, y, z, q] = [a * Math.sin(v), a * Math.cos(v), b * Math.sin(w), b * Math.cos(w)];
  return [
    [1 - 2 * (y * y + z * z), 2 * (x * y - z * q), 2 * (x * z + y * q)],
    [2 * (x * y + z * q), 1 - 2 * (x * x + z * z), 2 * (y * z - x * q)],
    [2 * (x * z - y * q), 2 * (y * z + x * q), 1 - 2 * (x * x + y * y)],
  ];
}
