/**
 * Modified residues and nucleotides: the atoms that a common modification adds to its parent or
 * puts in another's place, by component code. A code that is not in the table, or that stands on
 * another parent, keeps the atoms that are there under the given name. Knows one residue.
 */
import { add, distance, place, scale, sub, type Vec } from '../structure/vector.ts';
import { arranged } from './components.ts';
import { computeCentre, type FoldAtom, type Token } from './model.ts';

/** The group on an oxygen: its atom, and three oxygens staggered about the bond. */
const onOxygen = (
  atom: string,
  names: readonly [string, string, string],
  bond: number,
  from: readonly [string, string, string],
): string => {
  const [, before, oxygen] = from;
  const turns = [60, 180, -60].map(
    (turn, k) => `${names[k]} ${before} ${oxygen} ${atom} ${bond} 108 ${turn}`,
  );
  return [`${atom} ${from.join(' ')} 1.61 119.5 140`, ...turns].join(';');
};
const phosphate = (...from: [string, string, string]): string =>
  onOxygen('P', ['O1P', 'O2P', 'O3P'], 1.51, from);
const methylOnO2 = (name: string): string => `${name} C1' C2' O2' 1.42 115 100`;
const onLysine = (name: string, bond: number, angle: number, turn: number): string =>
  `${name} CD CE NZ ${bond} ${angle} ${turn}`;
const onCysteine = (name: string, bond: number, angle: number, turn: number): string =>
  `${name} CA CB SG ${bond} ${angle} ${turn}`;

// Parent, then rows: an atom, the three atoms that it is placed from, bond (to the third), angle,
// torsion. The row `OLD>NEW stretch` puts a heavier element in an atom's place, its bonds that much
// longer.
const TABLE: Readonly<Record<string, readonly [parent: string, rows: string]>> = {
  SEP: ['SER', phosphate('CA', 'CB', 'OG')],
  TPO: ['THR', phosphate('CA', 'CB', 'OG1')],
  PTR: ['TYR', phosphate('CE1', 'CZ', 'OH')],
  TYS: ['TYR', onOxygen('S', ['O1', 'O2', 'O3'], 1.45, ['CE1', 'CZ', 'OH'])],
  MSE: ['MET', 'SD>SE 1.19'],
  SEC: ['CYS', 'SG>SE 1.08'],
  HYP: ['PRO', 'OD1 CA CB CG 1.42 110 85'],
  MLZ: ['LYS', onLysine('CM', 1.47, 112, 180)],
  MLY: ['LYS', `${onLysine('CH1', 1.48, 110, 180)};${onLysine('CH2', 1.48, 110, 60)}`],
  M3L: [
    'LYS',
    `${onLysine('CM1', 1.48, 109.5, 180)};${onLysine('CM2', 1.48, 109.5, 60)};${onLysine('CM3', 1.48, 109.5, -60)}`,
  ],
  ALY: ['LYS', `${onLysine('CH', 1.33, 122, 180)};OH CE NZ CH 1.23 122 0;CH3 CE NZ CH 1.51 116 180`],
  KCX: ['LYS', `${onLysine('CX', 1.34, 122, 180)};OQ1 CE NZ CX 1.25 118 0;OQ2 CE NZ CX 1.25 118 180`],
  CSO: ['CYS', onCysteine('OD', 1.66, 105, 180)],
  CSD: ['CYS', `${onCysteine('OD1', 1.5, 107, 60)};${onCysteine('OD2', 1.5, 107, 180)}`],
  OCS: [
    'CYS',
    `${onCysteine('OD1', 1.45, 108, 60)};${onCysteine('OD2', 1.45, 108, 180)};${onCysteine('OD3', 1.45, 108, -60)}`,
  ],
  CME: [
    'CYS',
    `${onCysteine('SD', 2.05, 104, 90)};CE CB SG SD 1.81 104 85;CZ SG SD CE 1.52 112 180;OH SD CE CZ 1.42 109 180`,
  ],
  OMC: ['C', methylOnO2('CM2')],
  OMG: ['G', methylOnO2('CM2')],
  OMU: ['U', methylOnO2('CM2')],
  A2M: ['A', methylOnO2("CM'")],
  '5MC': ['C', 'CM5 N1 C6 C5 1.5 121 180'],
  '5MU': ['U', 'C5M N1 C6 C5 1.5 121 180'],
  '5CM': ['DC', 'C5A N1 C6 C5 1.5 121 180'],
  '6MZ': ['A', 'C9 C5 C6 N6 1.45 123 180'],
  '1MA': ['A', 'CM1 N3 C2 N1 1.47 118 180'],
  '2MG': ['G', 'CM2 N1 C2 N2 1.45 123 180'],
  '7MG': ['G', 'CM7 C4 C5 N7 1.46 126 180'],
};

/** Two atoms nearer than this are bonded. */
const BONDED = 2.0;

/** Another element in the atom's place, moved away from the middle of what it is bonded to. */
function replaced(atoms: readonly FoldAtom[], old: string, name: string, stretch: number): FoldAtom[] {
  return atoms.map((one) => {
    if (one.name !== old) return one;
    const middle = computeCentre(
      atoms.filter((other) => other !== one && distance(other.at, one.at) < BONDED),
    );
    return { name, element: name, at: add(middle, scale(sub(one.at, middle), stretch)) };
  });
}

function added(atoms: readonly FoldAtom[], row: readonly string[]): FoldAtom[] {
  const [name = '', ...rest] = row;
  const at = (k: number): Vec | undefined => atoms.find((atom) => atom.name === rest[k])?.at;
  const [a, b, c] = [at(0), at(1), at(2)];
  if (!a || !b || !c) return [...atoms];
  const [bond = 0, angle = 0, torsion = 0] = rest.slice(3).map(Number);
  return [...atoms, { name, element: name.charAt(0), at: place(a, b, c, bond, angle, torsion) }];
}

/** The token as the component of that code. */
export function modify(token: Token, code: string): Token {
  const name = code.toUpperCase();
  const [parent, rows = ''] = TABLE[name] ?? [];
  const renamed = { ...token, name, hetero: true };
  if (parent !== token.name) return renamed;
  const atoms = rows.split(';').reduce<FoldAtom[]>((list, text) => {
    const row = text.split(' ');
    const [old = '', heavier] = (row[0] ?? '').split('>');
    return heavier === undefined ? added(list, row) : replaced(list, old, heavier, Number(row[1]));
  }, token.atoms);
  return { ...renamed, atoms: [...arranged(name, atoms, false)] };
}

/** Every code that the table holds, with the residue or nucleotide it modifies. */
export const modificationParents = (): [code: string, parent: string][] =>
  Object.entries(TABLE).map(([code, [parent]]) => [code, parent]);
