// Chemistry of polymers and ligands: letters, heavy atoms of residues, parents of modifications,
// SMILES.
import { residueOf } from '../structure/residues.ts';
import type { PolymerType } from './submission.ts';

/** The letters of a polymer that name one residue. */
export const LETTERS: Readonly<Record<PolymerType, string>> = {
  protein: 'ACDEFGHIKLMNPQRSTVWY',
  rna: 'ACGU',
  dna: 'ACGT',
};

/** All other characters. */
const NOT_PLAIN: Readonly<Record<PolymerType, RegExp>> = {
  protein: /[^ACDEFGHIKLMNPQRSTVWY]/,
  rna: /[^ACGU]/,
  dna: /[^ACGT]/,
};

/**
 * Letters of a sequence that name no residue. The service takes them as unknown residues; it
 * refuses other characters.
 */
export interface InvalidLetters {
  /** Number of characters that are no letters, and the 0-based position of the first. */
  readonly wrong: { readonly count: number; readonly first: number };
  /** Number of letters taken as unknown, the position of the first, and the letters. */
  readonly unknown: { readonly count: number; readonly first: number; readonly letters: string };
}

const NONE = { count: 0, first: -1 };
const ALL_PLAIN: InvalidLetters = { wrong: NONE, unknown: { ...NONE, letters: '' } };
const CODE_A = 65;

/** Counts the letters of an upper-case sequence that need a remark: usually in one scan. */
export function findInvalidLetters(type: PolymerType, sequence: string): InvalidLetters {
  const start = sequence.search(NOT_PLAIN[type]);
  if (start < 0) return ALL_PLAIN;
  const isPlain = Uint8Array.from({ length: 26 }, (_, k) =>
    LETTERS[type].includes(String.fromCharCode(CODE_A + k)) ? 1 : 0,
  );
  const seen = new Uint8Array(26);
  const wrong = { ...NONE };
  const unknown = { ...NONE };
  for (let at = start; at < sequence.length; at++) {
    const letter = sequence.charCodeAt(at) - CODE_A;
    if (isPlain[letter] !== 1) {
      const kind = letter >= 0 && letter < 26 ? unknown : wrong;
      if (kind === unknown) seen[letter] = 1;
      if (kind.count === 0) kind.first = at;
      kind.count += 1;
    }
  }
  const letters = [...seen.keys()].filter((k) => seen[k] === 1).map((k) => String.fromCharCode(CODE_A + k));
  return { wrong, unknown: { ...unknown, letters: letters.join(', ') } };
}

/**
 * Heavy atoms of each residue inside a chain; the last amino acid has one more (OXT), the first
 * nucleotide too (OP3).
 */
const HEAVY_ATOMS: Readonly<Record<PolymerType, Readonly<Record<string, number>>>> = {
  protein: {
    ...{ G: 4, A: 5, S: 6, C: 6, T: 7, V: 7, P: 7, I: 8, L: 8, D: 8, N: 8, M: 8 },
    ...{ E: 9, Q: 9, K: 9, H: 10, F: 11, R: 11, Y: 12, W: 14 },
  },
  rna: { A: 22, C: 20, G: 23, U: 20 },
  dna: { A: 21, C: 19, G: 22, T: 20 },
};

/** Heavy atoms of a residue at a 0-based position; undefined for an ambiguous letter. */
export function heavyAtoms(type: PolymerType, sequence: string, position: number): number | undefined {
  const inside = HEAVY_ATOMS[type][sequence.charAt(position)];
  const atEnd = position === (type === 'protein' ? sequence.length - 1 : 0);
  return inside === undefined ? undefined : inside + (atEnd ? 1 : 0);
}

export interface SmilesScan {
  /** Heavy atoms, including wildcards and without explicit hydrogens. */
  readonly heavyAtoms: number;
  /** What is wrong with its syntax, if anything. Its chemistry is not checked. */
  readonly fault: string | undefined;
}

const HYDROGEN = /^\d*H[+-]?\d*$/;

/** Atoms that need no brackets, and the second letters of two more. */
const ORGANIC = 'BCNOPSFIbcnops*';
const SECOND_LETTERS: Readonly<Record<string, string>> = { l: 'C', r: 'B' };
const BONDS = '@-.=#$:/\\~';
/** Dative bonds, as toolkits write them for metal complexes: beyond OpenSMILES, and read by services. */
const DATIVE = ['->', '<-'];
/** The number of a ring bond behind `%`. */
const LONG_RING = /^(?:\d\d?|\(\d{1,5}\))/;
const UNPAIRED = 'its square brackets do not pair';

/** What is wrong with a character that begins nothing. */
function oddCharacter(smiles: string, at: number): string {
  if (/\s/.test(smiles)) return 'it holds white space';
  const sign = String.fromCodePoint(smiles.codePointAt(at) ?? 0);
  if (sign === ']') return UNPAIRED;
  const shown = `${JSON.stringify(sign)} at ${at}`;
  if (/[A-Za-z]/.test(sign)) return `${shown} is not an atom, or only in square brackets`;
  if (sign === '+') return `${shown} stands outside square brackets`;
  return `${shown} is not a character of SMILES`;
}

export function scanSmiles(smiles: string): SmilesScan {
  const found = (heavyAtoms: number, fault?: string): SmilesScan => ({ heavyAtoms, fault });
  if (smiles === '') return found(0, 'it is empty');
  let atoms = 0;
  let hydrogens = 0;
  let depth = 0;
  const openRings = new Set<string>();
  const toggleRing = (ring: string) => void (openRings.delete(ring) || openRings.add(ring));
  for (let at = 0; at < smiles.length && depth >= 0; at += 1) {
    const sign = smiles.charAt(at);
    if (ORGANIC.includes(sign)) atoms += 1;
    else if (sign === '(') depth += 1;
    else if (sign === ')') depth -= 1;
    else if (sign >= '0' && sign <= '9') toggleRing(sign);
    else if (sign === '[') {
      const end = smiles.indexOf(']', at);
      const content = smiles.slice(at + 1, end);
      if (end < 0 || content.includes('[')) return found(0, UNPAIRED);
      if (content.length < 8 && HYDROGEN.test(content)) hydrogens += 1;
      else atoms += 1;
      at = end;
    } else if (sign === '%') {
      const [ring] = LONG_RING.exec(smiles.slice(at + 1, at + 8)) ?? [];
      if (ring === undefined) return found(0, `no number of a ring bond follows "%" at ${at}`);
      toggleRing(String(Number(ring.replace(/\D/g, ''))));
      at += ring.length;
    } else if (DATIVE.includes(smiles.slice(at, at + 2))) at += 1;
    else if (!BONDS.includes(sign) && (at === 0 || SECOND_LETTERS[sign] !== smiles.charAt(at - 1)))
      return found(0, oddCharacter(smiles, at));
  }
  if (depth !== 0) return found(atoms, 'its parentheses do not pair');
  const [open] = openRings;
  if (open !== undefined) return found(atoms, `its ring bond ${open} is not closed`);
  if (/[=#:$/\\.>]$/.test(smiles)) return found(atoms, 'nothing follows its last bond');
  return atoms + hydrogens === 0 ? found(0, 'it names no atom') : found(atoms);
}

/** The parent residue of a well-known modification; undefined for any other. */
export function parentResidue(type: PolymerType, ccd: string): string | undefined {
  const known = residueOf(ccd);
  return known === undefined || known.standard || known.kind !== type ? undefined : known.letter;
}
