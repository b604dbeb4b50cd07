/**
 * Conditions of an input beyond its chains: where the binder belongs (pocket), which atoms are
 * bonded over chains, and how far residues of a chain should be apart (distogram). Turns each into
 * something the docking and the scoring can use.
 */
import { add, distance, scale, sub, unit, type Vec } from '../structure/vector.ts';
import type { CovalentBond, FoldAllAtomInput } from './input.ts';
import {
  type ChainModel,
  computeCentre,
  type FoldAtom,
  listAtoms,
  movedChain,
  randomRotation,
  type Token,
} from './model.ts';
import type { Scene } from './placement.ts';

const BOND_LENGTH = 1.45;
/** How much longer a bond is for each end of this element. */
const LONGER: Readonly<Record<string, number>> = { P: 0.2, S: 0.34, SE: 0.45 };
const ROTATIONS = 160;

const bondLength = (a: FoldAtom, b: FoldAtom): number =>
  BOND_LENGTH + (LONGER[a.element.toUpperCase()] ?? 0) + (LONGER[b.element.toUpperCase()] ?? 0);

const findChain = (chains: readonly ChainModel[], id: string): ChainModel | undefined =>
  chains.find((chain) => chain.id === id);

/** The order in which chains are placed: the largest first, the binder of a pocket last. */
export function dockingOrder(chains: readonly ChainModel[], input: FoldAllAtomInput): number[] {
  const binder = input.pocket?.binder_chain_id;
  const late = (k: number): number => (chains[k]?.id === binder ? 1 : 0);
  const size = (k: number): number => chains[k]?.tokens.length ?? 0;
  return [...chains.keys()].sort((a, b) => late(a) - late(b) || size(b) - size(a) || a - b);
}

/**
 * Where the binder should come to lie: the middle of the contact residues that are placed;
 * undefined for any other chain.
 */
export function pocketTarget(chain: ChainModel, scene: Scene, input: FoldAllAtomInput): Vec | undefined {
  const { pocket } = input;
  if (!pocket || pocket.binder_chain_id !== chain.id) return undefined;
  const atoms = pocket.contacts.flatMap(
    ([id, residue]) => findChain(scene.chains, id)?.tokens[residue]?.atoms ?? [],
  );
  return atoms.length === 0 ? undefined : computeCentre(atoms);
}

/** The service counts from the phosphate, which the first nucleotide lacks here. */
function findAtomPlace(token: Token | undefined, index: number): number {
  const lacksPhosphate = token?.atoms[0]?.name === "O5'";
  return lacksPhosphate ? index - 3 : index;
}

/** A bond that ties a chain to one that is placed already: the token and atom on either side. */
interface Tie {
  anchor: Token;
  anchorAtom: number;
  own: Token;
  ownAtom: number;
}

function findTie(chain: ChainModel, scene: Scene, bonds: readonly CovalentBond[]): Tie | undefined {
  for (const bond of bonds) {
    const ends = [
      [bond.chain_id1, bond.res_idx1, bond.atom_idx1],
      [bond.chain_id2, bond.res_idx2, bond.atom_idx2],
    ] as const;
    for (const [mine, other] of [ends, [ends[1], ends[0]]] as const) {
      if (mine[0] !== chain.id || other[0] === chain.id) continue;
      const anchor = findChain(scene.chains, other[0])?.tokens[other[1]];
      const own = chain.tokens[mine[1]];
      const [anchorAtom, ownAtom] = [findAtomPlace(anchor, other[2]), findAtomPlace(own, mine[2])];
      if (anchor?.atoms[anchorAtom] && own?.atoms[ownAtom]) return { anchor, anchorAtom, own, ownAtom };
    }
  }
  return undefined;
}

/**
 * Atoms that are not bonded to each other are at least this far apart, in ångström, as two
 * neighbours of one atom are.
 */
const CLASH = 2.2;
/** One clash is worse than any number of atoms that touch. */
const CLASH_COST = 10_000;

/**
 * Pairs of atoms that would be read as bonds besides the bonded one.
 *
 * @param from - the atom that `bonded` is bonded to
 */
function countClashes(
  turned: ChainModel,
  bonded: FoldAtom | undefined,
  from: Vec,
  around: readonly Vec[],
): number {
  return listAtoms(turned).reduce((count, atom) => {
    const isNearAnchor = atom !== bonded && distance(atom.at, from) < CLASH;
    return count + (isNearAnchor ? 1 : 0) + around.filter((at) => distance(at, atom.at) < CLASH).length;
  }, 0);
}

/**
 * Puts a chain that is bonded to a placed one so that the bonded atoms are a bond length apart,
 * turned so that as little as possible touches. Only the first such bond can be kept by a rigid
 * body.
 *
 * @returns null when no bond ties the chain to the scene
 */
