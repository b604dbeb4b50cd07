// The known parts of one protein, merged from all answers about it. Existence is a state of its
// own: "unknown" is not "absent".
import type { LazyText } from '../../structure/lazy-text.ts';
import type { SparseVector } from '../archive/bulk-record.ts';
import type { ClusterInfo, FeatureValue } from '../wire.ts';
import type { FeatureRow } from './activations.ts';
import type { SmallMembers } from './protein-record.ts';
import type { AvailableParts } from './required-parts.ts';

/** Where the data came from and when. */
export interface Source {
  readonly operation: string;
  readonly retrievedAt: Date;
  readonly fromCache: boolean;
  readonly requestId: string | undefined;
}

/** A part that is parsed when it is read, and written down as what it then is. */
export interface Lazy<T> {
  read(): T;
  toJSON(): T;
  /** Bytes that are held for it, where that is known. */
  readonly size?: number | undefined;
}

export const lazily = <T>(read: () => T, size?: number): Lazy<T> => ({ read, toJSON: read, size });

/** A predicted structure; pLDDT on 0 to 1. */
export interface StructureData {
  /**
   * Empty when the answer had scores but no coordinates. Reading may unpack: check `hasCoordinates`
   * first.
   */
  readonly pdb: string;
  /** The same, still packed, for writing it out. */
  readonly file?: () => LazyText;
  /** Bytes of `pdb`, about, where they are known without unpacking it. */
  readonly size?: number;
  /** Bytes that are held for its sake, where that is more than itself. */
  readonly held?: number;
  /** Null where the answer with the structure does not state it: another may. */
  readonly ptm: number | null;
  /** Whether `ptm` is stated, where that is known without unpacking. */
  readonly statesPtm?: boolean;
  readonly meanPlddt: number | null;
  readonly plddt: readonly (number | null)[];
}

/** Whether there is more than scores. */
export const hasCoordinates = (structure: StructureData): boolean =>
  structure.size === undefined ? structure.pdb !== '' : structure.size > 0;

/** The extracted activations along the sequence. */
export interface RowsData {
  /** All of that many top features are in `rows`. */
  readonly top: number;
  readonly rows: ReadonlyMap<number, FeatureRow>;
}

/** The cluster of a protein. */
export interface ClusterLink {
  readonly representative: string;
  /** What the bulk archive says of the cluster; null where no archive that was read does. */
  readonly info: ClusterInfo | null;
}

/**
 * A part that was requested and is missing from a whole answer. One gap proves nothing, and none
 * proves that a protein belongs to no cluster: only the 404 of the cluster's own record does.
 */
export type Gap = `${'record' | 'archive'}:${'structure' | 'ptm' | 'rows'}` | 'record:cluster';

/** Parts of a protein: undefined is not known yet, null is proven not to be there. */
export interface ProteinParts {
  readonly sequence?: string;
  readonly length?: number | null;
  readonly accession?: string | null;
  readonly source?: string | null;
  /** The `protein_name` of its record. */
  readonly name?: string | null;
  /** The FASTA header of its record. */
  readonly header?: string | null;
  readonly structure?: StructureData | null;
  /** The scores of the structure, where an answer gave them beside it or without it. */
  readonly scores?: Pick<StructureData, 'ptm' | 'meanPlddt'>;
  readonly cluster?: ClusterLink;
  readonly features?: {
    readonly top: number;
    /** How many of them, from the strongest on, came with their residue regions. */
    readonly regions: number;
    readonly values: readonly FeatureValue[];
    /** Bytes that are held for the values, where they are not read yet. */
    readonly size?: number;
  };
  /**
   * All activations on the scale of `features`; null where no answer has them, and null is read of
   * those on another scale.
   */
  readonly level?: Lazy<SparseVector | null> | null;
  /** Null where no answer has them. */
  readonly rows?: RowsData | null;
  /** The single record: its small members, and all of it as it came. */
  readonly record?: { readonly own: SmallMembers; readonly raw: Lazy<unknown> };
  readonly folded?: boolean;
  /** Archive and record were both asked: only the cluster's own record can say more. */
  readonly clusterAsked?: boolean;
  readonly gaps?: readonly Gap[];
}

interface Base {
  readonly hash: string;
  readonly from?: Source;
}

/** An answer spoke of it. */
export interface PresentProtein extends Base, ProteinParts {
  readonly state: 'present';
}

/** The record answered 404, or a whole list of sequences lacks the protein. */
export interface AbsentProtein extends Base {
  readonly state: 'absent';
}

/** No answer has said whether it exists. */
interface UnknownProtein extends Base {
  readonly state: 'unknown';
  readonly gaps?: readonly Gap[];
}

export type ProteinData = PresentProtein | AbsentProtein | UnknownProtein;

/** One that is still being put together. */
export type Mutable = { -readonly [K in keyof PresentProtein]: PresentProtein[K] };

