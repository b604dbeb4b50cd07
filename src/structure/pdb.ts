// Parses PDB text tolerantly into residues of atoms, in one pass.
import type { ModelAtom, ModelResidue } from './model.ts';
import { findResidue } from './residues.ts';

/** One residue, nucleotide or ligand component, and the chain that it stands in. */
export interface PdbResidue extends ModelResidue {
  readonly chain: string;
  /** B-factor of the residue's trace atom (CA, C1'), else of its first atom; null without one. */
  readonly confidence: number | null;
}

/** The content of a PDB file, its first model only. */
export interface ParsedPdb {
  readonly atomCount: number;
  readonly residues: readonly PdbResidue[];
}

function readElement(line: string): string {
  const stated = line.slice(76, 78).trim();
  if (/^[A-Za-z]{1,2}$/.test(stated)) return stated.toUpperCase();
  // Without the element column: the first two columns of the name hold it, right-justified. Names
  // of four characters, such as HG11, begin further left.
  const [element = ''] =
    line
      .slice(12, 14)
      .toUpperCase()
      .match(/[A-Z]{1,2}/) ?? [];
  return line.slice(12, 16).trim().length === 4 ? element.charAt(0) : element;
}

/** A charge such as "2+" of columns 79 and 80; undefined where none is stated. */
function readCharge(line: string): number | undefined {
  const [, size, sign] = /^(\d)([+-])$/.exec(line.slice(78, 80)) ?? [];
  return size === undefined ? undefined : Number(`${sign}${size}`);
}

/** The atom of a line, its `b` NaN where the column is empty; undefined for an unreadable line. */
function readAtom(line: string): ModelAtom | undefined {
  const [x, y, z] = [Number(line.slice(30, 38)), Number(line.slice(38, 46)), Number(line.slice(46, 54))];
  if (!Number.isFinite(x + y + z) || line.length < 54) return undefined;
  const occupancy = line.slice(54, 60).trim();
  const charge = readCharge(line);
  return {
    name: line.slice(12, 16).trim(),
    element: readElement(line),
    x,
    y,
    z,
    occupancy: occupancy === '' ? 1 : Number(occupancy),
    b: Number.parseFloat(line.slice(60, 66)),
    ...(charge === undefined ? {} : { charge }),
  };
}

const TRACE = new Set(['CA', "C1'", 'C1*']);

/** The residue of consecutive atoms. @param line - one of theirs */
function toResidue(line: string, atoms: readonly ModelAtom[]): PdbResidue {
  const trace = atoms.find(({ name }) => TRACE.has(name)) ?? atoms[0];
  return {
    // Some writers put two-character chain names into columns 21 and 22.
    chain: line.slice(20, 22).trim(),
    name: line.slice(17, 20).trim() || 'UNK',
    number: Number.parseInt(line.slice(22, 26), 10) || 0,
    insertion: line.charAt(26).trim(),
    hetero: line.startsWith('HETATM'),
    confidence: Number.isFinite(trace?.b) ? (trace?.b ?? null) : null,
    atoms,
  };
}

/**
 * Parses a PDB file: its first model, and of alternative places the first of each residue. Skips
 * unreadable lines; TER, END, MODEL and all other records are optional.
 */
export function parsePdb(text: string): ParsedPdb {
  const residues: PdbResidue[] = [];
  let atomCount = 0;
  let first = '';
  let atoms: ModelAtom[] = [];
  const close = () => {
    if (atoms.length > 0) residues.push(toResidue(first, atoms));
    atomCount += atoms.length;
  };
  let place = '';
  let alternative = '';
  let identity = '';
  for (let at = 0, end = 0; at < text.length && !text.startsWith('ENDMDL', at); at = end + 1) {
    const newline = text.indexOf('\n', at);
    end = newline === -1 ? text.length : newline;
    if (!text.startsWith('ATOM  ', at) && !text.startsWith('HETATM', at)) continue;
    const line = text.slice(at, end);
    if (line.slice(20, 27) !== place) {
      place = line.slice(20, 27);
      alternative = '';
    }
    const here = line.charAt(16).trim();
    alternative ||= here;
    const atom = here === '' || here === alternative ? readAtom(line) : undefined;
    if (atom === undefined) continue;
    if (line.slice(17, 27) !== identity) {
      close();
      first = line;
      atoms = [];
      // Component, chain, number and insertion code.
      identity = line.slice(17, 27);
    }
    atoms.push(atom);
  }
  close();
  return { atomCount, residues };
}

/** Whether a text has an ATOM line: one without any is no structure. */
export const hasAtoms = (pdb: string): boolean => /^ATOM /m.test(pdb);

const NEWLINE = 0x0a;
const [LETTER_A, LETTER_H, LETTER_T] = [0x41, 0x48, 0x54];
/** Columns of an atom line, 0-based: chain, number and insertion code of its residue. */
const RESIDUE_COLUMNS = [21, 22, 23, 24, 25, 26] as const;

/** Whether ATOM or HETATM begins there: no other record begins so. */
const isAtomLine = (pdb: Buffer, at: number): boolean =>
  pdb[at] === LETTER_A ? pdb[at + 1] === LETTER_T : pdb[at] === LETTER_H && pdb[at + 3] === LETTER_A;

/** Names of residues that were seen; a hostile file has no end of others. */
const LETTERS = new Map<number, string>();
const MAX_LETTERS = 1000;

/** The one-letter code of the residue of a line; X for an unknown one. */
function readLetter(pdb: Buffer, at: number): string {
  const [a = 0, b = 0, c = 0] = [pdb[at + 17], pdb[at + 18], pdb[at + 19]];
  const key = (a << 16) | (b << 8) | c;
  const known = LETTERS.get(key);
  if (known !== undefined) return known;
  const letter = findResidue(String.fromCharCode(a, b, c))?.letter ?? 'X';
  if (LETTERS.size < MAX_LETTERS) LETTERS.set(key, letter);
  return letter;
}

/** One-letter codes of the residues that have atoms, without parsing them; X for unknown ones. */
export function readResidueLetters(pdb: Buffer): string {
  let letters = '';
  let last: number | undefined;
  for (let at = 0, end = 0; end !== -1; at = end + 1) {
    end = pdb.indexOf(NEWLINE, at);
    if (!isAtomLine(pdb, at)) continue;
    const before = last;
    if (before === undefined || RESIDUE_COLUMNS.some((column) => pdb[at + column] !== pdb[before + column]))
      letters += readLetter(pdb, at);
    last = at;
  }
  return letters;
}
