// The feature definition of sandbox/src/atlas/README.md, written down a second time in the slowest
// and plainest way, to compare with. It imports nothing of the sandbox.
const CLASSES = ['LM', 'IV', 'FYW', 'KRH', 'EDQN', 'ST', 'AG', 'PC'];
const TYPICAL: Record<string, number> = {
  M: 850,
  V: 900,
  Y: 900,
  W: 850,
  R: 950,
  H: 850,
  D: 950,
  Q: 900,
  N: 900,
  T: 950,
  G: 900,
  C: 900,
};
const OFFSETS = [
  [0, 1, 2, 3],
  [0, 2, 4, 6],
  [0, 3, 4, 7],
  [0, 1, 5, 6],
];

/**
 * Activation of every residue for every feature that is active there: "residue feature" to
 * thousandths.
 */
export function naiveActivations(
  sequence: string,
  threshold: (feature: number) => number,
): Map<string, number> {
  const found = new Map<string, number>();
  for (const [spacing, offsets] of OFFSETS.entries())
    for (let start = 0; start < sequence.length; start++) {
      const letters = offsets.map((offset) => sequence[start + offset] ?? '-');
      const digits = letters.map((letter) => CLASSES.findIndex((one) => one.includes(letter)));
      if (digits.includes(-1)) continue;
      const feature = spacing * 4096 + Number.parseInt(digits.join(''), 8);
      const strength = letters.reduce((sum, letter) => sum + (TYPICAL[letter] ?? 1000), 0);
      if (strength < threshold(feature)) continue;
      for (let residue = start; residue <= start + (offsets[3] ?? 0); residue++) {
        const value = offsets.includes(residue - start) ? strength : Math.floor(strength / 2);
        const key = `${residue} ${feature}`;
        found.set(key, Math.max(found.get(key) ?? 0, value));
      }
    }
  return found;
}

/** Maximal runs of active residues of one feature. */
export function naiveRegions(activations: Map<string, number>, feature: number, length: number) {
  const regions: { start: number; end: number; values: number[] }[] = [];
  for (let residue = 0; residue < length; residue++) {
    const value = activations.get(`${residue} ${feature}`);
    if (value === undefined) continue;
    const last = regions.at(-1);
    if (last?.end === residue) {
      last.end++;
      last.values.push(value);
    } else regions.push({ start: residue, end: residue + 1, values: [value] });
  }
  return regions;
}

/** Cosine of two sparse vectors. */
export function cosine(a: Map<number, number>, b: Map<number, number>): number {
  let dot = 0;
  for (const [key, value] of a) dot += value * (b.get(key) ?? 0);
  const norm = (v: Map<number, number>): number =>
    Math.sqrt([...v.values()].reduce((sum, x) => sum + x * x, 0));
  return dot === 0 ? 0 : dot / (norm(a) * norm(b));
}

/**
 * Share of identical residues in a global alignment (match 1, mismatch and gap -1), over the longer
 * sequence.
 */
export function identity(a: string, b: string): number {
  // Score and number of matches in one number: the score decides, the matches ride along.
  const unit = 2 ** 20;
  let row = Float64Array.from({ length: b.length + 1 }, (_, j) => -j * unit);
  for (let i = 0; i < a.length; i++) {
    const next = new Float64Array(b.length + 1);
    next[0] = -(i + 1) * unit;
    for (let j = 1; j <= b.length; j++) {
      const diagonal = (row[j - 1] ?? 0) + (a[i] === b[j - 1] ? unit + 1 : -unit);
      next[j] = Math.max(diagonal, (row[j] ?? 0) - unit, (next[j - 1] ?? 0) - unit);
    }
    row = next;
  }
  const total = row.at(-1) ?? 0;
  return (total - Math.floor(total / unit) * unit) / Math.max(a.length, b.length);
}
