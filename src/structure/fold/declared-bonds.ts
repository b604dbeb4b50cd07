// The covalent bonds that a submission declared, among the atoms of its result, which lists none.
import type { ModelAtom, ModelChain } from '../model.ts';
import type { FoldedChain } from './chains.ts';
import type { FoldedComplex } from './fields.ts';
import { atomRange, heavyAtoms, readPosition, readWord } from './rows.ts';

/** An atom of a declared bond, as submissions count it. */
export interface DeclaredAtom {
  readonly chainId: string;
  /** 0-based. */
  readonly residueIndex: number;
  /** 0-based, among the heavy atoms of the residue. */
  readonly atomIndex: number;
  /** Null where the gateway knows the index only. */
  readonly atomName: string | null;
}

export interface DeclaredBond {
  readonly from: DeclaredAtom;
  readonly to: DeclaredAtom;
}

/** Finds the atom in the model; undefined where the result has none, or no coordinates of it. */
function findAtom(
  complex: FoldedComplex,
  chains: readonly (FoldedChain & Pick<ModelChain, 'residues'>)[],
  { chainId, residueIndex, atomIndex, atomName }: DeclaredAtom,
): ModelAtom | undefined {
  const chain = chains.find(({ id }) => id === chainId);
  const residue = chain?.residues[residueIndex];
  if (chain === undefined || residue === undefined) return undefined;
  const token = chain.tokenStart + residueIndex;
  const isPlaced = (atom: number): boolean => readPosition(complex.atomPositions[atom]) !== undefined;
  const heavy = heavyAtoms(complex, token);
  // A name holds whatever the order of the atoms, and where a terminal residue lacks some.
  const found =
    atomName === null
      ? heavy[atomIndex]
      : heavy.find((atom) => readWord(complex.atomNames[atom]) === atomName);
  if (found === undefined || !isPlaced(found)) return undefined;
  const [start] = atomRange(complex, token);
  const before = Array.from({ length: found - start }, (_, k) => start + k).filter(isPlaced);
  return residue.atoms[before.length];
}

/** Finds the pairs of bonded atoms; bonds of which an atom is not there are left out. */
export const findDeclaredPairs = (
  complex: FoldedComplex,
  chains: readonly (FoldedChain & Pick<ModelChain, 'residues'>)[],
  bonds: readonly DeclaredBond[],
): (readonly [ModelAtom, ModelAtom])[] =>
  bonds.flatMap(({ from, to }) => {
    const [a, b] = [findAtom(complex, chains, from), findAtom(complex, chains, to)];
    return a === undefined || b === undefined || a === b ? [] : [[a, b] as const];
  });
