// Heavy atoms of residues in the order in which a covalent bond counts them. The service documents
// no order; this is that of the open pipeline behind its format: standard residues as the
// dictionary has them inside a chain, modified residues and ligands by codes in the order of the
// dictionary without the atoms that leave when they are bonded, ligands by SMILES in the order of
// the text.
import { IONS } from '../structure/ions.ts';
import type { Chain, PolymerType } from './chain.ts';
import { COMPONENT_ATOMS } from './component-atoms.ts';
import { listElements } from './smiles.ts';

/** Atoms of a residue, which a bond can name. */
export interface ResidueAtoms {
  /** Its component, such as "ASN"; null for a SMILES. */
  readonly component: string | null;
  /** Atom names by index; null where only the elements are known. */
  readonly names: readonly string[] | null;
  readonly isSugar: boolean;
  /** Elements by index. */
  readonly elements: readonly string[];
  /** Names of atoms that leave when the component is bonded, and have no index. */
  readonly leaving: readonly string[];
  /** Today's name of an atom by its name in files from before 2008. */
  readonly formerNames: ReadonlyMap<string, string>;
}

const PHOSPHATE = ['OP1', 'OP2', 'OP3'];
/** The atom that only the last residue of a protein or the first nucleotide may have. */
const TERMINAL_ATOMS: Readonly<Record<PolymerType, string>> = { protein: 'OXT', rna: 'OP3', dna: 'OP3' };

/** An atom of a line, such as `CL1:CL`, `C1=CA` or `OXT*`; component-atoms.ts explains the form. */
const ATOM = /^(?<name>[^:=*]+)(?::(?<element>[^=*]+))?(?:=(?<former>[^*]+))?(?<leaving>\*)?$/;

function readAtom(field: string) {
  const { name = '', element = name.charAt(0), former, leaving } = ATOM.exec(field)?.groups ?? {};
  const symbol = element.charAt(0) + element.slice(1).toLowerCase();
  return { name, element: symbol, former, isLeaving: leaving !== undefined };
}

/** Reads the line of a component, which begins with its code. */
function readComponent(line: string): [string, ResidueAtoms] {
  const [code = '', ...fields] = line.split(' ');
  const component = code.replace('+', '');
  const atoms = fields.map(readAtom);
  const names = atoms.map(({ name }) => name);
  // OP1 of nucleotides was O1P.
  const phosphates = PHOSPHATE.filter((name) => names.includes(name)).map(
    (name) => [`O${name.charAt(2)}P`, name] as const,
  );
  const formerNames = atoms.flatMap(({ name, former }) =>
    former === undefined ? [] : [[former, name] as const],
  );
  const staying = atoms.filter(({ isLeaving }) => !isLeaving);
  const residue = {
    component,
    names: staying.map(({ name }) => name),
    elements: staying.map(({ element }) => element),
    isSugar: code.endsWith('+'),
    leaving: atoms.flatMap(({ name, isLeaving }) => (isLeaving ? [name] : [])),
    formerNames: new Map([...phosphates, ...formerNames].filter(([former]) => !names.includes(former))),
  };
  return [component, residue];
}

const COMPONENTS: ReadonlyMap<string, ResidueAtoms> = new Map([
  ...COMPONENT_ATOMS.trim().split('\n').map(readComponent),
  ...[...IONS].map(([code, { atom, element }]) => readComponent(`${code} ${atom}:${element}`)),
]);

const LETTERS: ReadonlyMap<string, string> = new Map(
  (
    'A:ALA R:ARG N:ASN D:ASP C:CYS Q:GLN E:GLU G:GLY H:HIS I:ILE L:LEU K:LYS M:MET F:PHE P:PRO S:SER T:THR ' +
    'W:TRP Y:TYR V:VAL'
  )
    .split(' ')
    .map((pair) => [pair.charAt(0), pair.slice(2)]),
);
/** The component of a letter; undefined for one that stands for several or none. */
const COMPONENT_BY_LETTER: Readonly<Record<PolymerType, (letter: string) => string | undefined>> = {
  protein: (letter) => LETTERS.get(letter),
  rna: (letter) => (/^[ACGU]$/.test(letter) ? letter : undefined),
  dna: (letter) => (/^[ACGT]$/.test(letter) ? `D${letter}` : undefined),
};

const STANDARD_RESIDUES: ReadonlySet<string> = new Set([
  ...LETTERS.values(),
  ...'ACGU',
  'DA',
  'DC',
  'DG',
  'DT',
]);

/** Whether a component of a polymer is one that a letter stands for. */
export const isStandardResidue = (component: string): boolean => STANDARD_RESIDUES.has(component);

function withTerminalAtom(residue: ResidueAtoms, type: PolymerType): ResidueAtoms {
  const name = TERMINAL_ATOMS[type];
  return {
    ...residue,
    names: [...(residue.names ?? []), name],
    elements: [...residue.elements, 'O'],
    leaving: residue.leaving.filter((leaving) => leaving !== name),
  };
}

const WITHOUT_NAMES = { isSugar: false, leaving: [], formerNames: new Map<string, string>() };

/** Looks up atoms of residues; reads each chain once. */
export interface AtomReader {
  /**
   * @returns undefined for a residue that is ambiguous, outside the chain or not known
   */
  read(chain: Chain, residue: number): ResidueAtoms | undefined;
}

export function createAtomReader(): AtomReader {
  const modified = new Map<Chain, ReadonlyMap<number, string>>();
  const smiles = new Map<Chain, ResidueAtoms | undefined>();
  return {
    read(chain, residue) {
      if (chain.type === 'ligand') {
        if (chain.ccd?.length) return COMPONENTS.get(chain.ccd[residue] ?? '');
        if (chain.smiles === null || residue !== 0) return undefined;
        if (!smiles.has(chain)) {
          const elements = listElements(chain.smiles);
          smiles.set(chain, elements && { component: null, names: null, elements, ...WITHOUT_NAMES });
        }
        return smiles.get(chain);
      }
      const { type, sequence, modifications } = chain;
      if (!modified.has(chain))
        modified.set(chain, new Map(modifications.map(({ position, ccd }) => [position, ccd])));
      const code = modified.get(chain)?.get(residue) ?? COMPONENT_BY_LETTER[type](sequence.charAt(residue));
      const found = COMPONENTS.get(code ?? '');
      const isTerminal = residue === (type === 'protein' ? sequence.length - 1 : 0);
      return found && isTerminal ? withTerminalAtom(found, type) : found;
    },
  };
}
