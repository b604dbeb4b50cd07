// Global alignment of two sequences (Needleman-Wunsch, BLOSUM62, linear gaps), to let one family
// lean towards a related one.
import { blosum62 } from './substitution.ts';

const GAP = -6;

/** The index, for each residue of `a`, of the residue of `b` that it is aligned with, or -1. */
export function alignTo(a: string, b: string): Int32Array {
  const width = b.length + 1;
  const score = new Int32Array((a.length + 1) * width);
  const at = (i: number, j: number): number => score[i * width + j] ?? 0;
  for (let i = 1; i <= a.length; i++) score[i * width] = i * GAP;
  for (let j = 1; j <= b.length; j++) score[j] = j * GAP;
  for (let i = 1; i <= a.length; i++)
    for (let j = 1; j <= b.length; j++)
      score[i * width + j] = Math.max(
        at(i - 1, j - 1) + blosum62(a.charAt(i - 1), b.charAt(j - 1)),
        at(i - 1, j) + GAP,
        at(i, j - 1) + GAP,
      );
  const partner = new Int32Array(a.length).fill(-1);
  let i = a.length;
  let j = b.length;
  while (i > 0 && j > 0) {
    if (at(i, j) === at(i - 1, j) + GAP) i--;
    else if (at(i, j) === at(i, j - 1) + GAP) j--;
    else partner[--i] = --j;
  }
  return partner;
}
