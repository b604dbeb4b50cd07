/**
 * Modified residues: the atoms that a common modification adds to its parent, takes away from it or replaces, by
 * component code. A code that is not in the table keeps the parent's atoms under the given name. Knows one residue.
 */
import { add, distance, place, scale, sub } from '../structure/vector.ts';
import { centreOf, type FoldAtom, type Token } from './model.ts';

/** One atom to add: bonded to `to` at `bond` ångström, `angle` degrees from that atom's own neighbour, turned by `torsion`. */
interface Added {
  name: string;
  element: string;
  to: string;
  bond: number;
  angle: number;
  torsion: number;
}

interface Change {
  parent: string;
  add?: readonly Added[];
  /** Atoms that become another element, such as the sulphur of methionine in MSE. */
  replace?: Readonly<Record<string, { name: string; element: string; stretch: number }>>;
}

const atom = (
  name: string,
  element: string,
  to: string,
  bond: number,
  angle: number,
  torsion: number,
): Added => ({
  name,
  element,
  to,
  bond,
  angle,
  torsion,
});

const phosphate = (oxygen: string): Added[] => [
  atom('P', 'P', oxygen, 1.61, 120, 180),
  atom('O1P', 'O', 'P', 1.5, 109.5, 60),
  atom('O2P', 'O', 'P', 1.5, 109.5, 180),
  atom('O3P', 'O', 'P', 1.5, 109.5, -60),
];

const methyls = (on: string, names: readonly string[]): Added[] =>
  names.map((name, k) => atom(name, 'C', on, 1.48, 109.5, 60 + 120 * k));

const CHANGES: Readonly<Record<string, Change>> = {
  SEP: { parent: 'SER', add: phosphate('OG') },
  TPO: { parent: 'THR', add: phosphate('OG1') },
  PTR: { parent: 'TYR', add: phosphate('OH') },
  MSE: { parent: 'MET', replace: { SD: { name: 'SE', element: 'SE', stretch: 1.19 } } },
  HYP: { parent: 'PRO', add: [atom('OD1', 'O', 'CG', 1.42, 110, 120)] },
  MLZ: { parent: 'LYS', add: methyls('NZ', ['CM']) },
  MLY: { parent: 'LYS', add: methyls('NZ', ['CH1', 'CH2']) },
  M3L: { parent: 'LYS', add: methyls('NZ', ['CM1', 'CM2', 'CM3']) },
  ALY: {
    parent: 'LYS',
    add: [
      atom('CH', 'C', 'NZ', 1.33, 122, 180),
      atom('OH', 'O', 'CH', 1.23, 122, 0),
      atom('CH3', 'C', 'CH', 1.51, 116, 180),
    ],
  },
  KCX: {
    parent: 'LYS',
    add: [
      atom('CX', 'C', 'NZ', 1.34, 122, 180),
      atom('OQ1', 'O', 'CX', 1.25, 118, 0),
      atom('OQ2', 'O', 'CX', 1.25, 118, 180),
    ],
  },
  CSO: { parent: 'CYS', add: [atom('OD', 'O', 'SG', 1.66, 105, 180)] },
  OCS: {
    parent: 'CYS',
    add: [
      atom('OD1', 'O', 'SG', 1.45, 109, 60),
      atom('OD2', 'O', 'SG', 1.45, 109, 180),
      atom('OD3', 'O', 'SG', 1.45, 109, -60),
    ],
  },
  CME: {
    parent: 'CYS',
    add: [
      atom('SD', 'S', 'SG', 2.05, 104, 90),
      atom('CE', 'C', 'SD', 1.81, 104, 90),
      atom('CZ', 'C', 'CE', 1.52, 112, 180),
      atom('OH', 'O', 'CZ', 1.42, 109, 180),
    ],
  },
};

/** Two atoms nearer than this are bonded. */
const BONDED = 2.0;

/** A bonded neighbour of an atom, other than those left out; the nearest one. */
function neighbour(atoms: readonly FoldAtom[], of: FoldAtom, not: readonly FoldAtom[]): FoldAtom | undefined {
  return atoms
    .filter((other) => other !== of && !not.includes(other) && distance(other.at, of.at) < BONDED)
    .sort((a, b) => distance(a.at, of.at) - distance(b.at, of.at))[0];
}

function withAdded(
  atoms: readonly FoldAtom[],
  { name, element, to, bond, angle, torsion }: Added,
): FoldAtom[] {
  const on = atoms.find((other) => other.name === to);
  const before = on && neighbour(atoms, on, []);
  const first =
    on &&
    before &&
    (neighbour(atoms, before, [on]) ?? atoms.find((other) => other !== on && other !== before));
  if (!on || !before || !first) return [...atoms];
  return [...atoms, { name, element, at: place(first.at, before.at, on.at, bond, angle, torsion) }];
}

/** The atom under another name, moved away from the middle of what it is bonded to: the larger element's longer bonds. */
function replaced(atoms: readonly FoldAtom[], change: NonNullable<Change['replace']>): FoldAtom[] {
  return atoms.map((one) => {
    const to = change[one.name];
    if (to === undefined) return one;
    const bonded = atoms.filter((other) => other !== one && distance(other.at, one.at) < BONDED);
    const middle = centreOf(bonded);
    return { name: to.name, element: to.element, at: add(middle, scale(sub(one.at, middle), to.stretch)) };
  });
}

/** The token as the component of that code. */
export function modify(token: Token, code: string): Token {
  const change = CHANGES[code.toUpperCase()];
  const renamed = { ...token, name: code.toUpperCase(), hetero: true };
  if (change === undefined || change.parent !== token.name) return renamed;
  const atoms = (change.add ?? []).reduce(
    withAdded,
    change.replace ? replaced(token.atoms, change.replace) : token.atoms,
  );
  return { ...renamed, atoms };
}
