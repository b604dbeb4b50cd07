// How one residue turns into another: BLOSUM62 scores and the odds that follow from them.
import { pickWeighted, type Random } from './random.ts';

/** The order of the matrix. */
export const LETTERS = 'ARNDCQEGHILKMFPSTWYV';

const BLOSUM62 = `
4
-1 5
-2 0 6
-2 -2 1 6
0 -3 -3 -3 9
-1 1 0 0 -3 5
-1 0 0 2 -4 2 5
0 -2 0 -1 -3 -2 -2 6
-2 0 1 -1 -3 0 0 -2 8
-1 -3 -3 -3 -1 -3 -3 -4 -3 4
-1 -2 -3 -4 -1 -2 -3 -4 -3 2 4
-1 2 0 -1 -3 1 1 -2 -1 -3 -2 5
-1 -1 -2 -3 -1 0 -2 -3 -2 1 2 -1 5
-2 -3 -3 -3 -2 -3 -3 -3 -1 0 0 -3 0 6
-1 -2 -2 -1 -3 -1 -1 -2 -2 -3 -3 -1 -2 -4 7
1 -1 1 0 -1 0 0 0 -1 -2 -2 0 -1 -2 -1 4
0 -1 0 -1 -1 -1 -1 -2 -2 -1 -1 -1 -1 -2 -1 1 5
-3 -3 -4 -4 -2 -2 -3 -2 -2 -3 -2 -3 -1 1 -4 -3 -2 11
-2 -2 -2 -3 -2 -1 -2 -3 2 -1 -1 -2 -1 3 -3 -2 -2 2 7
0 -3 -3 -3 -1 -2 -2 -3 -3 3 1 -2 1 -1 -2 -2 0 -3 -1 4
`;

const ROWS = BLOSUM62.trim()
  .split('\n')
  .map((line) => line.split(' ').map(Number));

/** The BLOSUM62 score of two letters; -1 where one of them is no plain residue. */
export function blosum62(a: string, b: string): number {
  const i = LETTERS.indexOf(a);
  const j = LETTERS.indexOf(b);
  return (i < 0 || j < 0 ? undefined : ROWS[Math.max(i, j)]?.[Math.min(i, j)]) ?? -1;
}

/** Odds of each replacement of each letter: 2 to the score, because BLOSUM62 is in half bits. */
const ODDS = new Map(
  [...LETTERS].map((from) => [from, [...LETTERS].map((to) => (to === from ? 0 : 2 ** blosum62(from, to)))]),
);

/**
 * A residue that stands in for `letter`, likelier the more alike the two are; never `letter`
 * itself.
 */
export function substitute(random: Random, letter: string): string {
  const odds = ODDS.get(letter);
  return odds === undefined ? letter : (LETTERS[pickWeighted(random, odds)] ?? letter);
}