/** The longer ranking, with the regions that the other has for its strongest features. */
function mergeFeatures(
  before: NonNullable<ProteinParts['features']>,
  after: NonNullable<ProteinParts['features']>,
): NonNullable<ProteinParts['features']> {
  if (after.top >= before.top && after.regions >= before.regions) return after;
  if (before.top >= after.top && before.regions >= after.regions) return before;
  const [far, near] = after.top > before.top ? [after, before] : [before, after];
  const known = new Map(near.values.map((value) => [value.feature_index, value]));
  const values = far.values.map((value) => known.get(value.feature_index) ?? value);
  // The ranking changed between the two answers: use the later one alone.
  if (near.values.some((value, i) => values[i]?.feature_index !== value.feature_index)) return after;
  return { top: far.top, regions: near.regions, values };
}

type Merge<T> = (before: NonNullable<T>, after: NonNullable<T>) => T;

/** How two answers about a part become one, where both have it; without a line the later one counts. */
const MERGE: { readonly [K in keyof ProteinParts]?: Merge<ProteinParts[K]> } = {
  // A structure that lost its score does not take the place of one that has it.
  structure: (before, after) => (after.ptm === null ? before : after),
  scores: (before, after) => ({
    ptm: after.ptm ?? before.ptm,
    meanPlddt: after.meanPlddt ?? before.meanPlddt,
  }),
  features: mergeFeatures,
  rows: (before, after) => ({
    top: Math.max(before.top, after.top),
    rows: new Map([...before.rows, ...after.rows]),
  }),
  cluster: (before, after) =>
    before.representative === after.representative
      ? { representative: after.representative, info: after.info ?? before.info }
      : after,
  gaps: (before, after) => [...new Set([...before, ...after])],
};

/** Joins what an earlier answer says of a part. What an answer does not have takes nothing away. */
function mergePart<K extends keyof ProteinParts>(
  merged: { -readonly [P in keyof ProteinParts]: ProteinParts[P] },
  before: ProteinParts,
  key: K,
): void {
  const earlier: ProteinParts[K] = before[key];
  const later: ProteinParts[K] = merged[key];
  if (earlier === undefined || earlier === later) return;
  const merge: Merge<ProteinParts[K]> | undefined = MERGE[key];
  if (later == null) merged[key] = earlier;
  else if (earlier !== null && merge !== undefined) merged[key] = merge(earlier, later);
}

/** Whether neither the record nor the archive holds a part. */
const isMissing = ({ gaps }: ProteinParts, part: 'structure' | 'ptm' | 'rows'): boolean =>
  gaps?.includes(`record:${part}`) === true && gaps.includes(`archive:${part}`);

/** Says that there is none of what neither the record nor the archive holds. */
function settleGaps(data: Mutable): void {
  if (data.structure === undefined && isMissing(data, 'structure')) data.structure = null;
  if (data.rows === undefined && isMissing(data, 'rows')) data.rows = null;
}

/** Part by part the later answer that has it. An unknown protein has nothing but gaps. */
export function mergePresent(before: PresentProtein | UnknownProtein, after: PresentProtein): PresentProtein {
  const merged: Mutable = { ...before, ...after };
  for (const key of Object.keys(before) as (keyof ProteinParts)[]) mergePart(merged, before, key);
  settleGaps(merged);
  return merged;
}

export function mergeData(before: ProteinData, after: ProteinData): ProteinData {
  if (after.state === 'absent') return after;
  if (before.state === 'absent') return after.state === 'present' ? after : before;
  if (after.state === 'present') return mergePresent(before, after);
  if (before.state === 'present') return mergePresent(after, before);
  return { ...before, gaps: [...(before.gaps ?? []), ...(after.gaps ?? [])] };
}

/** Whether the pTM is known, or that there is none. */
function hasPtm(data: ProteinParts): boolean {
  const { structure, scores } = data;
  if (structure === null || scores?.ptm != null || isMissing(data, 'ptm')) return true;
  return structure !== undefined && (structure.statesPtm ?? structure.ptm !== null);
}

/** Which needs the data already meets. */
export function availablePartsOf(data: ProteinParts): AvailableParts {
  const { cluster, features, structure, rows, gaps } = data;
  // Assigned one by one: this runs for each protein of a list.
  const had: { -readonly [K in keyof AvailableParts]: AvailableParts[K] } = {};
  if (data.sequence !== undefined && data.accession !== undefined) had.sequence = true;
  if (structure !== undefined) had.structure = true;
  if (hasPtm(data)) had.ptm = true;
  if (data.scores?.meanPlddt != null) had.meanPlddt = true;
  if (cluster?.info != null || data.clusterAsked === true) had.cluster = true;
  if (cluster !== undefined || gaps?.includes('record:cluster') === true) had.link = true;
  if (data.level !== undefined) had.level = true;
  if (data.header !== undefined) had.header = true;
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
