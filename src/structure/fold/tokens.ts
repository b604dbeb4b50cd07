// The atoms and rows of each token. Confidences, PAE and embeddings have one row per token, or one
// per heavy atom of ligands, of modified residues, or of both, which the service folds atom by
// atom.
import { residueOf } from '../residues.ts';
import type { FoldedChain } from './chains.ts';
import type { FoldedComplex } from './result.ts';

/** The tokens of one chain, 0-based over all tokens, the end excluded. */
export type TokenSpan = Pick<FoldedChain, 'kind' | 'tokenStart' | 'tokenEnd'>;

/** The atoms of a token as a valid range; empty when the upstream gave none. */
export function atomRange(
  { tokenToAtoms, atomPositions }: FoldedComplex,
  token: number,
): [start: number, end: number] {
  const range = tokenToAtoms[token];
  const [start, end]: unknown[] = Array.isArray(range) ? range : [];
  if (typeof start !== 'number' || typeof end !== 'number' || !(start >= 0)) return [0, 0];
  return [start, Math.max(start, Math.min(end, atomPositions.length))];
}

/** Atoms of a token but hydrogens, 1 at least. */
function heavyAtoms(complex: FoldedComplex, token: number): number {
  const [start, end] = atomRange(complex, token);
  let count = 0;
  for (let atom = start; atom < end; atom++) {
    const element = complex.atomElements[atom];
    if (element !== 'H' && element !== 'D') count += 1;
  }
  return Math.max(1, count);
}

/** Whether ligands and modified residues have a row for each atom. */
interface RowForm {
  readonly ligands: boolean;
  readonly modified: boolean;
}

const FORMS: readonly RowForm[] = [
  { ligands: false, modified: false },
  { ligands: true, modified: true },
  { ligands: true, modified: false },
  { ligands: false, modified: true },
];

function offsetsOf(complex: FoldedComplex, spans: readonly TokenSpan[], form: RowForm): number[] {
  const offsets = [0];
  let next = 0;
  for (const { kind, tokenStart, tokenEnd } of spans) {
    for (let token = tokenStart; token < tokenEnd; token++) {
      const byAtom =
        kind === 'ligand'
          ? form.ligands
          : form.modified && residueOf(complex.sequence[token] ?? '')?.standard !== true;
      next += byAtom ? heavyAtoms(complex, token) : 1;
      offsets.push(next);
    }
  }
  return offsets;
}

/**
 * Finds the rows of each token among a number of rows.
 *
 * @returns the first row of each token and, at the end, the number of rows; undefined when no form
 *   has so many rows or two forms that have disagree
 */
export function rowOffsets(
  complex: FoldedComplex,
  spans: readonly TokenSpan[],
  rowCount: number,
): readonly number[] | undefined {
  const found = FORMS.map((form) => offsetsOf(complex, spans, form)).filter(
    (offsets) => offsets.at(-1) === rowCount,
  );
  const [first] = found;
  return found.every((other) => other.every((row, token) => row === first?.[token])) ? first : undefined;
}
