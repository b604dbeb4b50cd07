// Elements of atoms: covalent radii, and the element of an atom whose result states none.
import { findResidue } from './residues.ts';

/** Covalent radii in ångström (Cordero 2008, doi:10.1039/b801115j), by element in upper case. */
const RADII: ReadonlyMap<string, number> = new Map(
  (
    'H:0.31 LI:1.28 BE:0.96 B:0.84 C:0.76 N:0.71 O:0.66 F:0.57 NA:1.66 MG:1.41 AL:1.21 SI:1.11 P:1.07 ' +
    'S:1.05 CL:1.02 K:2.03 CA:1.76 SC:1.7 TI:1.6 V:1.53 CR:1.39 MN:1.39 FE:1.32 CO:1.26 NI:1.24 CU:1.32 ' +
    'ZN:1.22 GA:1.22 GE:1.2 AS:1.19 SE:1.2 BR:1.2 RB:2.2 SR:1.95 Y:1.9 ZR:1.75 MO:1.54 RU:1.46 RH:1.42 ' +
    'PD:1.39 AG:1.45 CD:1.44 IN:1.42 SN:1.39 SB:1.39 TE:1.38 I:1.39 CS:2.44 BA:2.15 LA:2.07 CE:2.04 ' +
    'SM:1.98 EU:1.98 GD:1.96 TB:1.94 YB:1.87 LU:1.87 W:1.62 RE:1.51 OS:1.44 IR:1.41 PT:1.36 AU:1.36 ' +
    'HG:1.32 TL:1.45 PB:1.46 BI:1.48 U:1.96'
  )
    .split(' ')
    .map((pair): [string, number] => {
      const [symbol = '', radius] = pair.split(':');
      return [symbol, Number(radius)];
    }),
);

/** The radius for an element without an entry: that of a heavy metal. */
const OTHER_RADIUS = 1.5;

/** @param element - in upper case */
export const covalentRadius = (element: string): number =>
  RADII.get(element === 'D' ? 'H' : element) ?? OTHER_RADIUS;

const NONMETALS: ReadonlySet<string> = new Set(
  'H D HE B C N O F NE SI P S CL AR GE AS SE BR KR TE I XE AT RN X'.split(' '),
);

/** @param element - in upper case; X is none */
export const isMetal = (element: string): boolean => !NONMETALS.has(element);

const METAL_OR_HEAVY = /^(?:CL|BR|FE|SE|SI)/;

/**
 * The element of an atom by its name, in upper case; X where the name says none. Two letters are
 * read as one element where the first is none (MG, ZN), in the usual ones of ligands (CL, BR, FE,
 * SE, SI), and for the only atom of a component: CA is calcium there and an alpha carbon elsewhere.
 *
 * @param about.component - name of its component
 * @param about.isAlone - whether it is the only atom of the component
 */
export function guessElement(
  name: string,
  about: { readonly component: string; readonly isAlone: boolean },
): string {
  const letters = /[A-Z]{1,2}/.exec(name.toUpperCase())?.[0] ?? '';
  const first = letters.charAt(0);
  const isResidue = findResidue(about.component)?.standard === true;
  const isPair =
    RADII.has(letters) && !isResidue && (about.isAlone || METAL_OR_HEAVY.test(letters) || !RADII.has(first));
  if (isPair) return letters;
  return RADII.has(first) ? first : 'X';
}
