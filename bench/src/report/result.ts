// The results of a measurement: tables of numbers and targets that were met or missed. Plain data;
// it is what the JSON file holds.
import type { Machine } from './machine.ts';

/** A column: what its numbers are and how many digits after the point are shown. */
export interface Column {
  readonly key: string;
  readonly title: string;
  readonly digits: number;
}

export interface Row {
  readonly who: string;
  readonly values: Readonly<Record<string, number | null>>;
}

export interface Table {
  readonly title: string;
  /** The question and how it is asked, in a sentence or two. */
  readonly note: string;
  readonly columns: readonly Column[];
  readonly rows: readonly Row[];
}

/** One demand of the issue on the numbers. */
export interface Target {
  readonly text: string;
  readonly measured: number;
  /** The 99 percent interval, where it was measured in pairs. */
  readonly interval?: readonly [low: number, high: number];
  readonly unit: string;
  readonly bound: { readonly least: number } | { readonly most: number };
}

export interface ScenarioResult {
  readonly name: string;
  readonly tables: readonly Table[];
  readonly targets: readonly Target[];
  /** The measurements that failed, and why. */
  readonly missing?: readonly string[];
}

/** The record that a run leaves behind. */
export interface Report {
  readonly machine: Machine;
  readonly quick: boolean;
  readonly results: readonly ScenarioResult[];
}

/**
 * Several runs as one: of a scenario that was measured again the last counts.
 *
 * @throws RangeError without a run
 */
export function joinReports(reports: readonly Report[]): Report {
  const last = reports.at(-1);
  if (last === undefined) throw new RangeError('There is no report.');
  const results = new Map(reports.flatMap((report) => report.results.map((result) => [result.name, result])));
  return { machine: last.machine, quick: reports.some(({ quick }) => quick), results: [...results.values()] };
}

export const isMet = ({ measured, bound }: Target): boolean =>
  'least' in bound ? measured >= bound.least : measured <= bound.most;
