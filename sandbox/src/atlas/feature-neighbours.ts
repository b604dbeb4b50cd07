// Finds the features that look most like a feature: nearest neighbours by the cosine of their
// decoder vectors. The vector says, for each of eight offsets along the chain, which class the
// pattern asks for there (1) and which properties of that class come with it (0.6 each:
// hydrophobic, basic, acidic or amide).
import { FEATURE_COUNT, type FeaturePattern, toPattern } from './features.ts';
import { RESIDUE_CLASSES, type ResidueClass } from './residue-classes.ts';

const PROPERTY = 0.6 ** 2;

/** Dot product of what two classes put at the same offset. */
function sharedBy(a: ResidueClass, b: ResidueClass): number {
  const same = a === b ? 1 : 0;
  const greasy = a.hydrophobic && b.hydrophobic ? PROPERTY : 0;
  return same + greasy + (a.charge !== 0 && a.charge === b.charge ? PROPERTY : 0);
}

/** The same for class indices: 8 x 8. */
const SHARED = RESIDUE_CLASSES.flatMap((a) => RESIDUE_CLASSES.map((b) => sharedBy(a, b)));
const shared = (a: number, b: number): number => SHARED[a * RESIDUE_CLASSES.length + b] ?? 0;

const PATTERNS = Array.from({ length: FEATURE_COUNT }, (_, feature) => toPattern(feature));

const norm = ({ classes }: FeaturePattern): number =>
  Math.sqrt(classes.reduce((sum, c) => sum + shared(c, c), 0));
const NORMS = Float64Array.from(PATTERNS, norm);

function dot(a: FeaturePattern, b: FeaturePattern): number {
  let sum = 0;
  for (let i = 0; i < 4; i++)
    for (let j = 0; j < 4; j++)
      if (a.spacing.offsets[i] === b.spacing.offsets[j]) sum += shared(a.classes[i] ?? 0, b.classes[j] ?? 0);
  return sum;
}

/** The `count` most similar other features, nearest first; of equals the lower index. */
export function nearestFeatures(feature: number, count: number): number[] {
  const own = toPattern(feature);
  const nearest: { other: number; score: number }[] = [];
  for (const [other, pattern] of PATTERNS.entries()) {
    if (other === feature) continue;
    // Rounded, so that equal cosines are equal however they were summed.
    const score = Math.round((dot(own, pattern) / ((NORMS[feature] ?? 1) * (NORMS[other] ?? 1))) * 1e9);
    const weakest = nearest[count - 1]?.score ?? -1;
    if (nearest.length === count && score <= weakest) continue;
    const place = nearest.findIndex((kept) => kept.score < score);
    nearest.splice(place < 0 ? nearest.length : place, 0, { other, score });
    nearest.length = Math.min(nearest.length, count);
  }
  return nearest.map(({ other }) => other);
}
