// Finds out what `end` of residue regions means: some deployments send the last residue, others the
// one after it, and the contract does not say. The gateway uses the residue after the last.
import type { SparseMatrix } from '../archive/bulk-record.ts';
import { drifted } from '../http/validate-response.ts';
import { rowsOf } from '../proteins/activations.ts';
import type { FeatureValue } from '../wire.ts';

/** Whether the residue at `end` belongs to the region. */
export type RegionEnd = 'included' | 'excluded';

interface Evidence {
  /** Residues of the sequence. */
  readonly length?: number | null | undefined;
  /** Activations along the sequence; read only where the regions do not show it. */
  readonly activations?: () => SparseMatrix | undefined;
}

/** By the settings of an upstream, of which a process has one for each. */
const proven = new WeakMap<object, RegionEnd>();

export const provenRegionEnd = (settings: object): RegionEnd | undefined => proven.get(settings);

/** A region holds its start and its peak, and none reaches behind the sequence. */
function shownByRegions(values: readonly FeatureValue[], { length }: Evidence): RegionEnd | undefined {
  let shown: RegionEnd | undefined;
  for (const { residue_regions: regions } of values)
    for (const { start, end, peak_residue: peak } of regions ?? []) {
      if (end === start || end === peak) return 'included';
      if (end === length) shown = 'excluded';
    }
  return shown;
}

/** The last residue of a region is active. */
function shownByActivations(
  values: readonly FeatureValue[],
  { activations }: Evidence,
): RegionEnd | undefined {
  const matrix = activations?.();
  if (matrix === undefined) return undefined;
  const rows = rowsOf(
    matrix,
    values.map(({ feature_index: index }) => index),
  );
  let shown: RegionEnd | undefined;
  for (const { feature_index: index, residue_regions: regions } of values) {
    const row = rows.get(index);
    const active = new Set(row?.residues.filter((_, i) => row.values[i] !== 0));
    for (const { end } of regions ?? []) {
      if (active.has(end)) shown = 'included';
      else if (active.has(end - 1)) return 'excluded';
    }
  }
  return shown;
}

/**
 * Finds out what `end` means in one answer: from the regions, from earlier proof, from activations.
 * Proof is stored. An active residue at every `end` is no proof, since a region may leave weak
 * residues out.
 *
 * @returns undefined where nothing shows it
 */
export function findRegionEnd(
  settings: object,
  values: readonly FeatureValue[],
  evidence: Evidence,
): RegionEnd | undefined {
  const shown = shownByRegions(values, evidence);
  if (shown !== undefined) proven.set(settings, shown);
  const known = shown ?? proven.get(settings);
  if (known !== undefined) return known;
  const seen = shownByActivations(values, evidence);
  if (seen === 'excluded') proven.set(settings, seen);
  return seen;
}

/**
 * The features with the residue after the last as `end` of each region.
 *
 * @param end - its meaning in the answer; the residue after the last when unknown
 * @throws UpstreamError UPSTREAM_DRIFT for a region without its own peak or beyond the sequence
 */
export function normalizeRegions(
  operation: string,
  path: string,
  values: readonly FeatureValue[],
  end: RegionEnd | undefined,
  { length }: Evidence,
): FeatureValue[] {
  const offset = end === 'included' ? 1 : 0;
  return values.map((value, i) => {
    const { residue_regions: regions } = value;
    if (regions == null || regions.length === 0) return value;
    const normalized = regions.map((region, k) => {
      const { start, peak_residue: peak } = region;
      const after = region.end + offset;
      if (start <= peak && peak < after && after <= (length ?? after)) return { ...region, end: after };
      throw drifted(
        operation,
        `${path}.${i}.residue_regions.${k}`,
        `expected a region of the sequence around its peak, seen ${JSON.stringify(region)}`,
      );
    });
    return { ...value, residue_regions: normalized };
  });
}

/** The same without regions, for an answer that does not tell what their `end` is. */
export const omitRegions = (values: readonly FeatureValue[]): FeatureValue[] =>
  values.map(({ residue_regions: _, ...value }) => value);
