// Covalent bonds between residues beyond those of the chain, and disulfide bridges. A folding
// result lists none: they are those of the submission, where it is known, and those that distances
// show.
import { covalentRadius, isMetal } from './elements.ts';
import type { Asym } from './entities.ts';
import type { ModelAtom, ModelResidue, StructureModel } from './model.ts';
import { coordinateStep, distanceBetween } from './molecules.ts';

/** One end of a bond. */
export interface BondEnd {
  readonly asym: Asym;
  readonly residue: ModelResidue;
  /** 0-based position of the residue in its molecule. */
  readonly index: number;
  readonly atom: ModelAtom;
}

export interface Connection {
  readonly kind: 'covale' | 'disulf' | 'metalc';
  readonly from: BondEnd;
  readonly to: BondEnd;
  /** Ångström. */
  readonly distance: number;
  /** Whether the submission has it; it may then be of any length. */
  readonly isDeclared: boolean;
}

/**
 * Elements of bonds between residues. Halogens and hydrogens end a molecule, and metals are bonded
 * otherwise.
 */
const BONDING: ReadonlySet<string> = new Set(['B', 'C', 'N', 'O', 'SI', 'P', 'S', 'SE']);

/**
 * Ångström that a bond may be shorter or longer than the sum of its radii, beyond the coarseness of
 * its atoms.
 */
const TOLERANCE = 0.2;

/**
 * Atoms of two residues that are nearer touch, in ångström: neighbours of one atom are 2.2 apart.
 */
const CONTACT = 2;

/** Edge of the cells in which neighbours are looked for: longer than any bond. */
const CELL = 3;

/**
 * The bond of a polymer that an atom stands for in one residue only; inside a chain it has no room
 * for another.
 */
const CHAIN_ENDS: Readonly<Record<string, 'first' | 'last' | 'none'>> = {
  ...{ N: 'first', C: 'last', O: 'none' },
  ...{ P: 'first', "O5'": 'first', "O3'": 'last' },
};

const isFree = ({ asym, residue, index, atom }: BondEnd): boolean => {
  const place = residue.hetero ? undefined : CHAIN_ENDS[atom.name];
  return (
    place === undefined ||
    (place === 'first' && index === 0) ||
    (place === 'last' && index === asym.residues.length - 1)
  );
};

const isPolymer = ({ asym }: BondEnd): boolean => !/^(?:ligand|water)$/.test(asym.entity.kind);

