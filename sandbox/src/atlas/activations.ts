// Where along a sequence each feature is active: the per-residue side of the definition in
// features.ts, and the regions read off it.
import { toPattern, type Windows } from './features.ts';

/** A run of residues over which a feature is active: 0-based, half-open, thousandths. */
export interface ActiveRun {
  readonly start: number;
  readonly end: number;
  /** Activation of each residue from start on. */
  readonly strengths: Uint16Array;
}

/** Half of a window's strength, for the residues between its four positions. */
const between = (strength: number): number => strength >> 1;

/** The runs made by the windows `from` to `to` (half-open), which all belong to one feature. */
function findRuns(windows: Windows, from: number, to: number): ActiveRun[] {
  const { offsets } = toPattern(windows.features[from] ?? 0).spacing;
  const span = offsets[3] + 1;
  const runs: ActiveRun[] = [];
  for (let first = from; first < to; ) {
    const start = windows.starts[first] ?? 0;
    let end = start + span;
    let last = first + 1;
    // Windows that touch or overlap make one run: no inactive residue stands between them.
    while (last < to && (windows.starts[last] ?? 0) <= end) end = (windows.starts[last++] ?? 0) + span;
    const strengths = new Uint16Array(end - start);
    for (let n = first; n < last; n++) {
      const at = (windows.starts[n] ?? 0) - start;
      const strength = windows.strengths[n] ?? 0;
      for (let k = 0; k < span; k++) {
        const value = offsets.includes(k) ? strength : between(strength);
        if (value > (strengths[at + k] ?? 0)) strengths[at + k] = value;
      }
    }
    runs.push({ start, end, strengths });
    first = last;
  }
  return runs;
}

/** Calls `visit` for every active feature in ascending order, with its runs along the sequence. */
export function eachFeature(windows: Windows, visit: (feature: number, runs: ActiveRun[]) => void): void {
  for (let from = 0; from < windows.count; ) {
    const feature = windows.features[from] ?? 0;
    let to = from + 1;
    while (to < windows.count && windows.features[to] === feature) to++;
    visit(feature, findRuns(windows, from, to));
    from = to;
  }
}

/** The runs of one feature; none where it is not active. */
export function runsOfFeature(windows: Windows, feature: number): ActiveRun[] {
  const from = windows.features.indexOf(feature);
  return from < 0 ? [] : findRuns(windows, from, windows.features.lastIndexOf(feature) + 1);
}
