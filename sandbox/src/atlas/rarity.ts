// How rare each feature is in the universe, and the normalised values that follow: activation / max
// x idf.
import { FEATURE_COUNT } from './features.ts';
import type { Postings } from './postings.ts';

/** Statistics of each feature, measured over the readable proteins of a universe. */
export interface Rarity {
  /** Proteins that have the feature. */
  readonly frequency: Uint32Array;
  /** Greatest activation, thousandths. */
  readonly max: Uint16Array;
  /** ln((N + 1) / (frequency + 0.5)): above 0 even for a feature that every protein has. */
  readonly idf: Float64Array;
  /**
   * The normalised value of a strength in thousandths; 0 for a feature that no readable protein
   * has.
   */
  normalise(feature: number, strength: number): number;
}

/** @param withheld 1 for each protein id that does not count */
export function measureRarity({ offsets, proteins, strengths }: Postings, withheld: Uint8Array): Rarity {
  const readable = withheld.reduce((sum, one) => sum + 1 - one, 0);
  const frequency = new Uint32Array(FEATURE_COUNT);
  const max = new Uint16Array(FEATURE_COUNT);
  const idf = new Float64Array(FEATURE_COUNT);
  for (let f = 0; f < FEATURE_COUNT; f++) {
    let count = 0;
    let most = 0;
    for (let n = offsets[f] ?? 0; n < (offsets[f + 1] ?? 0); n++) {
      if (withheld[proteins[n] ?? 0] === 1) continue;
      count++;
      if ((strengths[n] ?? 0) > most) most = strengths[n] ?? 0;
    }
    frequency[f] = count;
    max[f] = most;
    idf[f] = Math.log((readable + 1) / (count + 0.5));
  }
  const normalise = (feature: number, strength: number): number => {
    const most = max[feature] ?? 0;
    return most === 0 ? 0 : (strength / most) * (idf[feature] ?? 0);
  };
  return { frequency, max, idf, normalise };
}
