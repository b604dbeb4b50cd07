// Reads the single record of a protein, `GET /proteins/{hash}`. What cannot be read of a large
// member is an error of its part alone.
import { hasAtoms } from '../../structure/pdb.ts';
import { readMatrix, readVector, type SparseVector } from '../archive/sparse-activations.ts';
import { asError } from '../errors.ts';
import { validate } from '../http/validate-response.ts';
import { isFields } from '../json/is-fields.ts';
import { isKnown, type Part, partValue, UNKNOWN } from '../part.ts';
import { type FeatureValue, proteinRecord } from '../wire.ts';
import { hasSameScale, selectRows } from './activations.ts';
import { checkRecord } from './check-record.ts';
import type { RequiredParts } from './parts.ts';
import {
  createSource,
  type FeatureRows,
  type ProteinRecord,
  type Ranking,
  type SingleRecord,
} from './record.ts';
import { readRegions } from './regions.ts';
import { needsRanking, needsRows } from './required-parts.ts';
import { readResidues, readStructure, type Structure } from './structure.ts';

const LARGE = { pdb: true, residues_plddt: true, sae_features: true } as const;
const smallRecord = proteinRecord.omit(LARGE);
const features = proteinRecord.pick({ sae_features: true });
const confidences = proteinRecord.pick({ residues_plddt: true });
const coordinates = proteinRecord.pick({ pdb: true });

/** The features of an answer: the normalised top ranking, chosen indices, or raw activations. */
export type AnsweredFeatures =
  | { readonly kind: 'ranking'; readonly top: number }
  | { readonly kind: 'other' };

/** An answer as it came, with what its features are: the service does not say so. */
export interface RawRecord {
  readonly raw: unknown;
  readonly requestId: string | undefined;
  readonly features: AnsweredFeatures;
  /** Milliseconds since the epoch; now if absent. */
  readonly retrievedAt?: number;
}

/** An answer with the bytes that it was read from. */
export interface LoadedRecord extends RawRecord {
  readonly body: Uint8Array;
  readonly retrievedAt: number;
}

/**
 * Reads a record: its small members always, the large ones only where they are needed. Features
 * are read where the answer has the ranking, and stay unknown where it has others.
 *
 * @throws UpstreamError UPSTREAM_DRIFT for a record that cannot be that of the protein
 */
export function readRecord(hash: string, needs: RequiredParts, answer: RawRecord): ProteinRecord {
  const { raw, requestId, features: answered, retrievedAt } = answer;
  const record = validate('protein', smallRecord, raw);
  checkRecord(hash, record);
  const { sequence: written, ...own } = record;
  const sequence = written ?? undefined;
  const length = own.sequence_length ?? sequence?.length;
  const representative = own.cluster_rep_protein_hash;
  const isWhole = needs.record === true || needs.fold === true;
  const from = createSource('protein', requestId, retrievedAt);
  return {
    hash,
    from,
    oldest: from.retrievedAt,
    sequence,
    length,
    accession: own.accession ?? null,
    source: own.source ?? null,
    names: { name: own.protein_name ?? null, header: own.header ?? null },
    ...(isWhole || needsCoordinates(needs, own)
      ? structureParts({ ...own, sequence, length }, raw)
      : { ptm: own.ptm ?? UNKNOWN, meanPlddt: own.mean_plddt ?? UNKNOWN }),
    cluster: representative == null ? UNKNOWN : { representative },
    namesNoCluster: representative == null,
    ...(answered.kind === 'ranking' && (needsRanking(needs) || needs.level === true)
      ? rankingParts(needs, raw, answered.top, length)
      : {}),
    single: isWhole ? { own, raw } : UNKNOWN,
    isFolded: needs.fold === true,
  };
}

interface WireScores {
  readonly ptm?: number | null | undefined;
  readonly mean_plddt?: number | null | undefined;
}

/** Whether a part is needed that only the coordinates say: the scores mostly stand beside them. */
const needsCoordinates = (needs: RequiredParts, { ptm, mean_plddt: mean }: WireScores): boolean =>
  needs.structure === true ||
  (needs.ptm === true && ptm == null) ||
  (needs.meanPlddt === true && mean == null);

type StructureParts = Pick<ProteinRecord, 'structure' | 'plddt' | 'ptm' | 'meanPlddt'>;

interface StructureFacts extends WireScores {
  readonly sequence: string | undefined;
  readonly length: number | undefined;
}

