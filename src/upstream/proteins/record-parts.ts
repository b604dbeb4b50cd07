// Structure and features of a single record, parsed lazily.
import { readResidues } from '../archive/bulk-record.ts';
import { validate } from '../http/validate-response.ts';
import { findRegionEnd, normalizeRegions, provenRegionEnd, type RegionEnd } from '../reads/region-ends.ts';
import { type FeatureValue, type ProteinRecord, proteinRecord } from '../wire.ts';
import type { ProteinParts } from './protein-data.ts';
import { parseMember, type ReadRecord } from './protein-record.ts';

type Structure = NonNullable<ProteinParts['structure']>;

/** The structure of a record, with lazy coordinates. A class: it is created fast. */
class RecordStructure implements Structure {
  readonly size: number;
  readonly held: number;
  readonly ptm: number | null;
  private readonly record: ProteinRecord;

  constructor(record: ProteinRecord, size: number, held: number) {
    this.record = record;
    this.size = size;
    this.held = held;
    this.ptm = record.ptm ?? null;
  }
  get pdb() {
    return this.record.pdb ?? '';
  }
  /** A list that the record leaves out stands in the coordinates as well. */
  get plddt() {
    return this.record.residues_plddt ?? readResidues(this.pdb).plddt;
  }
  get meanPlddt() {
    return this.record.mean_plddt ?? readResidues(this.pdb).mean;
  }
  toJSON(): Structure {
    const { pdb, plddt, ptm, meanPlddt } = this;
    return { pdb, plddt, ptm, meanPlddt };
  }
}

/** The structure of a record; undefined where the coordinates are absent instead of null. */
export function structureOf({ record, parts }: ReadRecord): Structure | null | undefined {
  const packed = parts.lengthOf('pdb');
  if (packed > 0) return new RecordStructure(record, packed, parts.bytes);
  const { pdb, ptm, mean_plddt: mean } = record;
  if (pdb === undefined) return undefined;
  return pdb === null && ptm == null && mean == null ? null : new RecordStructure(record, 0, 0);
}

type Features = NonNullable<ProteinParts['features']>;

const ranking = proteinRecord.pick({ sae_features: true });

const readRanking = (given: unknown): readonly FeatureValue[] =>
  validate('protein', ranking, { sae_features: given }).sae_features ?? [];

/** What `end` of the record's regions means; undefined where the record does not show it. */
function regionEndIn({ parts }: ReadRecord, length: number | undefined): RegionEnd | undefined {
  try {
    const values = readRanking(parts.read('sae_features'));
    return findRegionEnd(parts.settings, values, { length, activations: () => parts.perResidue() });
  } catch {
    // The reader of the features gets the error.
    return undefined;
  }
}

/** Features of a record that are bytes until they are read. They hold nothing else of it. */
class RecordFeatures implements Features {
  readonly top: number;
  readonly regions: number;
  /** Bytes until then. */
  readonly size: number;
  private readonly settings: object;
  private readonly length: number | undefined;
  private readonly end: RegionEnd | undefined;
  private bytes: Buffer | undefined;
  private ranked: readonly FeatureValue[] = [];

  constructor(found: ReadRecord, top: number) {
    const { parts, record } = found;
    this.top = top;
    this.regions = top;
    this.bytes = parts.copy('sae_features');
    this.size = this.bytes.length;
    this.settings = parts.settings;
    this.length = record.sequence_length ?? record.sequence?.length;
    // The activations are not held: read them now, until the meaning of `end` is proven once.
    if (provenRegionEnd(parts.settings) === undefined) this.end = regionEndIn(found, this.length);
  }
  /** With half-open regions. @throws UpstreamError UPSTREAM_DRIFT */
  get values(): readonly FeatureValue[] {
    if (this.bytes !== undefined) {
      const values = readRanking(parseMember(this.bytes.toString('utf8')));
      const evidence = { length: this.length };
      const end = findRegionEnd(this.settings, values, evidence) ?? this.end;
      this.ranked = normalizeRegions('protein', '$.sae_features', values, end, evidence);
    }
    this.bytes = undefined;
    return this.ranked;
  }
  toJSON(): Features {
    const { top, regions, values } = this;
    return { top, regions, values };
  }
}

/** The features of a record, parsed lazily; undefined where it has no such key. */
export const featuresOf = (found: ReadRecord, top: number): Features | undefined =>
  found.parts.has('sae_features') ? new RecordFeatures(found, top) : undefined;
