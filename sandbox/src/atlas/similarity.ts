// Similarity of two proteins: the cosine of their normalised feature vectors, found through the
// inverted index.
import type { SparseVector } from './features.ts';
import type { Postings } from './postings.ts';
import type { Rarity } from './rarity.ts';

/** Length of every protein's normalised vector. */
export function measureNorms(
  { offsets, proteins, strengths }: Postings,
  rarity: Rarity,
  count: number,
): Float64Array {
  const norms = new Float64Array(count);
  for (let f = 0; f + 1 < offsets.length; f++)
    for (let n = offsets[f] ?? 0; n < (offsets[f + 1] ?? 0); n++) {
      const id = proteins[n] ?? 0;
      norms[id] = (norms[id] ?? 0) + rarity.normalise(f, strengths[n] ?? 0) ** 2;
    }
  return norms.map(Math.sqrt);
}

/** The cosine of a query with every protein, by id: 0 where nothing is shared, at most 1. */
export function scoreAll(
  query: SparseVector,
  postings: Postings,
  rarity: Rarity,
  norms: Float64Array,
): Float64Array {
  const { offsets, proteins, strengths } = postings;
  const scores = new Float64Array(norms.length);
  let own = 0;
  for (const [n, feature] of query.features.entries()) {
    const value = rarity.normalise(feature, query.strengths[n] ?? 0);
    own += value ** 2;
    const scale = rarity.normalise(feature, value);
    for (let m = offsets[feature] ?? 0; m < (offsets[feature + 1] ?? 0); m++) {
      const id = proteins[m] ?? 0;
      scores[id] = (scores[id] ?? 0) + scale * (strengths[m] ?? 0);
    }
  }
  for (const [id, dot] of scores.entries()) {
    const lengths = Math.sqrt(own) * (norms[id] ?? 0);
    scores[id] = lengths === 0 ? 0 : Math.min(1, dot / lengths);
  }
  return scores;
}
