// Residue regions end with the residue after their last. Some deployments send the last residue
// itself, and the contract does not say: the answer shows it.
import type { SparseMatrix } from '../archive/sparse-activations.ts';
import { drifted } from '../http/validate-response.ts';
import type { FeatureValue } from '../wire.ts';
import { selectRows } from './activations.ts';

/** Evidence beside the regions for the meaning of `end`. */
interface Evidence {
  /** Residues of the sequence. */
  readonly length?: number | undefined;
  /** Activations along the sequence; read only where the regions do not show it. */
  readonly activations?: () => SparseMatrix | undefined;
}

/** Whether `end` is the last residue of a region; undefined where nothing shows it. */
export function isEndIncluded(values: readonly FeatureValue[], evidence: Evidence): boolean | undefined {
  return shownByRegions(values, evidence) ?? shownByActivations(values, evidence);
}

/** A region holds its start and its peak, and none reaches behind the sequence. */
function shownByRegions(values: readonly FeatureValue[], { length }: Evidence): boolean | undefined {
  const regions = values.flatMap((value) => value.residue_regions ?? []);
  if (regions.some(({ start, end, peak_residue: peak }) => end === start || end === peak)) return true;
  return regions.some(({ end }) => end === length) ? false : undefined;
}

/** The last residue of a region is active. */
function shownByActivations(values: readonly FeatureValue[], { activations }: Evidence): boolean | undefined {
  const matrix = activations?.();
  if (matrix === undefined) return undefined;
  const wanted = values.map(({ feature_index: index }) => index);
  const rows = selectRows(matrix, wanted);
  let shown: boolean | undefined;
  for (const { feature_index: index, residue_regions: regions } of values) {
    const row = rows.get(index);
    const active = new Set(row?.residues.filter((_, i) => row.values[i] !== 0));
    for (const { end } of regions ?? []) {
      if (active.has(end)) shown = true;
      else if (active.has(end - 1)) return false;
    }
  }
  return shown;
}

/**
 * The features with the residue after the last as `end` of each region.
 *
 * @throws UpstreamError UPSTREAM_DRIFT for a region without its own peak or beyond the sequence
 */
export function readRegions(
  operation: string,
  path: string,
  values: readonly FeatureValue[],
  evidence: Evidence,
): FeatureValue[] {
  const { length } = evidence;
  const offset = isEndIncluded(values, evidence) === true ? 1 : 0;
  return values.map((value, i) => {
    const { residue_regions: regions } = value;
    if (regions == null || regions.length === 0) return value;
    const read = regions.map((region, k) => {
      const { start, peak_residue: peak } = region;
      const end = region.end + offset;
      if (start <= peak && peak < end && end <= (length ?? end)) return { ...region, end };
      throw drifted(
        operation,
        `${path}.${i}.residue_regions.${k}`,
        `expected a region of the sequence around its peak, seen ${JSON.stringify(region)}`,
      );
    });
    return { ...value, residue_regions: read };
  });
}

/** The same without regions, for an answer that does not show what their `end` is. */
export const omitRegions = (values: readonly FeatureValue[]): FeatureValue[] =>
  values.map(({ residue_regions: _, ...value }) => value);
