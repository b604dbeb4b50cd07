/**
 * How sure the stand-in is of a chain: pLDDT per residue from the sequence alone, the aligned error
 * it implies between two residues of the chain, and pTM from those errors.
 */
import { hashText } from './random.ts';
import { predictSecondary } from './secondary.ts';

/** TOP-IDP-like order: positive letters favour a folded state, negative ones disorder. */
const ORDER: Readonly<Record<string, number>> = {
  W: 1, F: 0.9, Y: 0.75, I: 0.85, M: 0.5, L: 0.7, V: 0.7, C: 0.55, N: -0.15, T: 0, A: 0.1, G: -0.15, R: -0.15, D: -0.3,
  H: 0, Q: -0.35, S: -0.4, K: -0.4, E: -0.4, P: -0.75,
}; // biome-ignore format: one screen

export interface Confidence {
  /** H, E or C per residue. */
  secondary: string;
  /** Per residue, 0 to 1, three decimals. */
  plddt: number[];
  meanPlddt: number;
  ptm: number;
}

const clamp = (x: number, low: number, high: number): number => Math.min(high, Math.max(low, x));
export const round = (x: number, digits: number): number => {
  const power = 10 ** digits;
  return Math.round(x * power) / power;
};

function windowMean(values: ArrayLike<number>, half: number): Float64Array {
  const sums = new Float64Array(values.length + 1);
  for (let i = 0; i < values.length; i++) sums[i + 1] = (sums[i] ?? 0) + (values[i] ?? 0);
  const means = new Float64Array(values.length);
  for (let i = 0; i < values.length; i++) {
    const start = Math.max(0, i - half);
    const end = Math.min(values.length, i + half + 1);
    means[i] = ((sums[end] ?? 0) - (sums[start] ?? 0)) / (end - start);
  }
  return means;
}

/**
 * Shannon entropy of the letters around each residue over that of a varied window: low means
 * repetitive.
 */
function complexity(sequence: string, half: number): Float64Array {
  const n = sequence.length;
  const counts = new Int32Array(128);
  const count = (i: number, change: number): void => {
    const letter = sequence.charCodeAt(i) & 127;
    counts[letter] = (counts[letter] ?? 0) + change;
  };
  const entropies = new Float64Array(n);
  for (let i = 0; i < Math.min(half, n); i++) count(i, 1);
  for (let i = 0; i < n; i++) {
    if (i + half < n) count(i + half, 1);
    if (i - half > 0) count(i - half - 1, -1);
    const size = Math.min(n, i + half + 1) - Math.max(0, i - half);
    let entropy = 0;
    for (let letter = 65; letter <= 90; letter++) {
      const share = (counts[letter] ?? 0) / size;
      if (share > 0) entropy -= share * Math.log2(share);
    }
    entropies[i] = Math.min(1, entropy / 3.1);
  }
  return entropies;
}

/**
 * pLDDT of every residue: high in clear helices and strands of ordered letters, low in loops, in
 * repetitive stretches and at charged ends.
 */
function computePlddt(sequence: string, states: string, margin: Float64Array): number[] {
  const n = sequence.length;
  const order = windowMean(
    Array.from(sequence, (letter) => ORDER[letter] ?? -0.3),
    9,
  );
  const varied = complexity(sequence, 8);
  const structured = windowMean(
    Array.from(states, (state) => (state === 'C' ? 0 : 1)),
    10,
  );
  // A chain's own level: two unrelated proteins of like composition are not equally well predicted.
  const level = 0.06 * (hashText(sequence) / 4294967296 - 0.5);
  const raw = Array.from(sequence, (letter, i) => {
    const toEnd = Math.min(i, n - 1 - i);
    const end = toEnd < 6 ? (6 - toEnd) * 0.035 : 0;
    const state = states[i] === 'C' ? 0 : 0.07 + 0.06 * (margin[i] ?? 0);
    const wobble = 0.03 * (hashText(sequence.slice(Math.max(0, i - 3), i + 4)) / 4294967296 - 0.5);
    const low = Math.max(0, 0.8 - (varied[i] ?? 1)) * 0.9;
    const x =
      0.74 + level + 0.62 * (order[i] ?? 0) + 0.14 * (structured[i] ?? 0) + state + wobble - low - end -
      (letter === 'G' || letter === 'P' ? 0.02 : 0); // biome-ignore format: one sum
    // Soft ceiling and floor, so that a good region varies instead of sticking at one number.
    return x > 0.86
      ? 0.86 + 0.125 * (1 - Math.exp(-(x - 0.86) / 0.125))
      : x < 0.4
        ? 0.4 - 0.16 * (1 - Math.exp((x - 0.4) / 0.16))
        : x;
  });
  return Array.from(windowMean(raw, 2), (x) => round(clamp(x, 0.2, 0.99), 3));
}

