// The record of one protein, part by part, merged from all answers about it. Records are plain
// objects that were checked when they arrived.
import type { SparseVector } from '../archive/sparse-activations.ts';
import { isKnown, mergePart, type Part, UNKNOWN } from '../part.ts';
import type { ClusterInfo, FeatureValue } from '../wire.ts';
import type { FeatureRow } from './activations.ts';
import type { SmallMembers } from './read-record.ts';
import {
  type AvailableParts,
  missingParts,
  type Need,
  needNames,
  type RequiredParts,
} from './required-parts.ts';
import type { Structure } from './structure.ts';

/** The answer that data came from, and when. */
export interface Source {
  readonly operation: string;
  /** Milliseconds since the epoch. */
  readonly retrievedAt: number;
  readonly fromCache: boolean;
  readonly requestId: string | undefined;
}

/** The names in the single record. */
export interface RecordNames {
  readonly name: string | null;
  /** The FASTA header. */
  readonly header: string | null;
}

/** The cluster of a protein. */
export interface ClusterLink {
  readonly representative: string;
  /** The cluster in an archive; null where the archive that was asked does not have it. */
  readonly info?: ClusterInfo | null | undefined;
}

/** The strongest features, strongest first. */
export interface Ranking {
  /** How many were asked for, so that a short list is known to be complete. */
  readonly top: number;
  /** How many of them, from the strongest on, came with their residue regions. */
  readonly regions: number;
  readonly values: readonly FeatureValue[];
}

/** Activations of some features along the sequence. */
export interface FeatureRows {
  /** All of that many top features are in `rows`. */
  readonly top: number;
  readonly rows: readonly FeatureRow[];
}

/** The single record: its small members, and all of it as it came. */
export interface SingleRecord {
  readonly own: SmallMembers;
  readonly raw: unknown;
}

/** A protein that exists. An answer about it knows some of the parts. */
export interface ProteinRecord {
  readonly hash: string;
  /** The answer that said something of it last. */
  readonly from?: Part<Source>;
  /** When the oldest of the parts was retrieved, in milliseconds since the epoch. */
  readonly oldest: number;
  readonly sequence?: Part<string>;
  readonly length?: Part<number>;
  readonly accession?: Part<string>;
  readonly source?: Part<string>;
  readonly names?: Part<RecordNames>;
  readonly structure?: Part<Structure>;
  /** pLDDT by residue, 0 to 1, where an answer states it beside the structure or without one. */
  readonly plddt?: Part<readonly (number | null)[]>;
  readonly ptm?: Part<number>;
  /** 0 to 1. */
  readonly meanPlddt?: Part<number>;
  readonly cluster?: Part<ClusterLink>;
  /** Whether the single record names no cluster, which it does not of a representative, either. */
  readonly namesNoCluster?: boolean;
  readonly features?: Part<Ranking>;
  /** The activations of all features, on the scale of the ranking. */
  readonly level?: Part<SparseVector>;
  readonly rows?: Part<FeatureRows>;
  readonly single?: Part<SingleRecord>;
  /** Whether it was folded where it had no structure. */
  readonly isFolded?: boolean;
}

/** The source of data that have just come. */
export const createSource = (operation: string, requestId?: string): Source => ({
  operation,
  retrievedAt: Date.now(),
  fromCache: false,
  requestId,
});

/** A protein of which nothing else is known. */
export const emptyRecord = (hash: string, from?: Source): ProteinRecord => ({
  hash,
  from,
  oldest: from?.retrievedAt ?? Number.POSITIVE_INFINITY,
});

/** The longer ranking, with the regions that the other has for its strongest features. */
function mergeRankings(older: Ranking, newer: Ranking): Ranking {
  if (newer.top >= older.top && newer.regions >= older.regions) return newer;
  if (older.top >= newer.top && older.regions >= newer.regions) return older;
  const [long, short] = newer.top > older.top ? [newer, older] : [older, newer];
  const known = new Map(short.values.map((value) => [value.feature_index, value]));
  const values = long.values.map((value) => known.get(value.feature_index) ?? value);
  // The ranking changed between the two answers: the newer one counts alone.
  if (short.values.some((value, i) => values[i]?.feature_index !== value.feature_index)) return newer;
  return { top: long.top, regions: short.regions, values };
}

const mergeRows = (older: FeatureRows, newer: FeatureRows): FeatureRows => {
  const rows = new Map([...older.rows, ...newer.rows].map((row) => [row.feature, row]));
  return { top: Math.max(older.top, newer.top), rows: [...rows.values()] };
};

const isTold = ({ info }: ClusterLink): boolean => info != null;

const mergeLinks = (older: ClusterLink, newer: ClusterLink): ClusterLink =>
  older.representative === newer.representative
    ? { ...newer, info: isTold(newer) || older.info === undefined ? newer.info : older.info }
    : newer;

