// Which features look most like a feature: nearest neighbours by the cosine of their decoder vectors. The vector says,
// for each of eight offsets along the chain, how much of each physico-chemical property the pattern asks for there. It
// must not know the universe.
import { FEATURE_COUNT, patternOf } from './features.ts';
import { RESIDUE_CLASSES } from './residue-classes.ts';

/** Offsets 0 to 7, and three properties beside the eight classes themselves. */
const OFFSETS = 8;
const CHANNELS = 11;

/** The decoder vector of a feature: 8 offsets x (8 classes, hydrophobicity, positive, negative). */
export function decoderVector(feature: number): Float32Array {
  const { classes, spacing } = patternOf(feature);
  const vector = new Float32Array(OFFSETS * CHANNELS);
  for (const [n, index] of classes.entries()) {
    const base = (spacing.offsets[n] ?? 0) * CHANNELS;
    const { hydrophobic = false, charge = 0 } = RESIDUE_CLASSES[index] ?? {};
    vector[base + index] = 1;
    vector[base + 8] = hydrophobic ? 0.6 : 0;
    vector[base + 9] = charge > 0 ? 0.6 : 0;
    vector[base + 10] = charge < 0 ? 0.6 : 0;
  }
  return vector;
}

const norm = (vector: Float32Array): number => Math.sqrt(vector.reduce((sum, x) => sum + x * x, 0));

/** The `count` most similar other features, nearest first; of equals the lower index. */
export function nearestFeatures(feature: number, count: number): number[] {
  const own = decoderVector(feature);
  const filled = [...own.keys()].filter((channel) => own[channel] !== 0);
  const scores = new Float64Array(FEATURE_COUNT);
  for (let other = 0; other < FEATURE_COUNT; other++) {
    const vector = decoderVector(other);
    const dot = filled.reduce((sum, channel) => sum + (own[channel] ?? 0) * (vector[channel] ?? 0), 0);
    scores[other] = other === feature ? -1 : Math.round((dot / (norm(own) * norm(vector))) * 1e9);
  }
  return [...scores.keys()].sort((a, b) => (scores[b] ?? 0) - (scores[a] ?? 0) || a - b).slice(0, count);
}
