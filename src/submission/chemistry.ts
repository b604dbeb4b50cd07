// Chemistry of polymers and ligands: letters, heavy atoms of residues, parents of modifications,
// SMILES.
import { residueOf } from '../structure/residues.ts';
import type { PolymerType, Steps } from './submission.ts';

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
/** Characters read in one step. */
const SLICE = 2 ** 18;
const CODE_A = 65;

/** Counts the letters of an upper-case sequence that need a remark: usually in one scan. */
export function* findInvalidLetters(type: PolymerType, sequence: string): Steps<InvalidLetters> {
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
    if (at % SLICE === 0) yield;
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

const NOT_SMILES = /[^A-Za-z0-9@+\-[\]().=#$%:/\\*~]/;
const HYDROGEN = /^\d*H[+-]?\d*$/;

export function* scanSmiles(smiles: string): Steps<SmilesScan> {
  const found = (heavyAtoms: number, fault?: string): SmilesScan => ({ heavyAtoms, fault });
  if (smiles === '') return found(0, 'it is empty');
  for (let from = 0; from < smiles.length; from += SLICE) {
    yield;
    const odd = NOT_SMILES.exec(smiles.slice(from, from + SLICE));
    if (odd === null) continue;
    const [sign] = odd;
    if (/\s/.test(sign)) return found(0, 'it holds white space');
    return found(0, `${JSON.stringify(sign)} at ${from + odd.index} is not a character of SMILES`);
  }
  let atoms = 0;
  let hydrogens = 0;
  let depth = 0;
  let bracket = -1;
  for (let at = 0; at < smiles.length; at++) {
    if (at % SLICE === SLICE - 1) yield;
    const character = smiles.charAt(at);
    if (character === '[' || character === ']') {
      if (bracket >= 0 === (character === '[')) return found(0, 'its square brackets do not pair');
      if (character === '[') {
        bracket = at;
        continue;
      }
      const content = smiles.slice(bracket + 1, at);
      if (content.length < 8 && HYDROGEN.test(content)) hydrogens += 1;
      else atoms += 1;
      bracket = -1;
    } else if (bracket < 0) {
      if (character === '(') depth += 1;
      else if (character === ')') depth -= 1;
      else if ('BCNOPSFIbcnops*'.includes(character)) atoms += 1;
      if (depth < 0) break;
    }
  }
  if (bracket >= 0) return found(atoms, 'its square brackets do not pair');
  if (depth !== 0) return found(atoms, 'its parentheses do not pair');
  return atoms + hydrogens === 0 ? found(0, 'it names no atom') : found(atoms);
}

/** The parent residue of a well-known modification; undefined for any other. */
export function parentResidue(type: PolymerType, ccd: string): string | undefined {
  const known = residueOf(ccd);
  return known === undefined || known.standard || known.kind !== type ? undefined : known.letter;
}
