// The atoms and rows of each token. Confidences, PAE and embeddings have one row for each token, or
// one for each heavy atom of ligands, of modified residues, or of both, which the service folds
// atom by atom.
import { guessElement } from '../elements.ts';
import { findResidue, type PolymerKind } from '../residues.ts';
import type { FoldedComplex, Numbers } from './fields.ts';
import type { RowOffsets } from './matrix.ts';

/** The tokens of one chain, 0-based over all tokens, the end excluded. */
export interface TokenSpan {
  readonly kind: PolymerKind | 'ligand';
  readonly tokenStart: number;
  readonly tokenEnd: number;
}

/** The atoms of a token as a valid range; empty when the service gave none. */
export function atomRange(
  { tokenToAtoms, atomPositions }: FoldedComplex,
  token: number,
): [start: number, end: number] {
  const range = tokenToAtoms[token];
  const [start, end]: unknown[] = Array.isArray(range) ? range : [];
  if (typeof start !== 'number' || typeof end !== 'number' || !(start >= 0)) return [0, 0];
  return [start, Math.max(start, Math.min(end, atomPositions.length))];
}

export const readWord = (value: unknown): string => (typeof value === 'string' ? value.trim() : '');

/** The element of an atom of a token, in upper case: as the result states it, else by its name. */
export function atomElement(complex: FoldedComplex, token: number, atom: number): string {
  const stated = readWord(complex.atomElements[atom]);
  if (stated !== '') return stated.toUpperCase();
  const [start, end] = atomRange(complex, token);
  const about = { component: readWord(complex.sequence[token]), isAlone: end - start === 1 };
  return guessElement(readWord(complex.atomNames[atom]), about);
}

/** The atoms of a token without hydrogens. */
export function heavyAtoms(complex: FoldedComplex, token: number): number[] {
  const [start, end] = atomRange(complex, token);
  const atoms = Array.from({ length: end - start }, (_, k) => start + k);
  return atoms.filter((atom) => !/^[HD]$/.test(atomElement(complex, token, atom)));
}

/** The coordinates in a row of `atom_positions`; undefined where one is missing. */
export function readPosition(value: unknown): [number, number, number] | undefined {
  if (!Array.isArray(value)) return undefined;
  const [x, y, z]: unknown[] = value;
  if (typeof x !== 'number' || typeof y !== 'number' || typeof z !== 'number') return undefined;
  return Number.isFinite(x + y + z) ? [x, y, z] : undefined;
}

type TokenClass = 'ligand' | 'modified' | 'standard';

/** Which tokens may have a row for each atom. */
const FORMS: readonly (readonly TokenClass[])[] = [[], ['ligand', 'modified'], ['ligand'], ['modified']];

/**
 * Finds the rows of each token among a number of rows; undefined when no form has so many rows, or
 * two forms that have disagree.
 */
export type FindRows = (rowCount: number) => RowOffsets | undefined;

export function createRowFinder(complex: FoldedComplex, spans: readonly TokenSpan[]): FindRows {
  // Ranges that are wrong tell nothing of rows by atom.
  const known = complex.atomsMisfit === null ? FORMS : FORMS.slice(0, 1);
  const forms = known.map((byAtom) => {
    const offsets = [0];
    for (const { kind, tokenStart, tokenEnd } of spans) {
      for (let token = tokenStart; token < tokenEnd; token++) {
        const isStandard = findResidue(complex.sequence[token] ?? '')?.standard === true;
        const tokenClass = kind === 'ligand' ? kind : isStandard ? 'standard' : 'modified';
        const rows = byAtom.includes(tokenClass) ? Math.max(1, heavyAtoms(complex, token).length) : 1;
        offsets.push((offsets.at(-1) ?? 0) + rows);
      }
    }
    return offsets;
  });
  return (rowCount) => {
    const found = forms.filter((offsets) => offsets.at(-1) === rowCount);
    const [first] = found;
    return found.every((other) => other.every((row, token) => row === first?.[token])) ? first : undefined;
  };
}

/**
 * The values of atoms, one for each atom of the structure: those of the rows of heavy atoms, null
 * for hydrogens and for tokens with one row. Empty where no token has several rows.
 */
export function valuesByAtom(complex: FoldedComplex, values: Numbers, offsets: RowOffsets): Numbers {
  if (offsets.length - 1 === values.length) return [];
  const byAtom: (number | null)[] = complex.atomPositions.map(() => null);
  for (let token = 0; token + 1 < offsets.length; token += 1) {
    const [start = 0, end = 0] = [offsets[token], offsets[token + 1]];
    if (end - start === 1) continue;
    for (const [k, atom] of heavyAtoms(complex, token).entries()) byAtom[atom] = values[start + k] ?? null;
  }
  return byAtom;
}