/** Whether two atoms are those by which consecutive residues of a polymer are linked. */
function isChainLink(a: BondEnd, b: BondEnd): boolean {
  if (a.asym !== b.asym || !isPolymer(a) || Math.abs(a.index - b.index) !== 1) return false;
  const [before, after] = a.index < b.index ? [a, b] : [b, a];
  return /^(?:C-N|O3'-P)$/.test(`${before.atom.name}-${after.atom.name}`);
}

/** Two sulfurs of a cysteine each. */
const isBridge = (a: Pick<ModelAtom, 'element'>, b: Pick<ModelAtom, 'element'>): boolean =>
  a.element === 'S' && b.element === 'S';

/** Whether the distance of two atoms, in ångström, is that of a bond. */
export function isBondLength(a: ModelAtom, b: ModelAtom, distance: number): boolean {
  const expected = covalentRadius(a.element) + covalentRadius(b.element);
  const step = Math.max(coordinateStep(a), coordinateStep(b));
  return Math.abs(distance - expected) <= TOLERANCE + step;
}

/** Two atoms of different residues that are bonded, or nearer than atoms are that are not. */
interface Contact {
  readonly from: BondEnd;
  readonly to: BondEnd;
  readonly distance: number;
}

function findContact(from: BondEnd, to: BondEnd): Contact | undefined {
  if (from.residue === to.residue) return undefined;
  const distance = distanceBetween(from.atom, to.atom);
  if (distance > CELL || isChainLink(from, to)) return undefined;
  const step = Math.max(coordinateStep(from.atom), coordinateStep(to.atom));
  const isNear = distance < CONTACT - step || isBondLength(from.atom, to.atom, distance);
  return isNear ? { from, to, distance } : undefined;
}

function findKind(from: BondEnd, to: BondEnd): Connection['kind'] {
  if (isMetal(from.atom.element) || isMetal(to.atom.element)) return 'metalc';
  return isBridge(from.atom, to.atom) && isPolymer(from) && isPolymer(to) ? 'disulf' : 'covale';
}

/** The bond of a contact; undefined where the atoms only touch. */
function toConnection({ from, to, distance }: Contact): Connection | undefined {
  const isPeroxide = from.atom.element === 'O' && to.atom.element === 'O';
  if (isPeroxide || !isBondLength(from.atom, to.atom, distance)) return undefined;
  if (from.asym === to.asym && isPolymer(from) && !(isFree(from) && isFree(to))) return undefined;
  return { kind: findKind(from, to), from, to, distance, isDeclared: false };
}

/** The atoms that may take part. */
function findEnds(asyms: readonly Asym[], onlyBridges: boolean): BondEnd[] {
  const ends: BondEnd[] = [];
  for (const asym of asyms) {
    if (asym.entity.kind === 'water') continue;
    for (const [index, residue] of asym.residues.entries()) {
      if (onlyBridges && residue.name !== 'CYS') continue;
      for (const atom of residue.atoms)
        if (BONDING.has(atom.element) && (!onlyBridges || atom.element === 'S'))
          ends.push({ asym, residue, index, atom });
    }
  }
  return ends;
}

const OFFSETS = [-1, 0, 1];

const cellKey = (x: number, y: number, z: number): number => (x * 8192 + y) * 8192 + z;

/**
 * Atoms that touch many others are no structure: the search ends, so that its time stays in
 * proportion.
 */
const MAX_CONTACTS_PER_ATOM = 4;

function findContacts(ends: readonly BondEnd[]): Contact[] {
  const cells = new Map<number, BondEnd[]>();
  const contacts: Contact[] = [];
  for (const end of ends) {
    const { x, y, z } = end.atom;
    const [cx, cy, cz] = [Math.floor(x / CELL), Math.floor(y / CELL), Math.floor(z / CELL)];
    for (const dx of OFFSETS)
      for (const dy of OFFSETS)
        for (const dz of OFFSETS)
          for (const other of cells.get(cellKey(cx + dx, cy + dy, cz + dz)) ?? []) {
            const contact = findContact(other, end);
            if (contact !== undefined) contacts.push(contact);
          }
    if (contacts.length > MAX_CONTACTS_PER_ATOM * ends.length) return [];
    const key = cellKey(cx, cy, cz);
    const cell = cells.get(key);
    if (cell === undefined) cells.set(key, [end]);
    else cell.push(end);
  }
  return contacts;
}

/** Finds the bonds that the submission declares. */
function findDeclared(
  asyms: readonly Asym[],
  bonds: readonly (readonly [ModelAtom, ModelAtom])[],
): Connection[] {
  if (bonds.length === 0) return [];
  const atoms = new Set(bonds.flat());
  const ends = new Map<ModelAtom, BondEnd>();
  for (const asym of asyms)
    for (const [index, residue] of asym.residues.entries())
      for (const atom of residue.atoms) if (atoms.has(atom)) ends.set(atom, { asym, residue, index, atom });
  return bonds.flatMap(([a, b]) => {
    const [from, to] = [ends.get(a), ends.get(b)];
    if (from === undefined || to === undefined) return [];
    return [{ kind: findKind(from, to), from, to, distance: distanceBetween(a, b), isDeclared: true }];
  });
}

/**
 * Finds bonds in the order of the atoms. Residues that touch in more than one place clash, which
 * shows no bond.
 */
function findByDistance(asyms: readonly Asym[], onlyBridges: boolean): Connection[] {
  const contacts = findContacts(findEnds(asyms, onlyBridges));
  const counts = new Map<ModelResidue, Map<ModelResidue, number>>();
  for (const { from, to } of contacts) {
    const partners = counts.get(from.residue) ?? new Map<ModelResidue, number>();
    partners.set(to.residue, (partners.get(to.residue) ?? 0) + 1);
    counts.set(from.residue, partners);
  }
  return contacts.flatMap((contact) => {
    const { from, to } = contact;
    const count =
      (counts.get(from.residue)?.get(to.residue) ?? 0) + (counts.get(to.residue)?.get(from.residue) ?? 0);
    const connection = count === 1 ? toConnection(contact) : undefined;
    return connection === undefined ? [] : [connection];
  });
}

/** Finds the bonds, each once: those that the submission declares first. */
export function findConnections(
  asyms: readonly Asym[],
  { declaredBonds = [], hasOnlyBridges = false }: Pick<StructureModel, 'declaredBonds' | 'hasOnlyBridges'>,
): Connection[] {
  const partners = new Map<ModelAtom, Set<ModelAtom>>();
  const isNew = ({ from, to }: Connection): boolean => {
    const known = partners.get(from.atom)?.has(to.atom) || partners.get(to.atom)?.has(from.atom);
    partners.set(from.atom, (partners.get(from.atom) ?? new Set()).add(to.atom));
    return !known;
  };
  return [...findDeclared(asyms, declaredBonds), ...findByDistance(asyms, hasOnlyBridges)].filter(isNew);
}
