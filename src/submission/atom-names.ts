// Heavy atoms of residues in the order in which a covalent bond counts them. The service documents
// no order; this is that of the open pipeline behind its format: standard residues as the
// dictionary has them inside a chain, ligands by codes in the order of the dictionary without the
// atoms that leave when they are bonded, ligands by SMILES in the order of the text.
import { IONS } from '../structure/ions.ts';
import { listElements } from './smiles.ts';
import type { Chain, PolymerType } from './submission.ts';

/** Atoms of a residue, which a bond can name. */
export interface ResidueAtoms {
  /** Its component, such as "ASN"; null for a SMILES. */
  readonly component: string | null;
  /** Atom names by index; null where only the elements are known. */
  readonly names: readonly string[] | null;
  /** Elements by index. */
  readonly elements: readonly string[];
  /** Names of atoms that leave when the component is bonded, and have no index. */
  readonly leaving: readonly string[];
}

type Atoms = Pick<ResidueAtoms, 'names' | 'elements' | 'leaving'>;

const BACKBONE = 'N CA C O';
const SIDE_CHAINS =
  'A ALA CB|R ARG CB CG CD NE CZ NH1 NH2|N ASN CB CG OD1 ND2|D ASP CB CG OD1 OD2|C CYS CB SG|' +
  'Q GLN CB CG CD OE1 NE2|E GLU CB CG CD OE1 OE2|G GLY|H HIS CB CG ND1 CD2 CE1 NE2|I ILE CB CG1 CG2 CD1|' +
  'L LEU CB CG CD1 CD2|K LYS CB CG CD CE NZ|M MET CB CG SD CE|F PHE CB CG CD1 CD2 CE1 CE2 CZ|P PRO CB CG CD|' +
  'S SER CB OG|T THR CB OG1 CG2|W TRP CB CG CD1 CD2 NE1 CE2 CE3 CZ2 CZ3 CH2|' +
  'Y TYR CB CG CD1 CD2 CE1 CE2 CZ OH|V VAL CB CG1 CG2';
const RIBOSE = "P OP1 OP2 O5' C5' C4' O4' C3' O3' C2' O2' C1'";
const DEOXYRIBOSE = RIBOSE.replace("O2' ", '');
const BASES: Readonly<Record<string, string>> = {
  A: 'N9 C8 N7 C5 C6 N6 N1 C2 N3 C4',
  G: 'N9 C8 N7 C5 C6 O6 N1 C2 N2 N3 C4',
  C: 'N1 C2 O2 N3 C4 N4 C5 C6',
  U: 'N1 C2 O2 N3 C4 O4 C5 C6',
  T: 'N1 C2 O2 N3 C4 O4 C5 C7 C6',
};
/** The atom that only the last residue of a protein or the first nucleotide may have. */
const TERMINAL_ATOMS: Readonly<Record<PolymerType, string>> = { protein: 'OXT', rna: 'OP3', dna: 'OP3' };

