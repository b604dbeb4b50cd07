/**
 * Common chemical components: SMILES, with the component dictionary's atom names in SMILES order.
 * Data only; haem has a file of its own, and a component that is not here is sent as SMILES
 * instead.
 */
import { COMPONENT_ATOMS } from './component-atoms.ts';

export interface Component {
  smiles: string;
  /** One name per heavy atom, in the order of the SMILES. */
  names: readonly string[];
}

type Row = readonly [code: string, smiles: string, names: string];

const IONS =
  'MG+2 ZN+2 CA+2 NA+1 CL-1 K+1 FE+3 FE2:FE+2 MN+2 CU+2 CU1:CU+1 NI+2 CO+2 CD+2 HG+2 LI+1 SR+2 BA+2 IOD:I-1 BR-1';

const ions: Row[] = IONS.split(' ').map((text) => {
  const [code = '', rest = ''] = text.includes(':') ? text.split(':') : [text.slice(0, -2), text];
  const element = rest.slice(0, -2);
  const symbol = element.charAt(0) + element.slice(1).toLowerCase();
  return [code, `[${symbol}${rest.slice(-2)}]`, element];
});

// Ribose seen from its base (names with ′) and the tails that the nucleotides hang on C5′.
const ribose = (tail: string): string => `[C@H]3[C@@H]([C@@H]([C@H](O3)C${tail})O)O`;
const RIBOSE = (tail: string): string => `C1' C2' C3' C4' O4' C5' ${tail} O3' O2'`;
const MONO = ['OP(=O)(O)O', "O5' P O1P O2P O3P"] as const;
const DI = ['OP(=O)(O)OP(=O)(O)O', "O5' PA O1A O2A O3A PB O1B O2B O3B"] as const;
const TRI = [`OP(=O)(O)${DI[0]}`, "O5' PA O1A O2A O3A PB O1B O2B O3B PG O1G O2G O3G"] as const;
const adenosine = ([tail, names]: readonly [string, string]): [string, string] => [
  `c1nc(c2c(n1)n(cn2)${ribose(tail)})N`,
  `C2 N1 C6 C5 C4 N3 N9 C8 N7 ${RIBOSE(names)} N6`,
];
const guanosine = ([tail, names]: readonly [string, string]): [string, string] => [
  `c1nc2c(n1${ribose(tail)})N=C(NC2=O)N`,
  `C8 N7 C5 C4 N9 ${RIBOSE(names)} N3 C2 N1 C6 O6 N2`,
];
const uridine = ([tail, names]: readonly [string, string]): [string, string] => [
  `C1=CN(C(=O)NC1=O)${ribose(tail)}`,
  `C5 C6 N1 C2 O2 N3 C4 O4 ${RIBOSE(names)}`,
];
const cytidine = ([tail, names]: readonly [string, string]): [string, string] => [
  `C1=CN(C(=O)N=C1N)${ribose(tail)}`,
  `C5 C6 N1 C2 O2 N3 C4 N4 ${RIBOSE(names)}`,
];

// Adenosine entered from the far side, as dinucleotides have it: C5 to the base, names with B and
// A.
const AMP_END = 'C[C@@H]4[C@H]([C@H]([C@@H](O4)n5cnc6c5ncnc6N)O)O';
const AMP_NAMES = 'C5B C4B C3B C2B C1B O4B N9A C8A N7A C5A C4A N3A C2A N1A C6A N6A O2B O3B';
const FLAVIN = 'Cc1cc2c(cc1C)N(C3=NC(=O)NC(=O)C3=N2)C[C@@H]([C@@H]([C@@H](C';
const nicotinamide = (last: string): string =>
  `c1nc(c2c(n1)n(cn2)[C@H]3[C@@H]([C@@H]([C@H](O3)COP(=O)(O)OP(=O)(O)OC[C@@H]4[C@H]([C@H]([C@@H](O4)[n+]5cccc(c5)C(=O)N)O)O)O)${last})N`;
const NICOTINAMIDE =
  'C2A N1A C6A C5A C4A N3A N9A C8A N7A C1B C2B C3B C4B O4B C5B O5B PA O1A O2A O3 PN O1N O2N O5D C5D C4D C3D C2D C1D O4D N1N C6N C5N C4N C3N C2N C7N O7N N7N O2D O3D O3B';
const SUGAR = 'C6 C5 C4 C3 C2 C1 O5 O1 O2 O3 O4 O6';
const ADENOSYL = 'C[C@@H]1[C@H]([C@H]([C@@H](O1)n2cnc3c2ncnc3N)O)O';
const ADENOSYL_NAMES = "C5' C4' C3' C2' C1' O4' N9 C8 N7 C5 C4 N3 C2 N1 C6 N6 O2' O3'";

