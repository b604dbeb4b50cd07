// The atoms and rows of each token. Confidences, PAE and embeddings have one row for each token, or
// one for each heavy atom of ligands, of modified residues, or of both, which the service folds atom
// by atom.
import { findResidue } from '../residues.ts';
import type { FoldedChain } from './chains.ts';
import type { FoldedComplex } from './fields.ts';
import type { RowOffsets } from './matrix.ts';

/** The tokens of one chain, 0-based over all tokens, the end excluded. */
export type TokenSpan = Pick<FoldedChain, 'kind' | 'tokenStart' | 'tokenEnd'>;

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

/** Counts the atoms of a token without hydrogens, 1 at least. */
function countHeavyAtoms(complex: FoldedComplex, token: number): number {
  const [start, end] = atomRange(complex, token);
  let count = 0;
  for (let atom = start; atom < end; atom++) {
    const element = complex.atomElements[atom];
    if (element !== 'H' && element !== 'D') count += 1;
  }
  return Math.max(1, count);
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
  const forms = FORMS.map((byAtom) => {
    const offsets = [0];
    for (const { kind, tokenStart, tokenEnd } of spans) {
      for (let token = tokenStart; token < tokenEnd; token++) {
        const isStandard = findResidue(complex.sequence[token] ?? '')?.standard === true;
        const tokenClass = kind === 'ligand' ? kind : isStandard ? 'standard' : 'modified';
        const rows = byAtom.includes(tokenClass) ? countHeavyAtoms(complex, token) : 1;
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