/** B-factors have two digits: values are the same whichever way they come. */
const toTwoDigits = (value: number | null): number | null =>
  value === null ? null : Number(value.toFixed(2));

/** One of the large members; an error where it breaks the contract. */
function readMember<T>(read: () => T): T | Error {
  try {
    return read();
  } catch (error) {
    return asError(error);
  }
}

/**
 * The structure of an answer in JSON and its scores. Without coordinates it still may have scores;
 * a missing key `pdb` means not known, null means none.
 */
export function structureParts(
  { sequence, length, ...scores }: StructureFacts,
  raw: unknown,
): StructureParts {
  const ptm = scores.ptm ?? null;
  const mean = scores.mean_plddt ?? null;
  const pdb = readMember(() => validate('protein', coordinates, raw).pdb);
  const stated = readMember(
    () => validate('protein', confidences, raw).residues_plddt?.map(toTwoDigits) ?? UNKNOWN,
  );
  if (pdb instanceof Error)
    return { structure: pdb, plddt: stated, ptm: ptm ?? UNKNOWN, meanPlddt: mean ?? pdb };
  if (pdb != null && hasAtoms(pdb)) {
    const structure = readStructure(pdb, { sequence, length });
    return { structure, plddt: stated, ptm: ptm ?? UNKNOWN, meanPlddt: mean ?? readResidues(pdb).mean };
  }
  const unknown = pdb === undefined ? UNKNOWN : null;
  if (ptm === null && mean === null)
    return { structure: unknown, plddt: unknown, ptm: unknown, meanPlddt: unknown };
  return {
    structure: unknown,
    plddt: stated === UNKNOWN ? unknown : stated,
    ptm: ptm ?? unknown,
    meanPlddt: mean ?? unknown,
  };
}

/** The structure of the single record itself; unknown where there is no record. */
export function readRecordStructure(
  single: SingleRecord | null,
  sequence: string | undefined,
): Part<Structure> {
  if (single === null) return UNKNOWN;
  const length = single.own.sequence_length ?? undefined;
  return structureParts({ ...single.own, sequence, length }, single.raw).structure;
}

type FeatureParts = Pick<ProteinRecord, 'features' | 'level' | 'rows'>;

/** The ranking of a record, and the activations on its scale. */
function rankingParts(
  needs: RequiredParts,
  raw: unknown,
  top: number,
  length: number | undefined,
): FeatureParts {
  const ranking = readMember(() => readFeatures(raw, top, length));
  const wire = isFields(raw) ? raw : {};
  return {
    features: ranking,
    level: needs.level === true ? readLevel(wire.protein_activations, ranking) : UNKNOWN,
    rows: needsRows(needs) ? readRows(wire.per_residue_activations, needs, ranking) : UNKNOWN,
  };
}

/** The activations of all features; null where they are not on the scale of the ranking. */
function readLevel(given: unknown, ranking: Part<Ranking>): Part<SparseVector> {
  const vector = readVector(given);
  return vector !== undefined && hasSameScale(partValue(ranking)?.values ?? [], vector) ? vector : null;
}

/**
 * The features of a record; unknown where it has no such key.
 *
 * @throws UpstreamError UPSTREAM_DRIFT
 */
export function readFeatures(
  raw: unknown,
  top: number,
  length?: number | undefined,
): Ranking | typeof UNKNOWN {
  const values = validate('protein', features, raw).sae_features;
  if (values == null) return UNKNOWN;
  const matrix = isFields(raw) ? raw.per_residue_activations : undefined;
  const activations = () => readMatrix(matrix);
  return {
    top,
    regions: top,
    values: readRegions('protein', '$.sae_features', values, { length, activations }),
  };
}

/** Features whose rows are wanted: the top ones of a ranking, and certain ones. */
const wantedRows = (needs: RequiredParts, ranking: readonly FeatureValue[]): number[] => [
  ...ranking.slice(0, needs.residues ?? 0).map((value) => value.feature_index),
  ...(needs.rows ?? []),
];

function readRows(given: unknown, needs: RequiredParts, ranking: Part<Ranking>): Part<FeatureRows> {
  const matrix = readMatrix(given);
  if (matrix === undefined) return UNKNOWN;
  const values = partValue(ranking)?.values ?? [];
  return {
    top: isKnown(ranking) ? (needs.residues ?? 0) : 0,
    rows: [...selectRows(matrix, wantedRows(needs, values)).values()],
  };
}
