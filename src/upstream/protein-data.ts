// What is known of one protein, gathered from whichever answers spoke of it. Undefined means not asked, null means
// asked and absent. Pure; it makes no call and reads no wire format.
import type { LateText } from '../late-text.ts';
import type { FeatureRow } from './activations.ts';
import type { SparseVector } from './archive/bulk-record.ts';
import type { WithRaw } from './atlas.ts';
import type { HadNeeds } from './protein-needs.ts';
import type { ClusterInfo, FeatureValue, ProteinRecord } from './wire.ts';

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
  /** Bytes of `pdb`, where they are known without unpacking it. */
  readonly size?: number;
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
  };
  /** All activations on the scale of `features`; null where no answer has them. */
  readonly level?: SparseVector | null;
  /** Null where no answer has them. */
  readonly rows?: RowsData | null;
  readonly record?: WithRaw<ProteinRecord>;
  readonly folded?: boolean;
  /** The bulk archive was asked for clusters and has no such member, and the record has said what it knows instead. */
  readonly clusterless?: boolean;
  readonly from?: Source;
}

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
  const features = mergeFeatures(before.features, after.features);
  const cluster =
    after.cluster?.settled === true || before.cluster === undefined ? after.cluster : before.cluster;
  const rows = mergeRows(before.rows, after.rows);
  const level = after.level ?? before.level ?? after.level;
  return {
    ...before,
    ...after,
    exists: after.exists ?? before.exists,
    ...(features === undefined ? {} : { features }),
    ...(cluster === undefined ? {} : { cluster }),
    ...(rows === undefined ? {} : { rows }),
    ...(level === undefined ? {} : { level }),
  };
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
  return {
    ...(data.sequence === undefined || data.accession === undefined ? {} : { sequence: true }),
    ...(data.structure === undefined ? {} : { structure: true }),
    ...(data.scores === undefined ? {} : { scores: true }),
    ...(data.cluster?.settled === true || data.clusterless === true ? { cluster: true } : {}),
    ...(data.cluster === undefined ? {} : { link: true }),
    ...(data.level === undefined ? {} : { level: true }),
    ...(data.record === undefined ? {} : { record: true }),
    ...(data.folded === true || (data.structure != null && hasCoordinates(data.structure))
      ? { fold: true }
      : {}),
    ...(data.features === undefined ? {} : { features: data.features.top }),
    ...(data.features === undefined ? {} : { regions: data.features.regions }),
    ...(data.rows === null ? { everyRow: true, residues: 100 } : {}),
    ...(data.rows == null ? {} : { rows: [...data.rows.rows.keys()], residues: data.rows.top }),
  };
}