/** Joins what two answers say; what is known stays known. */
export function mergeRecords(older: ProteinRecord, newer: ProteinRecord): ProteinRecord {
  if (older === newer) return older;
  return {
    hash: newer.hash,
    from: mergePart(older.from, newer.from),
    oldest: Math.min(older.oldest, newer.oldest),
    sequence: mergePart(older.sequence, newer.sequence),
    length: mergePart(older.length, newer.length),
    accession: mergePart(older.accession, newer.accession),
    source: mergePart(older.source, newer.source),
    names: mergePart(older.names, newer.names),
    structure: mergePart(older.structure, newer.structure),
    plddt: mergePart(older.plddt, newer.plddt),
    ptm: mergePart(older.ptm, newer.ptm),
    meanPlddt: mergePart(older.meanPlddt, newer.meanPlddt),
    cluster: mergePart(older.cluster, newer.cluster, mergeLinks),
    namesNoCluster: older.namesNoCluster === true || newer.namesNoCluster === true,
    features: mergePart(older.features, newer.features, mergeRankings),
    level: mergePart(older.level, newer.level),
    rows: mergePart(older.rows, newer.rows, mergeRows),
    single: mergePart(older.single, newer.single),
    isFolded: older.isFolded === true || newer.isFolded === true,
  };
}

/** The service has at most 100 of them: they are complete. */
const ALL = 100;

/** The needs that a record meets. A part that failed is not asked for again. */
export function availableParts(record: ProteinRecord): AvailableParts {
  const { cluster, features, rows, structure } = record;
  const available: { -readonly [K in keyof AvailableParts]: AvailableParts[K] } = {};
  if (record.sequence !== UNKNOWN) available.sequence = true;
  if (record.length !== UNKNOWN) available.length = true;
  if (record.accession !== UNKNOWN) available.accession = true;
  if (record.source !== UNKNOWN) available.source = true;
  if (record.from !== UNKNOWN) available.provenance = true;
  if (structure !== UNKNOWN) available.structure = true;
  if (record.ptm !== UNKNOWN || structure === null) available.ptm = true;
  if (record.meanPlddt !== UNKNOWN) available.meanPlddt = true;
  if (cluster !== UNKNOWN || record.namesNoCluster === true) available.link = true;
  if (cluster !== UNKNOWN && (!isLink(cluster) || cluster.info !== undefined)) available.cluster = true;
  if (record.level !== UNKNOWN) available.level = true;
  if (record.names !== UNKNOWN) available.header = true;
  if (record.single !== UNKNOWN) available.record = true;
  if (record.isFolded === true || (isKnown(structure) && structure !== null)) available.fold = true;
  if (features !== UNKNOWN) {
    const ranking = isKnown(features) ? features : null;
    available.features = ranking?.top ?? ALL;
    available.regions = ranking?.regions ?? ALL;
  }
  if (rows !== UNKNOWN) {
    const known = isKnown(rows) ? rows : null;
    available.residues = known?.top ?? ALL;
    if (known === null) available.everyRow = true;
    else available.rows = known.rows.map(({ feature }) => feature);
  }
  return available;
}

const isLink = (cluster: Part<ClusterLink>): cluster is ClusterLink => isKnown(cluster) && cluster !== null;

/** The part that a need is about, and those that come with it. */
const PART_OF: Readonly<Record<Need, readonly (keyof ProteinRecord)[]>> = {
  sequence: ['sequence'],
  length: ['length'],
  accession: ['accession'],
  source: ['source'],
  provenance: ['from'],
  structure: ['structure', 'plddt', 'meanPlddt'],
  ptm: ['ptm'],
  meanPlddt: ['meanPlddt'],
  link: ['cluster'],
  cluster: ['cluster'],
  features: ['features'],
  regions: ['features'],
  residues: ['rows'],
  rows: ['rows'],
  level: ['level'],
  header: ['names'],
  record: ['single'],
  fold: ['structure'],
};

/**
 * Joins two records where one was loaded for needs that the other does not meet. A need that both
 * together do not meet has the error of its part: what lacks the part says nothing of it.
 */
export function joinLoaded(other: ProteinRecord, loaded: ProteinRecord, needs: RequiredParts): ProteinRecord {
  const joined = mergeRecords(other, loaded);
  const open = missingParts(needs, availableParts(joined));
  const errors = needNames(open).flatMap((need) => {
    const [part] = PART_OF[need];
    const state = part && loaded[part];
    return part !== undefined && state instanceof Error ? [[part, state]] : [];
  });
  return errors.length === 0 ? joined : { ...joined, ...Object.fromEntries(errors) };
}

/** The record with one state for all parts that these needs, which it does not meet, are about. */
export function withParts(record: ProteinRecord, needs: RequiredParts, state: Error | null): ProteinRecord {
  const parts = needNames(needs).flatMap((need) => {
    const [own, ...beside] = PART_OF[need];
    return own === undefined ? [] : [own, ...beside.filter((part) => record[part] === UNKNOWN)];
  });
  return { ...record, ...Object.fromEntries(parts.map((part) => [part, state])) };
}
