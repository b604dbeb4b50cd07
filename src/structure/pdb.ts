// Parses PDB text tolerantly into atoms and residues.
import { residueOf } from './residues.ts';

/** One atom line. Coordinates in ångström. */
export interface PdbAtom {
  readonly hetero: boolean;
  readonly name: string;
  readonly residue: string;
  readonly chain: string;
  /** The residue's number as the file has it. */
  readonly number: number;
  readonly insertion: string;
  readonly x: number;
  readonly y: number;
  readonly z: number;
  readonly occupancy: number;
  /** NaN where the column is empty. */
  readonly b: number;
  readonly element: string;
}

/** One residue, nucleotide or ligand component. */
export interface PdbResidue {
  readonly chain: string;
  readonly number: number;
  readonly insertion: string;
  readonly name: string;
  /** Whether it is part of the chain's polymer rather than a ligand or water. */
  readonly polymer: boolean;
  /** One-letter code, of the parent for a modified residue, X for an unknown one. */
  readonly letter: string;
  /** B-factor of the residue's trace atom (CA, C1'), else of its first atom; null without one. */
  readonly b: number | null;
  readonly hetero: boolean;
  readonly atoms: readonly PdbAtom[];
}

/** What a PDB file holds, its first model only. */
export interface ParsedPdb {
  readonly atomCount: number;
  readonly residues: readonly PdbResidue[];
  /** In order of appearance. */
  readonly chains: readonly string[];
  /** One-letter codes of all polymer residues, in order. */
  readonly sequence: string;
}

function elementOf(line: string): string {
  const stated = line.slice(76, 78).trim();
  if (/^[A-Za-z]{1,2}$/.test(stated)) return stated.toUpperCase();
  // Without the element column: the first two columns of the name hold it, right-justified.
  const guess = line
    .slice(12, 14)
    .replace(/[^A-Za-z]/g, '')
    .toUpperCase();
  return line.charAt(12) === ' ' || guess.length < 2 || line.slice(12, 16).trim().length === 4
    ? guess.slice(-1)
    : guess;
}

function readAtom(line: string): PdbAtom | undefined {
  const [x, y, z] = [Number(line.slice(30, 38)), Number(line.slice(38, 46)), Number(line.slice(46, 54))];
  if (!Number.isFinite(x + y + z) || line.length < 54) return undefined;
  const occupancy = line.slice(54, 60).trim();
  return {
    hetero: line.startsWith('HETATM'),
    name: line.slice(12, 16).trim(),
    residue: line.slice(17, 20).trim(),
    // Some writers put two-character chain names into columns 21 and 22.
    chain: line.slice(20, 22).trim(),
    number: Number.parseInt(line.slice(22, 26), 10) || 0,
    insertion: line.charAt(26).trim(),
    x,
    y,
    z,
    occupancy: occupancy === '' ? 1 : Number(occupancy),
    b: Number.parseFloat(line.slice(60, 66)),
    element: elementOf(line),
  };
}

/** The atoms of the first model; of alternative places the first of each residue. */
function readAtoms(text: string): PdbAtom[] {
  const atoms: PdbAtom[] = [];
  let residue = '';
  let alternative = '';
  for (let at = 0; at < text.length; ) {
    const newline = text.indexOf('\n', at);
    const end = newline === -1 ? text.length : newline;
    const isAtom = text.startsWith('ATOM  ', at) || text.startsWith('HETATM', at);
    if (isAtom) {
      const line = text.slice(at, end);
      const place = line.slice(20, 27);
      if (place !== residue) {
        residue = place;
        alternative = '';
      }
      const here = line.charAt(16).trim();
      if (here !== '' && alternative === '') alternative = here;
      const atom = here === '' || here === alternative ? readAtom(line) : undefined;
      if (atom !== undefined) atoms.push(atom);
    } else if (text.startsWith('ENDMDL', at)) break;
    at = end + 1;
  }
  return atoms;
}

const TRACE = new Set(['CA', "C1'", 'C1*']);

/** The residue of consecutive atoms, the first of which is given apart. */
function residueFrom(first: PdbAtom, atoms: readonly PdbAtom[]): PdbResidue {
  const known = residueOf(first.residue);
  const trace = atoms.find((atom) => TRACE.has(atom.name) && atom.element === 'C') ?? first;
  return {
    chain: first.chain,
    number: first.number,
    insertion: first.insertion,
    name: first.residue,
    polymer: known !== undefined || !first.hetero,
    letter: known?.letter ?? 'X',
    b: Number.isFinite(trace.b) ? trace.b : null,
    hetero: first.hetero,
    atoms,
  };
}

/** Groups consecutive atoms of the same residue. */
function residuesOf(atoms: readonly PdbAtom[]): PdbResidue[] {
  const groups: [first: PdbAtom, atoms: PdbAtom[]][] = [];
  for (const atom of atoms) {
    const [last, group] = groups.at(-1) ?? [];
    const isSame =
      last?.chain === atom.chain &&
      last.number === atom.number &&
      last.insertion === atom.insertion &&
      last.residue === atom.residue;
    if (isSame) group?.push(atom);
    else groups.push([atom, [atom]]);
  }
  return groups.map(([first, group]) => residueFrom(first, group));
}

/**
 * Parses a PDB file. Skips unreadable lines; TER, END, MODEL and all other records are optional.
 */
export function parsePdb(text: string): ParsedPdb {
  const atoms = readAtoms(text);
  const residues = residuesOf(atoms);
  return {
    atomCount: atoms.length,
    residues,
    chains: [...new Set(residues.map((residue) => residue.chain))],
    sequence: residues.flatMap(({ polymer, letter }) => (polymer ? [letter] : [])).join(''),
  };
}

/** Columns of an atom line, 0-based: chain, number and insertion code of its residue. */
const RESIDUE_COLUMNS = [21, 27] as const;

/** The number of residues that have atoms, without parsing them. */
export function countResidues(pdb: string): number {
  let count = 0;
  let last = '';
  for (let start = 0, end = 0; end !== -1; start = end + 1) {
    end = pdb.indexOf('\n', start);
    if (!pdb.startsWith('ATOM', start) && !pdb.startsWith('HETATM', start)) continue;
    const residue = pdb.slice(start + RESIDUE_COLUMNS[0], start + RESIDUE_COLUMNS[1]);
    if (residue !== last) count += 1;
    last = residue;
  }
  return count;
}
