// Letters of polymers, and parents of modifications.
import { findResidue } from '../structure/residues.ts';
import type { PolymerType } from './chain.ts';

/** The letters of a polymer that name one residue. */
export const LETTERS: Readonly<Record<PolymerType, string>> = {
  protein: 'ACDEFGHIKLMNPQRSTVWY',
  rna: 'ACGU',
  dna: 'ACGT',
};

/** All other characters. */
const OTHER_LETTERS: Readonly<Record<PolymerType, RegExp>> = {
  protein: /[^ACDEFGHIKLMNPQRSTVWY]/,
  rna: /[^ACGU]/,
  dna: /[^ACGT]/,
};

/** The letter that only the other nucleic acid has: as an unknown nucleotide it is never meant. */
export const OTHER_ACID: Readonly<Record<PolymerType, string>> = { protein: '', rna: 'T', dna: 'U' };

/**
 * Letters of a sequence that name no residue. The service takes them as unknown residues; it
 * refuses other characters.
 */
export interface InvalidLetters {
  /**
   * Number of characters that are no letters, or of the other nucleic acid, and the 0-based
   * position of the first.
   */
  readonly wrong: { readonly count: number; readonly first: number };
  /** Number of letters taken as unknown, the position of the first, and the letters. */
  readonly unknown: { readonly count: number; readonly first: number; readonly letters: string };
}

const NONE = { count: 0, first: -1 };
const NO_INVALID: InvalidLetters = { wrong: NONE, unknown: { ...NONE, letters: '' } };
const CODE_A = 65;

/** Counts the letters of an upper-case sequence that need a remark: usually in one scan. */
export function findInvalidLetters(type: PolymerType, sequence: string): InvalidLetters {
  const start = sequence.search(OTHER_LETTERS[type]);
  if (start < 0) return NO_INVALID;
  const places = (letters: string): Uint8Array =>
    Uint8Array.from({ length: 26 }, (_, k) => (letters.includes(String.fromCharCode(CODE_A + k)) ? 1 : 0));
  const [isPlain, isOther] = [places(LETTERS[type]), places(OTHER_ACID[type])];
  const seen = new Uint8Array(26);
  const wrong = { ...NONE };
  const unknown = { ...NONE };
  for (let at = start; at < sequence.length; at++) {
    const letter = sequence.charCodeAt(at) - CODE_A;
    if (isPlain[letter] !== 1) {
      const kind = letter >= 0 && letter < 26 && isOther[letter] === 0 ? unknown : wrong;
      if (kind === unknown) seen[letter] = 1;
      if (kind.count === 0) kind.first = at;
      kind.count += 1;
    }
  }
  const letters = [...seen.keys()].filter((k) => seen[k] === 1).map((k) => String.fromCharCode(CODE_A + k));
  return { wrong, unknown: { ...unknown, letters: letters.join(', ') } };
}

/** The parent residue of a well-known modification; undefined for any other. */
export function findParentResidue(type: PolymerType, ccd: string): string | undefined {
  const known = findResidue(ccd);
  return known === undefined || known.standard || known.kind !== type ? undefined : known.letter;
}
