/**
 * Secondary structure from sequence by propensities, after Chou and Fasman (1978): the helix,
 * strand and turn propensities are averaged over a tapered window, the larger one wins, segments
 * that are too short are dropped and proline ends a helix. Deterministic, about 60 % right per
 * residue on real proteins: it is a stand-in.
 */

/** Chou–Fasman P(a), P(b), P(turn), by letter. */
const PROPENSITY: Readonly<Record<string, readonly [number, number, number]>> = {
  A: [1.42, 0.83, 0.66],
  R: [0.98, 0.93, 0.95],
  N: [0.67, 0.89, 1.56],
  D: [1.01, 0.54, 1.46],
  C: [0.7, 1.19, 1.19],
  Q: [1.11, 1.1, 0.98],
  E: [1.51, 0.37, 0.74],
  G: [0.57, 0.75, 1.56],
  H: [1.0, 0.87, 0.95],
  I: [1.08, 1.6, 0.47],
  L: [1.21, 1.3, 0.59],
  K: [1.16, 0.74, 1.01],
  M: [1.45, 1.05, 0.6],
  F: [1.13, 1.38, 0.6],
  P: [0.57, 0.55, 1.52],
  S: [0.77, 0.75, 1.43],
  T: [0.83, 1.19, 0.96],
  W: [1.08, 1.37, 0.96],
  Y: [0.69, 1.47, 1.14],
  V: [1.06, 1.7, 0.5],
};
const NEUTRAL: readonly [number, number, number] = [0.9, 0.9, 1.1];

const HELIX_WINDOW = 4;
const STRAND_WINDOW = 2;
const TURN_WINDOW = 1;
const SHORTEST = { H: 6, E: 4 } as const;

/**
 * The result of the propensities, per residue: the state (H helix, E strand, C coil) and how
 * clearly, from 0 to 1.
 */
export interface Secondary {
  states: string;
  margin: Float64Array;
}

function smoothed(sequence: string, column: 0 | 1 | 2, half: number): Float64Array {
  const raw = Array.from(sequence, (letter) => (PROPENSITY[letter] ?? NEUTRAL)[column]);
  return Float64Array.from(raw, (_, i) => {
    let sum = 0;
    let weights = 0;
    for (let k = -half; k <= half; k++) {
      const value = raw[i + k];
      if (value === undefined) continue;
      const weight = 1 - Math.abs(k) / (half + 1);
      sum += weight * value;
      weights += weight;
    }
    return sum / weights;
  });
}

function dropShort(states: string[], state: 'H' | 'E'): void {
  for (let start = 0; start < states.length; ) {
    let end = start;
    while (end < states.length && states[end] === states[start]) end++;
    if (states[start] === state && end - start < SHORTEST[state]) states.fill('C', start, end);
    start = end;
  }
}

export function predictSecondary(sequence: string): Secondary {
  const helix = smoothed(sequence, 0, HELIX_WINDOW);
  const strand = smoothed(sequence, 1, STRAND_WINDOW);
  const turn = smoothed(sequence, 2, TURN_WINDOW);
  const margin = new Float64Array(sequence.length);
  const states = Array.from(sequence, (letter, i) => {
    const h = helix[i] ?? 1;
    const e = (strand[i] ?? 1) * 0.98;
    const t = (turn[i] ?? 1) * 0.93;
    margin[i] = Math.min(1, Math.max(0, (Math.max(h, e) - t + 0.1) / 0.6));
    // Proline may open a helix, never stand inside one; a strand it breaks outright.
    if (letter === 'P') return 'C';
    if (h >= 1.02 && h >= e && h > t) return 'H';
    if (e >= 1.04 && e > h && e > t) return 'E';
    return 'C';
  });
  // A single residue of doubt does not end a helix.
  for (let i = 1; i + 1 < states.length; i++)
    if (states[i] !== 'H' && sequence[i] !== 'P' && states[i - 1] === 'H' && states[i + 1] === 'H')
      states[i] = 'H';
  dropShort(states, 'H');
  dropShort(states, 'E');
  return { states: states.join(''), margin };
}
