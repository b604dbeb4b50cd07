// The values of a sequence's features on the wire: ranked or chosen features with their regions,
// the sparse protein-level vector, the sparse per-residue block.
import type { ConventionName } from '../wire/conventions.ts';
import { type ActiveRun, eachFeature, runsOfFeature } from './activations.ts';
import { describeFeature } from './feature-text.ts';
import { FEATURE_COUNT, proteinVector, type SparseVector, type Windows } from './features.ts';
import type { Rarity } from './rarity.ts';

/** Turns the strength of a feature (thousandths) into the value that is shown. */
export type Scale = (feature: number, strength: number) => number;

/** The form of a value on the wire. */
export const fourDecimals = (value: number): number => Math.round(value * 1e4) / 1e4;

/** Activation / max x idf, or the raw activation; four decimals. */
export const toScale = (rarity: Rarity, normalised: boolean): Scale =>
  normalised
    ? (f, strength) => fourDecimals(rarity.normalise(f, strength))
    : (_, strength) => strength / 1000;

/** One entry of `sae_features`. */
export interface FeatureEntry {
  readonly feature_index: number;
  readonly value: number;
  readonly label: string;
  readonly description: string;
  readonly residue_regions: readonly {
    start: number;
    end: number;
    peak_residue: number;
    mean_activation: number;
  }[];
}

function toRegion({ start, end, strengths }: ActiveRun, feature: number, scale: Scale) {
  const peak = strengths.indexOf(Math.max(...strengths));
  const total = strengths.reduce((sum, strength) => sum + scale(feature, strength), 0);
  return { start, end, peak_residue: start + peak, mean_activation: fourDecimals(total / strengths.length) };
}

function toEntry(windows: Windows, feature: number, value: number, scale: Scale): FeatureEntry {
  const { label, description } = describeFeature(feature);
  const residue_regions = runsOfFeature(windows, feature).map((run) => toRegion(run, feature, scale));
  return { feature_index: feature, value, label, description, residue_regions };
}

/**
 * The entries as the dialect has them: `end` of a region is the residue after the last, or the last
 * itself.
 */
export const spellRegions = (
  entries: readonly FeatureEntry[],
  conventions: ReadonlySet<ConventionName>,
): readonly FeatureEntry[] =>
  conventions.has('regionEndExcluded')
    ? entries
    : entries.map((entry) => ({
        ...entry,
        residue_regions: entry.residue_regions.map((region) => ({ ...region, end: region.end - 1 })),
      }));

/** The `count` features of greatest value, greatest first, of equals the lower index. */
export function rankFeatures(
  vector: SparseVector,
  count: number,
  scale: Scale,
): { feature: number; value: number }[] {
  return Array.from(vector.features, (feature, n) => ({
    feature,
    value: scale(feature, vector.strengths[n] ?? 0),
  }))
    .sort((a, b) => b.value - a.value)
    .slice(0, count);
}

/** The top features with their regions. */
export const topFeatures = (windows: Windows, count: number, scale: Scale): FeatureEntry[] =>
  rankFeatures(proteinVector(windows), count, scale).map(({ feature, value }) =>
    toEntry(windows, feature, value, scale),
  );

/**
 * Exactly these features in this order: 0 where inactive, none for a number that is not in the
 * catalogue.
 */
export function chosenFeatures(windows: Windows, indices: readonly number[], scale: Scale): FeatureEntry[] {
  const { features, strengths } = proteinVector(windows);
  return indices
    .filter((feature) => feature >= 0 && feature < FEATURE_COUNT)
    .map((feature) => {
      const at = features.indexOf(feature);
      return toEntry(windows, feature, at < 0 ? 0 : scale(feature, strengths[at] ?? 0), scale);
    });
}

/** `{"shape":[16384],"indices":[[…]],"values":[…]}` as JSON text. */
export function proteinLevelJson(vector: SparseVector, scale: Scale): string {
  const values = Array.from(vector.features, (feature, n) => scale(feature, vector.strengths[n] ?? 0));
  return `{"shape":[${FEATURE_COUNT}],"indices":[[${vector.features.join(',')}]],"values":[${values.join(',')}]}`;
}

/**
 * `{"shape":[L,16384],"indices":[[residue…],[feature…]],"values":[…]}` as JSON text, by residue and
 * then by feature.
 */
export function perResidueJson(windows: Windows, length: number, scale: Scale): string {
  const features: string[][] = Array.from({ length }, () => []);
  const values: string[][] = Array.from({ length }, () => []);
  eachFeature(windows, (feature, runs) => {
    const name = String(feature);
    let lastStrength = -1;
    let lastText = '';
    for (const { start, strengths } of runs)
      for (const [k, strength] of strengths.entries()) {
        if (strength !== lastStrength) {
          lastText = String(scale(feature, strength));
          lastStrength = strength;
        }
        features[start + k]?.push(name);
        values[start + k]?.push(lastText);
      }
  });
  const residues = features.map((row, r) => `${r},`.repeat(row.length)).join('');
  const flat = (rows: string[][]): string => rows.filter((row) => row.length > 0).join(',');
  return `{"shape":[${length},${FEATURE_COUNT}],"indices":[[${residues.slice(0, -1)}],[${flat(features)}]],"values":[${flat(values)}]}`;
}
