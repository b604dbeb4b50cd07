/**
 * The colours of the thumbnails, and the rule from number to colour. Knows neither geometry nor
 * pixels.
 */

export type Rgb = readonly [number, number, number];

const rgb = (hex: string): Rgb => [
  Number.parseInt(hex.slice(0, 2), 16),
  Number.parseInt(hex.slice(2, 4), 16),
  Number.parseInt(hex.slice(4, 6), 16),
];

/**
 * The usual four bands of pLDDT: very high from 0.9, confident from 0.7, low from 0.5, very low
 * below.
 */
const BANDS: readonly (readonly [number, Rgb])[] = [
  [0.9, rgb('0053D6')],
  [0.7, rgb('65CBF3')],
  [0.5, rgb('FFDB13')],
  [Number.NEGATIVE_INFINITY, rgb('FF7D45')],
];

export function plddtColour(plddt: number): Rgb {
  const band = BANDS.find(([from]) => plddt >= from);
  return band ? band[1] : rgb('FF7D45');
}

/**
 * A sequential scale, even in lightness and readable to the colour-blind (viridis at five points).
 */
const SCALE: readonly Rgb[] = ['440154', '3B528B', '21918C', '5EC962', 'FDE725'].map(rgb);

/** @param percent share characterised, 0 (dark violet) to 100 (yellow) */
export function shareColour(percent: number): Rgb {
  const at = (Math.min(100, Math.max(0, percent)) / 100) * (SCALE.length - 1);
  const low = SCALE[Math.floor(at)] ?? rgb('440154');
  const high = SCALE[Math.ceil(at)] ?? low;
  const t = at - Math.floor(at);
  return [0, 1, 2].map((k) => (low[k] ?? 0) * (1 - t) + (high[k] ?? 0) * t) as [number, number, number];
}
