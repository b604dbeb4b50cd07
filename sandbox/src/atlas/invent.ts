// Invents founder sequences that look like proteins: helices with a greasy face, strands that
// alternate, loops.
import { pickWeighted, type Random } from './random.ts';
import { LETTERS } from './substitution.ts';

const weights = (favoured: Readonly<Record<string, number>>): number[] =>
  [...LETTERS].map((letter) => favoured[letter] ?? 0.3);

const HELIX_CORE = weights({ L: 12, I: 6, A: 6, V: 5, M: 3, F: 3 });
const HELIX_FACE = weights({ E: 10, K: 9, A: 7, R: 6, Q: 5, D: 4, S: 2, N: 2, T: 2, L: 2 });
const STRAND_CORE = weights({ V: 10, I: 8, L: 5, F: 4, Y: 3, W: 1, A: 2, C: 1 });
const STRAND_FACE = weights({ T: 8, S: 5, K: 5, R: 4, E: 4, Q: 3, V: 3, Y: 3, N: 2 });
const LOOP = weights({ G: 9, P: 6, N: 6, D: 6, S: 6, T: 4, K: 4, E: 3, A: 3, R: 2, H: 2 });

const letter = (random: Random, odds: readonly number[]): string =>
  LETTERS[pickWeighted(random, odds)] ?? 'A';

/** Positions of the heptad that face the core. */
const CORE_OF_HEPTAD = new Set([0, 3, 4]);

function segment(random: Random): string {
  const kind = random.next();
  const length = kind < 0.45 ? 9 + random.whole(14) : kind < 0.75 ? 5 + random.whole(5) : 3 + random.whole(8);
  let text = '';
  for (let i = 0; i < length; i++) {
    if (kind < 0.45) text += letter(random, CORE_OF_HEPTAD.has(i % 7) ? HELIX_CORE : HELIX_FACE);
    else if (kind < 0.75) text += letter(random, i % 2 === 0 ? STRAND_CORE : STRAND_FACE);
    else text += letter(random, LOOP);
  }
  return text;
}

/** A sequence of exactly that many residues. */
export function inventSequence(random: Random, length: number): string {
  let text = '';
  while (text.length < length) text += segment(random);
  return text.slice(0, length);
}