const TABLE: readonly Row[] = [
  ...ions,
  ['HOH', 'O', 'O'],
  ['NH4', '[NH4+]', 'N'],
  ['OXY', 'O=O', 'O1 O2'],
  ['CMO', '[C-]#[O+]', 'C O'],
  ['NO3', '[N+](=O)([O-])[O-]', 'N O1 O2 O3'],
  ['SO4', 'S(=O)(=O)([O-])[O-]', 'S O1 O2 O3 O4'],
  ['PO4', 'P(=O)([O-])([O-])[O-]', 'P O1 O2 O3 O4'],
  ['ACT', 'CC(=O)[O-]', 'CH3 C O OXT'],
  ['FMT', 'C(=O)O', 'C O1 O2'],
  ['URE', 'C(=O)(N)N', 'C O N1 N2'],
  ['DMS', 'CS(=O)C', 'C1 S O C2'],
  ['BME', 'C(CS)O', 'C1 C2 S2 O1'],
  ['EDO', 'C(CO)O', 'C1 C2 O2 O1'],
  ['GOL', 'C(C(CO)O)O', 'C1 C2 C3 O3 O2 O1'],
  ['PEG', 'C(COCCO)O', 'C1 C2 O2 C3 C4 O4 O1'],
  ['MPD', 'C[C@@H](CC(C)(C)O)O', 'C5 C4 C3 C2 C1 CM O2 O4'],
  ['TRS', 'C(C(CO)(CO)[NH3+])O', 'C1 C C2 O2 C3 O3 N O1'],
  ['CIT', 'C(C(=O)O)C(CC(=O)O)(C(=O)O)O', 'C2 C1 O1 O2 C3 C4 C5 O3 O4 C6 O5 O6 O7'],
  ['IMD', 'c1c[nH]c[nH+]1', 'C4 C5 N1 C2 N3'],
  ['AMP', ...adenosine(MONO)],
  ['ADP', ...adenosine(DI)],
  ['ATP', ...adenosine(TRI)],
  ['GDP', ...guanosine(DI)],
  ['GTP', ...guanosine(TRI)],
  ['UDP', ...uridine(DI)],
  ['UTP', ...uridine(TRI)],
  ['CTP', ...cytidine(TRI)],
  ['NAD', nicotinamide('O'), `${NICOTINAMIDE} O2B N6A`],
  ['NAP', nicotinamide('OP(=O)(O)O'), `${NICOTINAMIDE} O2B P2B O1X O2X O3X N6A`],
  [
    'FAD',
    `${FLAVIN}OP(=O)(O)OP(=O)(O)O${AMP_END})O)O)O`,
    `C7M C7 C6 C5X C9A C9 C8 C8M N10 C10 N1 C2 O2 N3 C4 O4 C4X N5 C1' C2' C3' C4' C5' O5' P O1P O2P O3P PA O1A O2A O5B ${AMP_NAMES} O4' O3' O2'`,
  ],
  [
    'FMN',
    `${FLAVIN}OP(=O)(O)O)O)O)O`,
    "C7M C7 C6 C5A C9A C9 C8 C8M N10 C10 N1 C2 O2 N3 C4 O4 C4A N5 C1' C2' C3' C4' C5' O5' P O1P O2P O3P O4' O3' O2'",
  ],
  ['SAM', `C[S+](CC[C@@H](C(=O)[O-])N)${ADENOSYL}`, `CE SD CG CB CA C O OXT N ${ADENOSYL_NAMES}`],
  ['SAH', `N[C@@H](CCS${ADENOSYL})C(=O)O`, `N CA CB CG SD ${ADENOSYL_NAMES} C O OXT`],
  [
    'COA',
    'CC(C)(COP(=O)(O)OP(=O)(O)OC[C@@H]1[C@H]([C@H]([C@@H](O1)n2cnc3c2ncnc3N)O)OP(=O)(O)O)[C@H](C(=O)NCCC(=O)NCCS)O',
    'CDP CBP CEP CCP O6A P2A O4A O5A O3A P1A O1A O2A O5B C5B C4B C3B C2B C1B O4B N9A C8A N7A C5A C4A N3A C2A N1A C6A N6A O2B O3B P3B O7A O8A O9A CAP C9P O9P N8P C7P C6P C5P O5P N4P C3P C2P S1P OAP',
  ],
  ['PLP', 'CC1=NC=C(C(=C1O)C=O)COP(=O)(O)O', 'C2A C2 N1 C6 C5 C4 C3 O3 C4A O4A C5A O4P P O1P O2P O3P'],
  [
    'TPP',
    'Cc1c(sc[n+]1Cc2cnc(nc2N)C)CCOP(=O)(O)OP(=O)(O)O',
    "CM4 C4 C5 S1 C2 N3 C7' C5' C6' N1' C2' N3' C4' N4' CM2 C6 C7 O7 PA O1A O2A O3A PB O1B O2B O3B",
  ],
  [
    'BTN',
    'C1[C@H]2[C@@H]([C@@H](S1)CCCCC(=O)O)NC(=O)N2',
    'C6 C5 C4 C2 S1 C7 C8 C9 C10 C11 O11 O12 N2 C3 O3 N1',
  ],
  [
    'GSH',
    'C(CC(=O)N[C@@H](CS)C(=O)NCC(=O)O)[C@@H](C(=O)O)N',
    'CB1 CG1 CD1 OE1 N2 CA2 CB2 SG2 C2 O2 N3 CA3 C3 O31 O32 CA1 C1 O11 O12 N1',
  ],
  ['NAG', 'CC(=O)N[C@@H]1[C@H]([C@@H]([C@H](O[C@H]1O)CO)O)O', 'C8 C7 O7 N2 C2 C3 C4 C5 O5 C1 O1 C6 O6 O4 O3'],
  [
    'NDG',
    'CC(=O)N[C@@H]1[C@H]([C@@H]([C@H](O[C@@H]1O)CO)O)O',
    'C8 C7 O7 N2 C2 C3 C4 C5 O5 C1 O1 C6 O6 O4 O3',
  ],
  ['GLC', 'C([C@@H]1[C@H]([C@@H]([C@H]([C@H](O1)O)O)O)O)O', SUGAR],
  ['BGC', 'C([C@@H]1[C@H]([C@@H]([C@H]([C@@H](O1)O)O)O)O)O', SUGAR],
  ['MAN', 'C([C@@H]1[C@H]([C@@H]([C@@H]([C@H](O1)O)O)O)O)O', SUGAR],
  ['BMA', 'C([C@@H]1[C@H]([C@@H]([C@@H]([C@@H](O1)O)O)O)O)O', SUGAR],
  ['GAL', 'C([C@@H]1[C@@H]([C@@H]([C@H]([C@@H](O1)O)O)O)O)O', SUGAR],
  ['GLA', 'C([C@@H]1[C@@H]([C@@H]([C@H]([C@H](O1)O)O)O)O)O', SUGAR],
  ['FUC', 'C[C@H]1[C@H]([C@H]([C@@H]([C@@H](O1)O)O)O)O', 'C6 C5 C4 C3 C2 C1 O5 O1 O2 O3 O4'],
  ['XYS', 'C1[C@H]([C@@H]([C@H]([C@H](O1)O)O)O)O', 'C5 C4 C3 C2 C1 O5 O1 O2 O3 O4'],
  [
    'SIA',
    'CC(=O)N[C@@H]1[C@H](C[C@@](O[C@H]1[C@@H]([C@@H](CO)O)O)(C(=O)O)O)O',
    'C11 C10 O10 N5 C5 C4 C3 C2 O6 C6 C7 C8 C9 O9 O8 O7 C1 O1A O1B O2 O4',
  ],
  [
    'CLR',
    'C[C@H](CCCC(C)C)[C@H]1CC[C@@H]2[C@@]1(CC[C@H]3[C@H]2CC=C4[C@@]3(CC[C@@H](C4)O)C)C',
    'C21 C20 C22 C23 C24 C25 C26 C27 C17 C16 C15 C14 C13 C12 C11 C9 C8 C7 C6 C5 C10 C1 C2 C3 C4 O1 C19 C18',
  ],
  [
    'OLA',
    'CCCCCCCC/C=C\\CCCCCCCC(=O)O',
    'C18 C17 C16 C15 C14 C13 C12 C11 C10 C9 C8 C7 C6 C5 C4 C3 C2 C1 O1 O2',
  ],
  ['PLM', 'CCCCCCCCCCCCCCCC(=O)O', 'CG CF CE CD CC CB CA C9 C8 C7 C6 C5 C4 C3 C2 C1 O1 O2'],
];

