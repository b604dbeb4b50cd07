/**
 * The 20 residues as internal coordinates: heavy side-chain atoms with Engh and Huber (1991, 2001)
 * bond lengths and angles, and the rotamers to try.
 */
import { type Bond, toBond } from './vector.ts';

/**
 * One atom from three earlier ones: torsion a–b–c–name is `chi[chi] + torsion` or plain `torsion`
 * when chi is 0.
 */
export interface ZAtom {
  name: string;
  element: string;
  /**
   * Numbers of the three atoms within the residue: N, CA, C and O are 0 to 3, then come the side
   * chain's.
   */
  from: readonly [a: number, b: number, c: number];
  bond: Bond;
  chi: number;
  torsion: number;
}

/** The atoms of every backbone, which come first in a residue. */
export const BACKBONE = ['N', 'CA', 'C', 'O'] as const;

export interface AminoAcid {
  letter: string;
  name: string;
  atoms: readonly ZAtom[];
  /** chi1, chi2, … in degrees, the commonest first. */
  rotamers: readonly (readonly number[])[];
}

// Columns: atom, the three atoms it is placed from, bond, angle, torsion (xN+d: chi N plus d). CB
// comes first and is placed by `C N CA`; the torsion of about −123° is what makes the residue L.
const CB = (bond: number, angle: number, torsion: number) => `CB C N CA ${bond} ${angle} ${torsion}`;
const USUAL = CB(1.53, 110.5, -122.6);
const BRANCHED = CB(1.54, 111.5, -123.4);

const TABLE: readonly (readonly [string, string, string, string])[] = [
  ['A', 'ALA', CB(1.521, 110.4, -122.6), ''],
  [
    'R',
    'ARG',
    `${USUAL};CG N CA CB 1.52 114.1 x1;CD CA CB CG 1.52 111.3 x2;NE CB CG CD 1.461 112 x3;
    CZ CG CD NE 1.329 124.2 x4;NH1 CD NE CZ 1.326 120 0;NH2 CD NE CZ 1.326 119.7 180`,
    '-67 180 180 180;-177 180 180 180;62 180 180 180;-67 180 -65 -85;-67 -70 180 180;-177 65 180 180',
  ],
  [
    'N',
    'ASN',
    `${USUAL};CG N CA CB 1.516 112.6 x1;OD1 CA CB CG 1.231 120.8 x2;ND2 CA CB CG 1.328 116.4 x2+180`,
    '-65 -20;-177 30;62 -10;-65 120',
  ],
  [
    'D',
    'ASP',
    `${USUAL};CG N CA CB 1.516 112.6 x1;OD1 CA CB CG 1.249 118.4 x2;OD2 CA CB CG 1.249 118.4 x2+180`,
    '-70 -15;-177 0;62 -10',
  ],
  ['C', 'CYS', `${USUAL};SG N CA CB 1.808 114.4 x1`, '-65;-177;62'],
  [
    'Q',
    'GLN',
    `${USUAL};CG N CA CB 1.52 114.1 x1;CD CA CB CG 1.516 112.6 x2;OE1 CB CG CD 1.231 120.8 x3;NE2 CB CG CD 1.328 116.4 x3+180`,
    '-67 180 20;-177 180 0;62 180 20;-65 -65 -40;-177 65 -100',
  ],
  [
    'E',
    'GLU',
    `${USUAL};CG N CA CB 1.52 114.1 x1;CD CA CB CG 1.516 112.6 x2;OE1 CB CG CD 1.249 118.4 x3;OE2 CB CG CD 1.249 118.4 x3+180`,
    '-67 180 -10;-177 180 0;62 180 20;-65 -65 -40;-177 65 10',
  ],
  ['G', 'GLY', '', ''],
  [
    'H',
    'HIS',
    `${USUAL};CG N CA CB 1.497 113.8 x1;ND1 CA CB CG 1.378 122.7 x2;CD2 CA CB CG 1.354 131.05 x2+180;
    CE1 CB CG ND1 1.323 109.2 180;NE2 CB CG CD2 1.373 107.2 180`,
    '-65 -70;-177 60;62 -75;-65 165;-177 -165;62 80',
  ],
  [
    'I',
    'ILE',
    `${BRANCHED};CG1 N CA CB 1.53 110.4 x1;CG2 N CA CB 1.521 110.5 x1-123.2;CD1 CA CB CG1 1.513 113.8 x2`,
    '-65 170;-57 -60;62 170;-177 165;-177 66',
  ],
  [
    'L',
    'LEU',
    `${USUAL};CG N CA CB 1.53 116.3 x1;CD1 CA CB CG 1.521 110.7 x2;CD2 CA CB CG 1.521 110.7 x2+122.8`,
    '-65 175;-177 65;-85 65;62 80',
  ],
  [
    'K',
    'LYS',
    `${USUAL};CG N CA CB 1.52 114.1 x1;CD CA CB CG 1.52 111.3 x2;CE CB CG CD 1.52 111.3 x3;NZ CG CD CE 1.489 111.9 x4`,
    '-67 180 180 180;-177 180 180 180;62 180 180 180;-67 180 180 -65;-67 -70 180 180;-177 68 180 180',
  ],
  [
    'M',
    'MET',
    `${USUAL};CG N CA CB 1.52 114.1 x1;SD CA CB CG 1.803 112.7 x2;CE CB CG SD 1.791 100.9 x3`,
    '-67 180 75;-65 -65 -70;-177 65 75;-67 180 -75;62 180 75',
  ],
  [
    'F',
    'PHE',
    `${USUAL};CG N CA CB 1.502 113.8 x1;CD1 CA CB CG 1.384 120.7 x2;CD2 CA CB CG 1.384 120.7 x2+180;
    CE1 CB CG CD1 1.382 120.7 180;CE2 CB CG CD2 1.382 120.7 180;CZ CG CD1 CE1 1.382 120 0`,
    '-65 -85;-177 80;62 90;-65 -30',
  ],
  // The ring closes on N: CD ends 1.47 Å from it with this pucker (Cγ-endo), which also fixes phi
  // near −65°.
  ['P', 'PRO', `${CB(1.53, 103, -120)};CG N CA CB 1.492 104.5 x1;CD CA CB CG 1.503 106.1 x2`, '27 -37'],
  ['S', 'SER', `${USUAL};OG N CA CB 1.417 111.1 x1`, '62;-65;-177'],
  ['T', 'THR', `${BRANCHED};OG1 N CA CB 1.433 109.6 x1;CG2 N CA CB 1.521 110.7 x1-120.3`, '62;-65;-177'],
  [
    'W',
    'TRP',
    `${USUAL};CG N CA CB 1.498 113.6 x1;CD1 CA CB CG 1.365 126.9 x2;CD2 CA CB CG 1.433 126.7 x2+180;
    NE1 CB CG CD1 1.374 110.2 180;CE2 CB CG CD2 1.409 107.2 180;CE3 CB CG CD2 1.398 133.9 0;
    CZ2 CG CD2 CE2 1.394 122.4 180;CZ3 CG CD2 CE3 1.382 118.6 180;CH2 CD2 CE2 CZ2 1.368 117.5 0`,
    '-65 95;-177 -105;62 -90;-65 -5;-177 90;62 90',
  ],
  [
    'Y',
    'TYR',
    `${USUAL};CG N CA CB 1.512 113.9 x1;CD1 CA CB CG 1.389 120.95 x2;CD2 CA CB CG 1.389 120.95 x2+180;
    CE1 CB CG CD1 1.382 121.2 180;CE2 CB CG CD2 1.382 121.2 180;CZ CG CD1 CE1 1.378 119.6 0;OH CD1 CE1 CZ 1.376 119.85 180`,
    '-65 -85;-177 80;62 90;-65 -30',
  ],
  ['V', 'VAL', `${BRANCHED};CG1 N CA CB 1.521 110.5 x1;CG2 N CA CB 1.521 110.5 x1+122.8`, '175;-60;63'],
  // Letters that name no single residue (X, B, Z, J, O, U and whatever comes) keep a backbone with
  // C-beta.
  ['X', 'UNK', USUAL, ''],
];