/** Monosaccharides: atoms in the order of their entries; those that leave are marked. */
const HEXOSE = 'C1 C2 C3 C4 C5 C6 O1* O2 O3 O4 O5 O6';
const SACCHARIDES: Readonly<Record<string, string>> = {
  NAG: 'C1 C2 C3 C4 C5 C6 C7 C8 N2 O1* O3 O4 O5 O6 O7',
  NGA: 'C1 C2 C3 C4 C5 C6 C7 C8 N2 O1* O3 O4 O5 O6 O7',
  NDG: 'C1 C2 C3 C4 C5 C6 C7 C8 O5 O3 O4 O6 O7 N2 O1*',
  A2G: 'O5 C1 O1* C2 N2 C3 O3 C4 O4 C5 C6 O6 C7 O7 C8',
  ...{ MAN: HEXOSE, BMA: HEXOSE, GAL: HEXOSE, GLA: HEXOSE, GLC: HEXOSE },
  BGC: 'C2 C3 C4 C5 C6 C1 O1* O2 O3 O4 O5 O6',
  FUC: 'C1 C2 C3 C4 C5 C6 O1* O2 O3 O4 O5',
  FUL: 'C1 C2 O2 C3 O3 C4 O4 C5 C6 O5 O1*',
  XYS: 'C1 C2 C3 C4 C5 O1* O2 O3 O4 O5',
  XYP: 'O1* C1 C2 C3 C4 C5 O2 O3 O4 O5',
  SIA: 'C1 C2 C3 C4 C5 C6 C7 C8 C9 C10 C11 N5 O1A O1B O2* O4 O6 O7 O8 O9 O10',
};
function toAtoms(text: string, toElement = (name: string) => name.charAt(0)): Atoms {
  const all = text.split(' ');
  const names = all.filter((name) => !name.endsWith('*'));
  const leaving = all.filter((name) => name.endsWith('*')).map((name) => name.slice(0, -1));
  return { names, elements: names.map(toElement), leaving };
}

const AMINO_ACIDS = new Map(
  SIDE_CHAINS.split('|').map((row) => {
    const [letter = '', component = '', ...side] = row.split(' ');
    return [letter, { component, ...toAtoms([BACKBONE, ...side].join(' ')) }] as const;
  }),
);
const nucleotides = (letters: string, sugar: string, prefix: string) =>
  new Map(
    [...letters].map((letter) => [
      letter,
      { component: prefix + letter, ...toAtoms(`${sugar} ${BASES[letter]}`) },
    ]),
  );
const POLYMERS: Readonly<Record<PolymerType, ReadonlyMap<string, ResidueAtoms>>> = {
  protein: AMINO_ACIDS,
  rna: nucleotides('ACGU', RIBOSE, ''),
  dna: nucleotides('ACGT', DEOXYRIBOSE, 'D'),
};
const COMPONENTS = new Map<string, ResidueAtoms>([
  ...Object.entries(SACCHARIDES).map(
    ([component, text]) => [component, { component, ...toAtoms(text) }] as const,
  ),
  ...[...IONS].map(
    ([component, { atom, element }]) => [component, { component, ...toAtoms(atom, () => element) }] as const,
  ),
]);

function withTerminalAtom(residue: ResidueAtoms, type: PolymerType): ResidueAtoms {
  return {
    ...residue,
    names: [...(residue.names ?? []), TERMINAL_ATOMS[type]],
    elements: [...residue.elements, 'O'],
  };
}

/** Looks up atoms of residues; reads each chain once. */
export interface AtomReader {
  /**
   * @returns undefined for a residue that is modified, ambiguous, outside the chain or not known
   */
  read(chain: Chain, residue: number): ResidueAtoms | undefined;
}

export function createAtomReader(): AtomReader {
  const modified = new Map<Chain, ReadonlySet<number>>();
  const smiles = new Map<Chain, ResidueAtoms | undefined>();
  return {
    read(chain, residue) {
      if (chain.type === 'ligand') {
        if (chain.ccd?.length) return COMPONENTS.get(chain.ccd[residue] ?? '');
        if (chain.smiles === null || residue !== 0) return undefined;
        if (!smiles.has(chain)) {
          const elements = listElements(chain.smiles);
          smiles.set(chain, elements && { component: null, names: null, elements, leaving: [] });
        }
        return smiles.get(chain);
      }
      const { type, sequence, modifications } = chain;
      if (!modified.has(chain)) modified.set(chain, new Set(modifications.map(({ position }) => position)));
      if (modified.get(chain)?.has(residue)) return undefined;
      const standard = POLYMERS[type].get(sequence.charAt(residue));
      const isTerminal = residue === (type === 'protein' ? sequence.length - 1 : 0);
      return standard && isTerminal ? withTerminalAtom(standard, type) : standard;
    },
  };
}
