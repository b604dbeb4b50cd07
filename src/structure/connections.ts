// Covalent bonds between molecules, and disulfide bridges. A folding result lists no bonds, so they
// follow from distances: atoms are bonded at about the sum of their covalent radii (Cordero 2008).
import type { Asym } from './entities.ts';
import type { ModelAtom, ModelResidue } from './model.ts';

/** One end of a bond. */
export interface BondEnd {
  readonly asym: Asym;
  readonly residue: ModelResidue;
  /** 0-based position of the residue in its molecule. */
  readonly index: number;
  readonly atom: ModelAtom;
}

export interface Connection {
  readonly kind: 'covale' | 'disulf';
  readonly from: BondEnd;
  readonly to: BondEnd;
  /** Ångström. */
  readonly distance: number;
}

/** Ångström; metals and hydrogens are left out. */
const RADII: Readonly<Record<string, number>> = {
  ...{ B: 0.84, C: 0.76, N: 0.71, O: 0.66, F: 0.57, SI: 1.11, P: 1.07, S: 1.05 },
  ...{ CL: 1.02, SE: 1.2, BR: 1.2, I: 1.39 },
};

/** A bond is at most this much shorter or longer than the radii say; nearer atoms are a clash. */
const TOLERANCE = 0.25;

/** Edge of the cells in which neighbours are looked for: longer than any bond. */
const CELL = 3;

const isBridgeEnd = ({ residue, atom }: Pick<BondEnd, 'residue' | 'atom'>): boolean =>
  residue.name === 'CYS' && atom.name === 'SG';

/** The atoms that may take part: of a single molecule only those of bridges. */
function findEnds(asyms: readonly Asym[]): BondEnd[] {
  const ends: BondEnd[] = [];
  for (const asym of asyms) {
    if (asym.entity.kind === 'water') continue;
    for (const [index, residue] of asym.residues.entries()) {
      for (const atom of residue.atoms) {
        const mayTakePart = asyms.length > 1 || isBridgeEnd({ residue, atom });
        if (mayTakePart && RADII[atom.element] !== undefined) ends.push({ asym, residue, index, atom });
      }
    }
  }
  return ends;
}

function findConnection(from: BondEnd, to: BondEnd): Connection | undefined {
  const isBridge = isBridgeEnd(from) && isBridgeEnd(to) && from.residue !== to.residue;
  if (!isBridge && from.asym === to.asym) return undefined;
  const [a, b] = [from.atom, to.atom];
  const distance = Math.hypot(a.x - b.x, a.y - b.y, a.z - b.z);
  const expected = (RADII[a.element] ?? 0) + (RADII[b.element] ?? 0);
  if (Math.abs(distance - expected) > TOLERANCE) return undefined;
  return { kind: isBridge ? 'disulf' : 'covale', from, to, distance };
}

/**
 * Bonds of residues that are close in one place only: more contacts are a clash, which shows no
 * bond.
 */
function withoutClashes(connections: readonly Connection[]): Connection[] {
  const counts = new Map<ModelResidue, Map<ModelResidue, number>>();
  for (const { from, to } of connections) {
    const partners = counts.get(from.residue) ?? new Map<ModelResidue, number>();
    partners.set(to.residue, (partners.get(to.residue) ?? 0) + 1);
    counts.set(from.residue, partners);
  }
  return connections.filter(({ from, to }) => counts.get(from.residue)?.get(to.residue) === 1);
}

const OFFSETS = [-1, 0, 1];

/** Finds the bonds, each once, in the order of the atoms. */
export function findConnections(asyms: readonly Asym[]): Connection[] {
  const cells = new Map<string, BondEnd[]>();
  const found: Connection[] = [];
  for (const end of findEnds(asyms)) {
    const { x, y, z } = end.atom;
    const [cx, cy, cz] = [Math.floor(x / CELL), Math.floor(y / CELL), Math.floor(z / CELL)];
    for (const dx of OFFSETS)
      for (const dy of OFFSETS)
        for (const dz of OFFSETS)
          for (const other of cells.get(`${cx + dx} ${cy + dy} ${cz + dz}`) ?? []) {
            const connection = findConnection(other, end);
            if (connection !== undefined) found.push(connection);
          }
    const key = `${cx} ${cy} ${cz}`;
    const cell = cells.get(key);
    if (cell === undefined) cells.set(key, [end]);
    else cell.push(end);
  }
  return withoutClashes(found);
}