/** The side chain's atoms from their rows. */
function zAtoms(text: string): ZAtom[] {
  const names: string[] = [...BACKBONE];
  return rows(text).map((row) => {
    const [name = '', a = '', b = '', c = '', bond, angle, torsion = '0'] = row.trim().split(/\s+/);
    const chi = /^x(\d)(.*)$/.exec(torsion);
    const number = (other: string): number => {
      const found = names.indexOf(other);
      if (found < 0) throw new Error(`${name} is placed from ${other}, which is not placed before it`);
      return found;
    };
    const from = [number(a), number(b), number(c)] as const;
    names.push(name);
    return {
      name,
      element: name.charAt(0),
      from,
      bond: toBond(Number(bond), Number(angle)),
      chi: chi ? Number(chi[1]) : 0,
      torsion: chi ? Number(chi[2] || '0') : Number(torsion),
    };
  });
}

const rows = (text: string): string[] => text.split(';').filter((row) => row.trim() !== '');

const BY_LETTER = new Map<string, AminoAcid>(
  TABLE.map(([letter, name, atoms, rotamers]) => [
    letter,
    {
      letter,
      name,
      atoms: zAtoms(atoms),
      rotamers: rotamers === '' ? [[]] : rows(rotamers).map((row) => row.trim().split(' ').map(Number)),
    },
  ]),
);

const UNKNOWN: AminoAcid = { letter: 'X', name: 'UNK', atoms: zAtoms(USUAL), rotamers: [[]] };

/** The residue of a one-letter code; letters without one residue give UNK. */
export const aminoAcid = (letter: string): AminoAcid => BY_LETTER.get(letter) ?? UNKNOWN;
