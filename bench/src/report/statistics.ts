// Middles, shares and intervals of lists of numbers. Pure.

/** The value below which a share of the numbers lies, by the nearest rank; NaN of nothing. */
export function percentile(numbers: readonly number[], share: number): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil(share * sorted.length) - 1))] ?? Number.NaN;
}

/** The middle; of an even number of values the mean of both. */
export function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  const half = sorted.length / 2;
  if (sorted.length === 0) return Number.NaN;
  return sorted.length % 2 === 1
    ? (sorted[Math.floor(half)] ?? Number.NaN)
    : ((sorted[half - 1] ?? 0) + (sorted[half] ?? 0)) / 2;
}

/** The order of a round: everybody is first once. */
export const rotated = <T>(list: readonly T[], round: number): T[] => [
  ...list.slice(round % list.length),
  ...list.slice(0, round % list.length),
];

/** Student's t for a two-sided interval of 99 percent, for 1 to 30 degrees of freedom. */
const T_99 = [
  63.657, 9.925, 5.841, 4.604, 4.032, 3.707, 3.499, 3.355, 3.25, 3.169, 3.106, 3.055, 3.012, 2.977, 2.947,
  2.921, 2.898, 2.878, 2.861, 2.845, 2.831, 2.819, 2.807, 2.797, 2.787, 2.779, 2.771, 2.763, 2.756, 2.75,
];

/** The geometric mean of ratios with its 99 percent interval; of fewer than two ratios NaN. */
export function ratioInterval(ratios: readonly number[]): { middle: number; low: number; high: number } {
  const logs = ratios.map(Math.log);
  const { length } = logs;
  const mean = logs.reduce((sum, log) => sum + log, 0) / length;
  const variance = logs.reduce((sum, log) => sum + (log - mean) ** 2, 0) / (length - 1);
  const t = T_99[Math.min(length - 1, T_99.length) - 1] ?? Number.NaN;
  const half = t * Math.sqrt(variance / length);
  return { middle: Math.exp(mean), low: Math.exp(mean - half), high: Math.exp(mean + half) };
}
