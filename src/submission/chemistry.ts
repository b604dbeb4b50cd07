// What polymers are made of, as far as an input can be checked by it: letters, atoms of a residue, the residue that a
// modification belongs to. It must not know what a submission is.
import { residueOf } from '../structure/residues.ts';
import type { PolymerType } from './submission.ts';
import type { Pause } from './yielding.ts';

/** The letters of a polymer that name one residue. */
export const LETTERS: Readonly<Record<PolymerType, string>> = {
  protein: 'ACDEFGHIKLMNPQRSTVWY',
  rna: 'ACGU',
  dna: 'ACGT',
};

/** What is no such letter. */
const NOT_PLAIN: Readonly<Record<PolymerType, RegExp>> = {
  protein: /[^ACDEFGHIKLMNPQRSTVWY]/,
  rna: /[^ACGU]/,
  dna: /[^ACGT]/,
};

/** The letters of a sequence that name no residue. The service takes other letters as unknown residues, and letters only. */
export interface InvalidLetters {
  /** How many characters are no letters, and the 0-based position of the first. */
  readonly wrong: { readonly count: number; readonly first: number };
  /** How many letters are taken as unknown, the position of the first, and which they are. */
  readonly unknown: { readonly count: number; readonly first: number; readonly letters: string };
}

const NONE = { count: 0, first: -1 };
/** Characters that are looked at in one step. */
const SLICE = 2 ** 18;
const CODE_A = 65;

/** Counts the letters of a sequence in upper case that need a remark. An ordinary sequence costs one scan. */
export async function findInvalidLetters(
  type: PolymerType,
  sequence: string,
  pause: Pause,
): Promise<InvalidLetters> {
  const start = sequence.search(NOT_PLAIN[type]);
  if (start < 0) return { wrong: NONE, unknown: { ...NONE, letters: '' } };
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
    if (at % SLICE === 0) await pause();
  }
  const letters = [...seen.keys()].filter((k) => seen[k] === 1).map((k) => String.fromCharCode(CODE_A + k));
  return { wrong, unknown: { ...unknown, letters: letters.join(', ') } };
}

/** Heavy atoms of each residue inside a chain; the last amino acid has one more (OXT), the first nucleotide too (OP3). */
const HEAVY_ATOMS: Readonly<Record<PolymerType, Readonly<Record<string, number>>>> = {
  protein: {
    ...{ G: 4, A: 5, S: 6, C: 6, T: 7, V: 7, P: 7, I: 8, L: 8, D: 8, N: 8, M: 8 },
    ...{ E: 9, Q: 9, K: 9, H: 10, F: 11, R: 11, Y: 12, W: 14 },
  },
  rna: { A: 22, C: 20, G: 23, U: 20 },
  dna: { A: 21, C: 19, G: 22, T: 20 },
};

/** Heavy atoms of a plain residue at a 0-based position; undefined for a letter that does not tell. */
export function heavyAtoms(type: PolymerType, sequence: string, position: number): number | undefined {
  const inside = HEAVY_ATOMS[type][sequence.charAt(position)];
  const atEnd = position === (type === 'protein' ? sequence.length - 1 : 0);
  return inside === undefined ? undefined : inside + (atEnd ? 1 : 0);
}

/** What one pass over a SMILES string finds. */
export interface SmilesScan {
  /** Heavy atoms, wildcards included and explicit hydrogens left out. */
  readonly heavyAtoms: number;
  /** What is wrong with its form; undefined when it can be one. Its chemistry is not judged. */
  readonly fault: string | undefined;
}

const HYDROGEN = /^\d*H[+-]?\d*$/;

/** Reads a SMILES string once, whatever its length and its brackets. */
export async function scanSmiles(smiles: string, pause: Pause): Promise<SmilesScan> {
  const found = (heavyAtoms: number, fault?: string): SmilesScan => ({ heavyAtoms, fault });
  if (smiles === '') return found(0, 'it is empty');
  if (/\s/.test(smiles)) return found(0, 'it holds white space');
  const odd = /[^A-Za-z0-9@+\-[\]().=#$%:/\\*~]/.exec(smiles);
  if (odd !== null) return found(0, `${JSON.stringify(odd[0])} at ${odd.index} is no character of SMILES`);
  let atoms = 0;
  let hydrogens = 0;
  let depth = 0;
  let bracket = -1;
  for (let at = 0; at < smiles.length; at++) {
    if (at % SLICE === SLICE - 1) await pause();
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

/** The residue a well-known modification is made of; undefined for other codes and for modifications of other polymers. */
export function parentResidue(type: PolymerType, ccd: string): string | undefined {
  const known = residueOf(ccd);
  return known === undefined || known.standard || known.kind !== type ? undefined : known.letter;
}
