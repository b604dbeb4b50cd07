// The inverted index from features to the proteins that have them, packed in three typed arrays:
// for each feature, ascending protein ids and strengths.
import { FEATURE_COUNT, findWindows, proteinVector, type SparseVector } from './features.ts';

/** Entries of feature f stand at offsets[f] to offsets[f + 1]. */
export interface Postings {
  readonly offsets: Uint32Array;
  readonly proteins: Uint32Array;
  /** Thousandths. */
  readonly strengths: Uint16Array;
}

/** The vector of a sequence. */
export const toVector = (sequence: string): SparseVector => proteinVector(findWindows(sequence));

/** Turns one vector for each protein (the id is the position) into postings. */
export function invert(vectors: readonly SparseVector[]): Postings {
  const offsets = new Uint32Array(FEATURE_COUNT + 1);
  for (const { features } of vectors)
    for (const feature of features) offsets[feature + 1] = (offsets[feature + 1] ?? 0) + 1;
  for (let f = 0; f < FEATURE_COUNT; f++) offsets[f + 1] = (offsets[f + 1] ?? 0) + (offsets[f] ?? 0);
  const total = offsets[FEATURE_COUNT] ?? 0;
  const proteins = new Uint32Array(total);
  const strengths = new Uint16Array(total);
  const next = offsets.slice();
  // Millions of turns: an iterator of entries would take five times as long.
  for (const [id, vector] of vectors.entries())
    for (let n = 0; n < vector.features.length; n++) {
      const feature = vector.features[n] ?? 0;
      const at = next[feature] ?? 0;
      proteins[at] = id;
      strengths[at] = vector.strengths[n] ?? 0;
      next[feature] = at + 1;
    }
  return { offsets, proteins, strengths };
}
