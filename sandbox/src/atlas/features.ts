// The one definition of a feature and of its activation, from which regions, values, statistics and
// similarity all derive.
//
// Feature number = spacing x 4096 + pattern. The pattern is four residue classes (base 8, first
// position highest); the spacing says how far apart the four stand. A window of a sequence that
// spells the pattern has as its strength the sum of how typical its four residues are (thousandths,
// at most 4000), and counts when the strength reaches the feature's threshold. The activation of a
// residue is the strength of the strongest window over it: all of it on the four positions, half of
// it between them. The activation of a protein is that of its most active residue.
import { RESIDUE_CLASSES, toClass, toTypicality } from './residue-classes.ts';

/** How the four positions of a pattern stand along the chain. */
export interface Spacing {
  readonly name: string;
  readonly offsets: readonly [number, number, number, number];
}

/**
 * Patterns in feature order. The longest reaches seven residues on, so at most 4 + 7 + 8 + 7 = 26
 * features touch one residue.
 */
const SPACINGS: readonly Spacing[] = [
  { name: 'contiguous', offsets: [0, 1, 2, 3] },
  { name: 'strand face', offsets: [0, 2, 4, 6] },
  { name: 'helix face', offsets: [0, 3, 4, 7] },
  { name: 'paired turn', offsets: [0, 1, 5, 6] },
];

const PATTERNS = 8 ** 4;

/** How many features there are: 16,384. */
export const FEATURE_COUNT = PATTERNS * SPACINGS.length;

/** The pattern that a feature looks for. */
export interface FeaturePattern {
  readonly spacing: Spacing;
  readonly spacingIndex: number;
  /** Four class indices. */
  readonly classes: readonly [number, number, number, number];
}

/** The pattern of a feature. */
export function toPattern(feature: number): FeaturePattern {
  const spacingIndex = Math.floor(feature / PATTERNS);
  const spacing = SPACINGS[spacingIndex];
  if (spacing === undefined || feature < 0 || !Number.isInteger(feature))
    throw new RangeError(`no feature ${feature}`);
  const digit = (shift: number): number => (feature >> shift) & 7;
  return { spacing, spacingIndex, classes: [digit(9), digit(6), digit(3), digit(0)] };
}

/** Commoner patterns must be spelled in more typical residues: 3.6 to 3.85 on the scale of 4. */
const THRESHOLDS = Uint16Array.from({ length: FEATURE_COUNT }, (_, feature) => {
  const expected = toPattern(feature).classes.reduce((p, c) => p * (RESIDUE_CLASSES[c]?.share ?? 0), 1);
  return Math.round(Math.min(3850, Math.max(3600, 3750 + 50 * Math.log2(expected * PATTERNS))));
});

/** The weakest window of that feature that still counts, in thousandths. */
export const toThreshold = (feature: number): number => THRESHOLDS[feature] ?? 0;

/** The counting windows of a sequence, ordered by feature and then by start (0-based). */
export interface Windows {
  readonly count: number;
  readonly features: Uint16Array;
  readonly starts: Uint32Array;
  /** Thousandths. */
  readonly strengths: Uint16Array;
}

/**
 * Room to sort in, kept from one sequence to the next: growing a universe asks for it thousands of
 * times.
 */
let room = new Float64Array(4096);

/** Finds every counting window of a sequence (upper case, any length). */
export function findWindows(sequence: string): Windows {
  const length = sequence.length;
  const classes = new Int8Array(length);
  const typical = new Uint16Array(length);
  for (let i = 0; i < length; i++) {
    const code = sequence.charCodeAt(i);
    classes[i] = toClass(code);
    typical[i] = toTypicality(code);
  }
  // Feature, start and strength packed into one double (14 + 27 + 12 bits), so that one numeric
  // sort orders them.
  if (room.length < SPACINGS.length * length) room = new Float64Array(SPACINGS.length * length);
  const packed = room;
  let count = 0;
  for (const [spacing, { offsets }] of SPACINGS.entries()) {
    const [, b, c, d] = offsets;
    for (let i = 0; i + d < length; i++) {
      const c0 = classes[i] ?? -1;
      const c1 = classes[i + b] ?? -1;
      const c2 = classes[i + c] ?? -1;
      const c3 = classes[i + d] ?? -1;
      if ((c0 | c1 | c2 | c3) < 0) continue;
      const feature = spacing * PATTERNS + (c0 << 9) + (c1 << 6) + (c2 << 3) + c3;
      const strength =
        (typical[i] ?? 0) + (typical[i + b] ?? 0) + (typical[i + c] ?? 0) + (typical[i + d] ?? 0);
      if (strength < toThreshold(feature)) continue;
      packed[count++] = (feature * 2 ** 27 + i) * 2 ** 12 + strength;
    }
  }
  const order = packed.subarray(0, count).sort();
  const features = new Uint16Array(count);
  const starts = new Uint32Array(count);
  const strengths = new Uint16Array(count);
  for (let n = 0; n < count; n++) {
    const word = order[n] ?? 0;
    const place = Math.floor(word / 2 ** 12);
    const feature = Math.floor(place / 2 ** 27);
    // The remainders by multiplying: `%` of doubles is a division in software, and there are
    // millions of windows.
    strengths[n] = word - place * 2 ** 12;
    features[n] = feature;
    starts[n] = place - feature * 2 ** 27;
  }
  return { count, features, starts, strengths };
}

/** Features of a whole protein: ascending numbers with the activation of each in thousandths. */
export interface SparseVector {
  readonly features: Uint16Array;
  readonly strengths: Uint16Array;
}

/** The activation of the protein for every feature that it has. */
export function proteinVector(windows: Windows): SparseVector {
  const features = new Uint16Array(windows.count);
  const strengths = new Uint16Array(windows.count);
  let size = 0;
  for (let n = 0; n < windows.count; n++) {
    const feature = windows.features[n] ?? 0;
    const strength = windows.strengths[n] ?? 0;
    if (size > 0 && features[size - 1] === feature) {
      strengths[size - 1] = Math.max(strengths[size - 1] ?? 0, strength);
    } else {
      features[size] = feature;
      strengths[size++] = strength;
    }
  }
  return { features: features.slice(0, size), strengths: strengths.slice(0, size) };
}