/**
 * By component: its atoms in the order of its entry, as `place`; those that leave when it is
 * bonded.
 */
const ENTRIES = new Map(
  COMPONENT_ATOMS.trim()
    .split('\n')
    .map((line) => {
      const [code = '', ...atoms] = line.replace('+', '').split(' ');
      const names = atoms.map((atom) => atom.replace(/[:=*].*/, ''));
      const places = new Map(names.map((name, place) => [name, place]));
      return [code, { places, leaving: names.filter((_, k) => atoms[k]?.endsWith('*')) }] as const;
    }),
);

/**
 * Atoms in the order of their component's entry, and without what leaves a bonded one; others come
 * last.
 */
export function arranged<T extends { readonly name: string }>(
  code: string,
  atoms: readonly T[],
  isBonded: boolean,
): readonly T[] {
  const entry = ENTRIES.get(code);
  if (entry === undefined) return atoms;
  const place = ({ name }: T): number => entry.places.get(name) ?? entry.places.size;
  const staying = isBonded ? atoms.filter(({ name }) => !entry.leaving.includes(name)) : atoms;
  return staying.toSorted((one, other) => place(one) - place(other));
}

const BY_CODE = new Map<string, Component>(
  TABLE.map(([code, smiles, names]) => [code, { smiles, names: names.split(' ') }]),
);

/** The component of a dictionary code, in any case of letters. */
export const component = (code: string): Component | undefined => BY_CODE.get(code.toUpperCase());

/** Every code that the table holds. */
export const componentCodes = (): string[] => [...BY_CODE.keys()];
