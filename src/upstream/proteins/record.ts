// The record of one protein, part by part, merged from all answers about it. Records are plain
// objects that were checked when they arrived.
import type * as z from 'zod';
import type { SparseVector } from '../archive/sparse-activations.ts';
import { mergePart, type Part, partValue, UNKNOWN } from '../part.ts';
import type { ClusterInfo, FeatureValue, proteinRecord } from '../wire.ts';
import type { FeatureRow } from './activations.ts';
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

/** The members of a record but those that are large, by the names in wire.ts. */
type SmallMembers = Omit<
  z.output<typeof proteinRecord>,
  'pdb' | 'residues_plddt' | 'sae_features' | 'sequence'
>;

/** The single record: its small members, and all of it as it came. */
export interface SingleRecord {
  readonly own: SmallMembers;
  readonly raw: unknown;
}

/** The single record as it came, with its ranking of top features, compressed. */
export interface RecordAnswer {
  readonly packed: Buffer;
  /** Bytes before compression. */
  readonly bytes: number;
  /** How many top features were asked for. */
  readonly top: number;
  readonly requestId: string | undefined;
  /** Milliseconds since the epoch. */
  readonly retrievedAt: number;
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
  /** From which parts are read that were not needed before. */
  readonly answer?: RecordAnswer | undefined;
  /** Whether it was folded where it had no structure. */
  readonly isFolded?: boolean;
}

/** The source of data that have just come. */
export const createSource = (operation: string, requestId?: string, retrievedAt = Date.now()): Source => ({
  operation,
  retrievedAt,
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
  // Every member is required here, so that none is forgotten.
  const merged: Required<ProteinRecord> = {
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
    answer: newer.answer ?? older.answer,
    isFolded: older.isFolded === true || newer.isFolded === true,
  };
  return merged;
}

const hasFault = ({ structure }: ProteinRecord): boolean => partValue(structure)?.fault != null;

/** Errors belong to one request, and a structure with a fault is one. */
export function withoutErrors(record: ProteinRecord): ProteinRecord {
  const failed = Object.entries(record).flatMap(([member, part]) =>
    part instanceof Error || (member === 'structure' && hasFault(record)) ? [member] : [],
  );
  if (failed.length === 0) return record;
  return { ...record, ...Object.fromEntries(failed.map((member) => [member, UNKNOWN])) };
}
