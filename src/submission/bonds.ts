// Reads covalent bonds: names of atoms become the indices that the service counts by.
import { type AtomReader, createAtomReader, type ResidueAtoms } from './atom-names.ts';
import type { Chain } from './chain.ts';
import type { BondInput } from './input.ts';

/** One atom of a bond. */
export interface BondAtom {
  readonly chainId: string;
  readonly residueIndex: number;
  /** Index of a heavy atom of the residue; null when it is not given and its name has none. */
  readonly atomIndex: number | null;
  /** The name that was given, in upper case; for a name from before 2008 today's. */
  readonly givenName: string | null;
  /** Atoms of its residue; undefined where the gateway does not know them. */
  readonly residue: ResidueAtoms | undefined;
}

export interface Bond {
  readonly ends: readonly [BondAtom, BondAtom];
}

/** One end of a bond, as it was given. */
interface EndInput {
  readonly chainId: string;
  readonly residueIndex: number;
  readonly index: BondInput['atomIndex1'];
  readonly name: BondInput['atomName1'];
}

/** Splits a bond into its ends, which are input fields numbered 1 and 2. */
const splitBond = (bond: BondInput): readonly [EndInput, EndInput] => [
  {
    chainId: bond.chainId1,
    residueIndex: bond.residueIndex1,
    index: bond.atomIndex1,
    name: bond.atomName1,
  },
  {
    chainId: bond.chainId2,
    residueIndex: bond.residueIndex2,
    index: bond.atomIndex2,
    name: bond.atomName2,
  },
];

function readEnd(
  { chainId, residueIndex, index, name }: EndInput,
  byId: ReadonlyMap<string, Chain>,
  atoms: AtomReader,
): BondAtom {
  const chain = byId.get(chainId);
  const residue = chain && atoms.read(chain, residueIndex);
  // Forms send an empty text for what is left out.
  const written = name?.trim().toUpperCase().replaceAll('*', "'") || null;
  const givenName = (written && residue?.formerNames.get(written)) ?? written;
  const found = givenName === null ? -1 : (residue?.names?.indexOf(givenName) ?? -1);
  const atomIndex = index ?? (found < 0 ? null : found);
  return { chainId, residueIndex, atomIndex, givenName, residue };
}

export function readBonds(bonds: readonly BondInput[], chains: readonly Chain[]): readonly Bond[] {
  if (bonds.length === 0) return [];
  const byId = new Map(chains.flatMap((chain) => (chain.ids ?? []).map((id) => [id, chain] as const)));
  const atoms = createAtomReader();
  return bonds.map((bond) => {
    const [one, two] = splitBond(bond);
    return { ends: [readEnd(one, byId, atoms), readEnd(two, byId, atoms)] };
  });
}
