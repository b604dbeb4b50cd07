// What is known of one protein, gathered from whichever answers spoke of it. Undefined means not asked, null means
// asked and absent. Pure; it makes no call and reads no wire format.
import type { LateText } from '../late-text.ts';
import type { FeatureRow, LevelSource } from './activations.ts';
import type { ReadRecord } from './atlas.ts';
import type { HadNeeds } from './protein-needs.ts';
import type { ClusterInfo, FeatureValue } from './wire.ts';

/** Where the data came from and when. */
export interface Source {
  readonly operation: string;
  readonly retrievedAt: Date;
  readonly fromCache: boolean;
  readonly requestId: string | undefined;
}

/** A predicted structure; pLDDT on 0 to 1 as it came. */
export interface StructureData {
  /** Empty when the answer gave the scores without the coordinates. Reading it may unpack it: ask `hasCoordinates` first. */
  readonly pdb: string;
  /** The same for whoever writes it out, where it lies packed. */
  readonly file?: () => LateText;
  /** Bytes of `pdb`, about, where they are known without unpacking it. */
  readonly size?: number;
  /** Bytes that are held for its sake, where that is more than itself. */
  readonly held?: number;
  readonly ptm: number | null;
  readonly meanPlddt: number | null;
  readonly plddt: readonly (number | null)[];
}

/** Whether there is more than scores. */
export const hasCoordinates = (structure: StructureData): boolean =>
  structure.size === undefined ? structure.pdb !== '' : structure.size > 0;

/** Activations along the sequence that are kept. */
export interface RowsData {
  /** All of that many top features are in `rows`. */
  readonly top: number;
  readonly rows: ReadonlyMap<number, FeatureRow>;
}

export interface ProteinData {
  readonly hash: string;
  /** Undefined: nobody has said so far. */
  readonly exists: boolean | undefined;
  readonly sequence?: string | null;
  readonly length?: number | null;
  readonly accession?: string | null;
  readonly source?: string | null;
  readonly name?: string | null;
  readonly structure?: StructureData | null;
  /** The scores of the structure, where an answer gave them without it. */
  readonly scores?: Pick<StructureData, 'ptm' | 'meanPlddt'>;
  /** `representative` is null where the answer named none; `settled` says that the bulk answer was asked. */
  readonly cluster?: {
    readonly representative: string | null;
    readonly info: ClusterInfo | null;
    readonly settled: boolean;
  };
  readonly features?: {
    readonly top: number;
    /** How many of them, from the strongest on, came with their residue regions. */
    readonly regions: number;
    readonly values: readonly FeatureValue[];
    /** Bytes that are held for the values, where they are not read yet. */
    readonly size?: number;
  };
  /** All activations on the scale of `features`; null where no answer has them. */
  readonly level?: LevelSource | null;
  /** Null where no answer has them. */
  readonly rows?: RowsData | null;
  readonly record?: ReadRecord;
  readonly folded?: boolean;
  /** The bulk archive was asked for clusters and has no such member, and the record has said what it knows instead. */
  readonly clusterless?: boolean;
  readonly from?: Source;
}

/** One that is still being put together. */
export type Writable = { -readonly [K in keyof ProteinData]: ProteinData[K] };

export const emptyData = (hash: string): ProteinData => ({ hash, exists: undefined });

function mergeRows(before: RowsData | null | undefined, after: RowsData | null | undefined) {
  if (before == null || after == null) return after ?? before;
  return { top: Math.max(before.top, after.top), rows: new Map([...before.rows, ...after.rows]) };
}

type Features = ProteinData['features'];

/** The longer ranking, with the regions that the other has for its strongest features. */
function mergeFeatures(before: Features, after: Features): Features {
  if (before === undefined || after === undefined) return after ?? before;
  if (after.top >= before.top && after.regions >= before.regions) return after;
  if (before.top >= after.top && before.regions >= after.regions) return before;
  const [far, near] = after.top > before.top ? [after, before] : [before, after];
  const known = new Map(near.values.map((value) => [value.feature_index, value]));
  const values = far.values.map((value) => known.get(value.feature_index) ?? value);
  // The ranking has changed between the two answers: only one of them can be told.
  if (near.values.some((value, i) => values[i]?.feature_index !== value.feature_index)) return after;
  return { top: far.top, regions: near.regions, values };
}

/** Later answers win, but a larger or richer feature ranking is kept, and what an answer does not have takes nothing away. */
export function mergeData(before: ProteinData, after: ProteinData): ProteinData {
  const merged: Writable = { ...before, ...after };
  const exists = after.exists ?? before.exists;
  const features = mergeFeatures(before.features, after.features);
  const rows = mergeRows(before.rows, after.rows);
  const level = after.level ?? before.level ?? after.level;
  merged.exists = exists;
  if (features !== undefined) merged.features = features;
  if (before.cluster !== undefined && after.cluster?.settled !== true) merged.cluster = before.cluster;
  if (rows !== undefined) merged.rows = rows;
  if (level !== undefined) merged.level = level;
  return merged;
}

const EVERYTHING: HadNeeds = {
  sequence: true,
  structure: true,
  scores: true,
  link: true,
  cluster: true,
  level: true,
  record: true,
  fold: true,
  features: 100,
  regions: 100,
  residues: 100,
  everyRow: true,
};

/** Which needs the data already meets. */
export function hadBy(data: ProteinData): HadNeeds {
  if (data.exists === false) return EVERYTHING;
  const { cluster, features, structure, rows } = data;
  // Set one by one: this is asked several times for each protein of a list.
  const had: { -readonly [K in keyof HadNeeds]: HadNeeds[K] } = {};
  if (data.sequence !== undefined && data.accession !== undefined) had.sequence = true;
  if (structure !== undefined) had.structure = true;
  if (data.scores !== undefined) had.scores = true;
  if (cluster?.settled === true || data.clusterless === true) had.cluster = true;
  if (cluster !== undefined) had.link = true;
  if (data.level !== undefined) had.level = true;
  if (data.record !== undefined) had.record = true;
  if (data.folded === true || (structure != null && hasCoordinates(structure))) had.fold = true;
  if (features !== undefined) {
    had.features = features.top;
    had.regions = features.regions;
  }
  if (rows === null) {
    had.everyRow = true;
    had.residues = 100;
  } else if (rows !== undefined) {
    had.rows = [...rows.rows.keys()];
    had.residues = rows.top;
  }
  return had;
}