/** The d0 of the TM-score (Zhang and Skolnick 2004), as pTM uses it: 19 residues at least. */
export const tmScale = (length: number): number => 1.24 * Math.cbrt(Math.max(length, 19) - 15) - 1.8;

/** The share of one aligned error in pTM. */
export const tmTerm = (error: number, d0: number): number => 1 / (1 + (error / d0) ** 2);

/** The error of one residue's own place, in ångström, from its pLDDT (0 to 1). */
export const ownError = (plddt: number): number => 0.4 + 9 * (1 - plddt) ** 1.6;

/**
 * Running sums of flexibility along a chain: what lies between two residues loosens one against the
 * other.
 */
export function flexibility(plddt: ArrayLike<number>): Float64Array {
  const sums = new Float64Array(plddt.length + 1);
  for (let i = 0; i < plddt.length; i++) {
    const soft = Math.max(0, 0.8 - (plddt[i] ?? 0));
    sums[i + 1] = (sums[i] ?? 0) + 2.2 * soft * soft + 0.0025;
  }
  return sums;
}

/**
 * How much of its error a residue has so many residues away from the one that the chain is aligned
 * on.
 */
const nearness = (apart: number): number => 1 - Math.exp(-apart / 6);

function computeError(near: number, ownI: number, ownJ: number, between: number): number {
  const own = 0.35 * ownI + 0.75 * ownJ;
  return Math.min(31.75, 0.3 + near * (own + 20 * (1 - Math.exp(-between / 2.4))));
}

/** Expected aligned error of j when the chain is aligned on i, in ångström, at most 31.75. */
export function chainError(plddt: ArrayLike<number>, loose: Float64Array, i: number, j: number): number {
  if (i === j) return 0.25;
  const between = Math.abs((loose[j] ?? 0) - (loose[i] ?? 0));
  return computeError(nearness(Math.abs(i - j)), ownError(plddt[i] ?? 0), ownError(plddt[j] ?? 0), between);
}

/** pTM of a chain from its expected errors: the best alignment residue's mean TM term. */
function computePtm(plddt: readonly number[]): number {
  const n = plddt.length;
  const d0 = tmScale(n);
  const loose = flexibility(plddt);
  const own = Float64Array.from(plddt, ownError);
  const near = Float64Array.from(plddt, (_, apart) => nearness(apart));
  const stride = Math.max(1, Math.floor(n / 64));
  let best = 0;
  for (let i = 0; i < n; i += stride) {
    const ownI = own[i] ?? 0;
    const looseI = loose[i] ?? 0;
    let sum = 0;
    for (let j = 0; j < n; j++) {
      const between = Math.abs((loose[j] ?? 0) - looseI);
      const error = i === j ? 0.25 : computeError(near[Math.abs(i - j)] ?? 0, ownI, own[j] ?? 0, between);
      sum += tmTerm(error, d0);
    }
    best = Math.max(best, sum / n);
  }
  return round(best, 4);
}

/** Everything about a chain that needs no coordinates; cheap enough for thousands of chains. */
export function predictConfidence(sequence: string): Confidence {
  const { states, margin } = predictSecondary(sequence);
  const plddt = computePlddt(sequence, states, margin);
  const mean = plddt.reduce((sum, x) => sum + x, 0) / Math.max(1, plddt.length);
  return { secondary: states, plddt, meanPlddt: round(mean, 4), ptm: computePtm(plddt) };
}
