// Reads covalent bonds: names of atoms become the indices that the service counts by.
import { type AtomReader, createAtomReader, type ResidueAtoms } from './atom-names.ts';
import type { BondInput, Chain } from './submission.ts';

/** One atom of a bond. */
export interface BondAtom {
  readonly chainId: string;
  readonly residueIndex: number;
  /** Index of a heavy atom of the residue; null when it is not given and its name has none. */
  readonly atomIndex: number | null;
  /** The name that was given, in upper case. */
  readonly givenName: string | null;
  /** Atoms of its residue; undefined where the gateway does not know them. */
  readonly residue: ResidueAtoms | undefined;
}

export interface Bond {
  readonly ends: readonly [BondAtom, BondAtom];
}

interface EndInput {
  readonly chainId: string;
  readonly residueIndex: number;
  readonly atomIndex: number | null | undefined;
  readonly atomName: string | null | undefined;
}

function readEnd(input: EndInput, byId: ReadonlyMap<string, Chain>, atoms: AtomReader): BondAtom {
  const { chainId, residueIndex } = input;
  const chain = byId.get(chainId);
  const residue = chain && atoms.read(chain, residueIndex);
  // Forms send an empty text for what is left out.
  const givenName = input.atomName?.trim().toUpperCase().replaceAll('*', "'") || null;
  const found = givenName === null ? -1 : (residue?.names?.indexOf(givenName) ?? -1);
  const atomIndex = input.atomIndex ?? (found < 0 ? null : found);
  return { chainId, residueIndex, atomIndex, givenName, residue };
}

export function readBonds(bonds: readonly BondInput[], chains: readonly Chain[]): readonly Bond[] {
  if (bonds.length === 0) return [];
  const byId = new Map(chains.flatMap((chain) => (chain.ids ?? []).map((id) => [id, chain] as const)));
  const atoms = createAtomReader();
  return bonds.map((bond) => ({
    ends: [
      readEnd(
        {
          chainId: bond.chainId1,
          residueIndex: bond.residueIndex1,
          atomIndex: bond.atomIndex1,
          atomName: bond.atomName1,
        },
        byId,
        atoms,
      ),
      readEnd(
        {
          chainId: bond.chainId2,
          residueIndex: bond.residueIndex2,
          atomIndex: bond.atomIndex2,
          atomName: bond.atomName2,
        },
        byId,
        atoms,
      ),
    ],
  }));
}
