// Structure and features of a single record, parsed lazily.
import { readResidues } from '../archive/bulk-record.ts';
import type { ReadRecord } from '../atlas.ts';
import type { ProteinRecord } from '../wire.ts';
import type { ProteinParts } from './protein-data.ts';
import { LazyFeatures } from './protein-record.ts';

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
  const packed = parts?.lengthOf('pdb') ?? 0;
  if (packed > 0) return new RecordStructure(record, packed, parts?.bytes ?? packed);
  const { pdb, ptm, mean_plddt: mean } = record;
  if (pdb === undefined) return undefined;
  if (pdb === null && ptm == null && mean == null) return null;
  const size = pdb?.length ?? 0;
  return new RecordStructure(record, size, size);
}

type Features = NonNullable<ProteinParts['features']>;

/** Features of a record that are bytes until they are read. */
class LightFeatures implements Features {
  readonly top: number;
  readonly regions: number;
  private readonly late: LazyFeatures;

  constructor(top: number, late: LazyFeatures) {
    this.top = top;
    this.regions = top;
    this.late = late;
  }
  get values() {
    return this.late.values;
  }
  get size() {
    return this.late.size;
  }
  toJSON(): Features {
    const { top, regions, values } = this;
    return { top, regions, values };
  }
}

/** The features of a record, parsed lazily; undefined where it has no such key. */
export function featuresOf({ record, parts }: ReadRecord, top: number): Features | undefined {
  if (parts === undefined) {
    const { sae_features: values } = record;
    return values == null ? undefined : { top, regions: top, values };
  }
  return parts.has('sae_features') ? new LightFeatures(top, new LazyFeatures(parts, record)) : undefined;
}
