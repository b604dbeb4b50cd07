// What polymers are made of, as far as an input can be checked by it: letters, atoms of a residue, the residue that a
// modification belongs to. It must not know what a submission is.
import { residueOf } from '../structure/residues.ts';
import type { PolymerType } from './submission.ts';

/** The letters that name one residue. */
const PLAIN: Readonly<Record<PolymerType, RegExp>> = {
  protein: /[^ACDEFGHIKLMNPQRSTVWY]/,
  rna: /[^ACGU]/,
  dna: /[^ACGT]/,
};

/** The letter beside the plain ones that stands for any residue. */
const UNKNOWN: Readonly<Record<PolymerType, string>> = { protein: 'X', rna: 'N', dna: 'N' };

/** The letters of a polymer, for a sentence. */
export const LETTERS: Readonly<Record<PolymerType, string>> = {
  protein: 'ACDEFGHIKLMNPQRSTVWY',
  rna: 'ACGU',
  dna: 'ACGT',
};

/** Letters of a sequence that are none of the polymer's. */
export interface OddLetters {
  /** 0-based positions of letters that no polymer of this kind has. */
  readonly wrong: readonly number[];
  /** 0-based positions of letters that stand for any residue. */
  readonly unknown: readonly number[];
}

/** Finds the letters of a sequence that need a remark. An ordinary sequence costs one scan. */
export function oddLetters(type: PolymerType, sequence: string): OddLetters {
  if (!PLAIN[type].test(sequence)) return { wrong: [], unknown: [] };
  const wrong: number[] = [];
  const unknown: number[] = [];
  for (let at = 0; at < sequence.length; at++) {
    const letter = sequence.charAt(at);
    if (!PLAIN[type].test(letter)) continue;
    (letter === UNKNOWN[type] ? unknown : wrong).push(at);
  }
  return { wrong, unknown };
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

/** Heavy atoms written in a SMILES string, explicit hydrogens left out. */
export const smilesAtoms = (smiles: string): number =>
  (smiles.match(/\[[^[\]]*\]|Br|Cl|[BCNOPSFIbcnops]/g) ?? []).filter(
    (atom) => !/^\[\d*H[+-]?\d*\]$/.test(atom),
  ).length;

/** What is wrong with the form of a SMILES string; undefined when it can be one. Its chemistry is not judged. */
export function smilesFault(smiles: string): string | undefined {
  if (/\s/.test(smiles)) return 'it holds white space';
  const odd = /[^A-Za-z0-9@+\-[\]().=#$%:/\\*~]/.exec(smiles);
  if (odd !== null) return `${JSON.stringify(odd[0])} at ${odd.index} is no character of SMILES`;
  let depth = 0;
  let bracket = false;
  for (const character of smiles) {
    if (character === '[' || character === ']') {
      if (bracket === (character === '[')) return 'its square brackets do not pair';
      bracket = !bracket;
    }
    if (character === '(') depth++;
    if (character === ')') depth--;
    if (depth < 0) break;
  }
  if (bracket) return 'its square brackets do not pair';
  if (depth !== 0) return 'its parentheses do not pair';
  return smilesAtoms(smiles) === 0 ? 'it names no atom' : undefined;
}

/** The residue a well-known modification is made of; undefined for other codes and for modifications of other polymers. */
export function parentResidue(type: PolymerType, ccd: string): string | undefined {
  const known = residueOf(ccd);
  return known === undefined || known.standard || known.kind !== type ? undefined : known.letter;
}