export function attach(
  chain: ChainModel,
  scene: Scene,
  bonds: readonly CovalentBond[],
  random: () => number,
): ChainModel | null {
  const tie = findTie(chain, scene, bonds);
  const anchorAtom = tie?.anchor.atoms[tie.anchorAtom];
  const ownAtom = tie?.own.atoms[tie.ownAtom];
  if (tie === undefined || anchorAtom === undefined || ownAtom === undefined) return null;
  const [from, pivot, length] = [anchorAtom.at, ownAtom.at, bondLength(anchorAtom, ownAtom)];
  const partner = scene.chains.find(({ tokens }) => tokens.includes(tie.anchor));
  const inside = partner === undefined ? from : computeCentre(listAtoms(partner));
  const span = Math.max(...listAtoms(chain).map(({ at }) => distance(at, pivot)));
  const around = scene.chains
    .flatMap(listAtoms)
    .map(({ at }) => at)
    .filter((at) => at !== from && distance(at, from) < span + length + CLASH);
  const base = unit(sub(from, computeCentre(tie.anchor.atoms)));
  const outward = unit(sub(from, inside));
  let best: ChainModel | undefined;
  let fewest = Number.POSITIVE_INFINITY;
  for (let k = 0; k < ROTATIONS && fewest > 0; k++) {
    const wobble: Vec = [random() - 0.5, random() - 0.5, random() - 0.5];
    const direction = unit(add(add(scale(base, 1), scale(outward, 0.8)), scale(wobble, 1.5)));
    const to = add(from, scale(direction, length));
    const turned = movedChain(chain, { rows: randomRotation(random), pivot, to });
    const touching = turned.tokens
      .filter((token) => token.index !== tie.own.index)
      .flatMap((token) => token.atoms)
      .filter((atom) => scene.touches(atom.at)).length;
    const cost =
      touching +
      CLASH_COST *
        countClashes(turned, turned.tokens[chain.tokens.indexOf(tie.own)]?.atoms[tie.ownAtom], from, around);
    if (cost < fewest) [fewest, best] = [cost, turned];
  }
  if (best) scene.put(best);
  return best ?? null;
}

/** Bonds that could not be made because both chains stood already, as sentences. */
export function unmadeBonds(chains: readonly ChainModel[], bonds: readonly CovalentBond[]): string[] {
  return bonds.flatMap((bond) => {
    const [oneToken, twoToken] = [
      findChain(chains, bond.chain_id1)?.tokens[bond.res_idx1],
      findChain(chains, bond.chain_id2)?.tokens[bond.res_idx2],
    ];
    const one = oneToken?.atoms[findAtomPlace(oneToken, bond.atom_idx1)];
    const two = twoToken?.atoms[findAtomPlace(twoToken, bond.atom_idx2)];
    if (one && two && distance(one.at, two.at) < 2.2) return [];
    const name = (id: string, residue: number): string => `${id}:${residue}`;
    return [
      `The covalent bond between ${name(bond.chain_id1, bond.res_idx1)} and ${name(bond.chain_id2, bond.res_idx2)} was not made: the sandbox moves chains as rigid bodies.`,
    ];
  });
}

/**
 * Bins of a distogram: 64 of equal width from 2 to 22 ångström; a negative entry says nothing (our
 * choice: the spec does not say).
 */
const BINS = 64;
const NEAREST = 2;
const WIDTH = 20 / BINS;

/**
 * How the error between two residues of a conditioned chain changes: less where the model agrees
 * with the distogram, more where it does not. Undefined for a chain without one.
 */
export function agreement(
  chain: ChainModel,
  input: FoldAllAtomInput,
): ((i: number, j: number) => number) | undefined {
  const wanted = input.distogram_conditioning?.find(({ chain_id }) => chain_id === chain.id)?.distogram;
  if (!wanted) return undefined;
  const traces = chain.tokens.map(
    ({ atoms }) =>
      (atoms.find(({ name }) => name === 'CB') ?? atoms.find(({ name }) => name === 'CA') ?? atoms[0])?.at,
  );
  return (i, j) => {
    const bin = wanted[i]?.[j];
    const [a, b] = [traces[i], traces[j]];
    if (bin === undefined || bin < 0 || a === undefined || b === undefined) return 1;
    const is = distance(a, b);
    const should = NEAREST + (Math.min(bin, BINS - 1) + 0.5) * WIDTH;
    const off = bin >= BINS - 1 ? Math.max(0, should - is) : Math.abs(is - should);
    return 0.6 + 0.8 * Math.min(1, off / 10);
  };
}
