// A protein record whose coordinates and activations stay bytes until they are read: they are nine
// tenths of it, and most queries do not select them.
import type { z } from 'zod';
import { readFeatures, type SparseMatrix } from '../archive/bulk-record.ts';
import type { WithRaw } from '../atlas-request.ts';
import { UpstreamError } from '../errors.ts';
import { validate } from '../http/validate-response.ts';
import { type Member, objectMembers } from '../json/json-object.ts';
import { QUOTE } from '../json/json-scan.ts';
import { parseLenient } from '../json/lenient-json.ts';
import { findRegionEnd, normalizeRegions, provenRegionEnd, type RegionEnd } from '../reads/region-ends.ts';
import { type FeatureValue, type ProteinRecord, proteinRecord } from '../wire.ts';

/** The members of a record that are bytes until they are read. */
export interface RecordParts {
  /** Bytes between the quotes of a member that is a string; 0 for any other. */
  lengthOf(name: string): number;
  /** Whether there is a member of that name that is not null. */
  has(name: string): boolean;
  /** The member as it came. @throws UpstreamError UPSTREAM_DRIFT when it is no JSON */
  read(name: string): unknown;
  /** A copy of a member's bytes alone; empty when the member is missing. */
  copy(name: string): Buffer;
  /** Settings of the upstream that it came from. */
  readonly settings: object;
  /** Bytes of the whole record, which are held as long as any part of it is. */
  readonly bytes: number;
  /** It is no part of what is written down. */
  toJSON(): undefined;
}

const light = proteinRecord.omit({ pdb: true, residues_plddt: true, sae_features: true });
/** Members checked lazily, each inside an object, so that an error has the member's path. */
const coordinates = proteinRecord.pick({ pdb: true });
const confidences = proteinRecord.pick({ residues_plddt: true });
const ranking = proteinRecord.pick({ sae_features: true });
/** Members that are parsed at once, together. */
const LIGHT = new Set(Object.keys(light.shape));
const NO_BYTES = Buffer.alloc(0);

/** What cannot be read throws as the whole record would. */
function parsed(text: string): unknown {
  try {
    return parseLenient(text);
  } catch (error) {
    throw new UpstreamError(
      "The upstream's answer to protein is not JSON.",
      { operation: 'protein', code: 'UPSTREAM_DRIFT', status: 200, retryable: true },
      { cause: error },
    );
  }
}

type Light = z.output<typeof light>;

function lightly(text: string): Light | undefined {
  try {
    return light.safeParse(parseLenient(text)).data;
  } catch {
    return undefined;
  }
}

const lengthOf = ({ sequence_length: length, sequence }: Partial<Light>): number | undefined =>
  length ?? sequence?.length;

const activationsIn = (parts: RecordParts) => (): SparseMatrix | undefined =>
  readFeatures({ per_residue: parts.read('per_residue_activations') })?.perResidue;

const readRanking = (given: unknown): FeatureValue[] | null | undefined =>
  validate('protein', ranking, { sae_features: given }).sae_features;

class Parts implements RecordParts {
  readonly whole: Buffer;
  readonly settings: object;
  private readonly members: readonly Member[];

  constructor(whole: Buffer, members: readonly Member[], settings: object) {
    this.whole = whole;
    this.members = members;
    this.settings = settings;
  }
  get bytes() {
    return this.whole.length;
  }
  lengthOf(name: string): number {
    const member = this.member(name);
    return member !== undefined && this.whole[member.start] === QUOTE ? member.stop - member.start - 2 : 0;
  }
  has(name: string): boolean {
    const member = this.member(name);
    return member !== undefined && this.whole.toString('latin1', member.start, member.stop) !== 'null';
  }
  read(name: string): unknown {
    const member = this.member(name);
    return member === undefined ? undefined : parsed(this.whole.toString('utf8', member.start, member.stop));
  }
  copy(name: string): Buffer {
    const member = this.member(name);
    return member === undefined ? NO_BYTES : Buffer.from(this.whole.subarray(member.start, member.stop));
  }
  private member(name: string): Member | undefined {
    return this.members.findLast((member) => member.name === name);
  }
  toJSON(): undefined {}
}

/**
 * A record with lazy members. A class, because an object with getters of its own is slow to create.
 */
class LightRecord implements ProteinRecord {
  readonly protein_hash;
  readonly accession;
  readonly source;
  readonly header;
  readonly protein_name;
  readonly sequence;
  readonly sequence_length;
  readonly ptm;
  readonly mean_plddt;
  readonly folded_on_demand;
  readonly cluster_rep_protein_hash;
  private readonly parts: RecordParts;

  constructor(light: Light, parts: RecordParts) {
    this.protein_hash = light.protein_hash;
    this.accession = light.accession;
    this.source = light.source;
    this.header = light.header;
    this.protein_name = light.protein_name;
    this.sequence = light.sequence;
    this.sequence_length = light.sequence_length;
    this.ptm = light.ptm;
    this.mean_plddt = light.mean_plddt;
    this.folded_on_demand = light.folded_on_demand;
    this.cluster_rep_protein_hash = light.cluster_rep_protein_hash;
    this.parts = parts;
  }
  get pdb() {
    return validate('protein', coordinates, { pdb: this.parts.read('pdb') }).pdb;
  }
  get residues_plddt() {
    const given = { residues_plddt: this.parts.read('residues_plddt') };
    return validate('protein', confidences, given).residues_plddt;
  }
  get sae_features() {
    const values = readRanking(this.parts.read('sae_features'));
    if (values == null) return values;
    return normalizedFeatures(this.parts.settings, this, values, activationsIn(this.parts));
  }
  toJSON(): ProteinRecord {
    const { parts: _, ...light } = this;
    const { pdb, residues_plddt, sae_features } = this;
    return { ...light, pdb, residues_plddt, sae_features };
  }
}

/** The features of a record with half-open regions. @throws UpstreamError UPSTREAM_DRIFT */
export function normalizedFeatures(
  settings: object,
  record: Partial<Light>,
  values: readonly FeatureValue[],
  activations: () => SparseMatrix | undefined,
): FeatureValue[] {
  const length = lengthOf(record);
  const end = findRegionEnd(settings, values, { length, activations });
  return normalizeRegions('protein', '$.sae_features', values, end, { length });
}

/** What `end` of the record's regions means; undefined where the record does not show it. */
function regionEndIn(parts: RecordParts, length: number | undefined): RegionEnd | undefined {
  try {
    const values = readRanking(parts.read('sae_features')) ?? [];
    return findRegionEnd(parts.settings, values, { length, activations: activationsIn(parts) });
  } catch {
    // The reader of the features gets the error.
    return undefined;
  }
}

/** The features of a record that stay bytes until they are read. They hold nothing else of it. */
export class LazyFeatures {
  /** Bytes until then. */
  readonly size: number;
  private readonly settings: object;
  private readonly length: number | undefined;
  private readonly end: RegionEnd | undefined;
  private bytes: Buffer | undefined;
  private read: readonly FeatureValue[] = [];

  constructor(parts: RecordParts, record: Partial<Light>) {
    this.bytes = parts.copy('sae_features');
    this.size = this.bytes.length;
    this.settings = parts.settings;
    this.length = lengthOf(record);
    // The activations are not held: read them now, until the meaning of `end` is proven once.
    if (provenRegionEnd(parts.settings) === undefined) this.end = regionEndIn(parts, this.length);
  }
  /** @throws UpstreamError UPSTREAM_DRIFT */
  get values(): readonly FeatureValue[] {
    if (this.bytes !== undefined && this.size > 0) {
      const values = readRanking(parsed(this.bytes.toString('utf8'))) ?? [];
      const evidence = { length: this.length };
      const end = findRegionEnd(this.settings, values, evidence) ?? this.end;
      this.read = normalizeRegions('protein', '$.sae_features', values, end, evidence);
    }
    this.bytes = undefined;
    return this.read;
  }
}

/** The parsed members, and the unparsed rest. */
class ReadLightly {
  readonly record: ProteinRecord;
  readonly requestId: string | undefined;
  readonly parts: Parts;
  private parsed: { readonly raw: unknown } | undefined;

  constructor(light: Light, parts: Parts, requestId: string | undefined) {
    this.record = new LightRecord(light, parts);
    this.requestId = requestId;
    this.parts = parts;
  }
  get raw(): unknown {
    this.parsed ??= { raw: parsed(this.parts.whole.toString('utf8')) };
    return this.parsed.raw;
  }
  toJSON(): WithRaw<ProteinRecord> {
    const { record, raw, requestId } = this;
    return { record, raw, requestId };
  }
}

/** The members that are parsed at once, as an object. Adjacent members are copied as one. */
function lightText(bytes: Buffer, members: readonly Member[]): string {
  let text = '{';
  for (let i = 0; i < members.length; i += 1) {
    const first = members[i];
    if (first === undefined || !LIGHT.has(first.name)) continue;
    let { stop } = first;
    for (let next = members[i + 1]; next !== undefined && LIGHT.has(next.name); next = members[i + 1]) {
      stop = next.stop;
      i += 1;
    }
    text += (text === '{' ? '' : ',') + bytes.toString('utf8', first.from, stop);
  }
  return `${text}}`;
}

/**
 * Reads a record.
 *
 * @returns undefined where a member parsed at once breaks the contract: reading the whole record
 *   says why
 */
export function lazyRecord(
  whole: Uint8Array,
  requestId: string | undefined,
  settings: object,
): ReadLightly | undefined {
  const bytes = Buffer.from(whole.buffer, whole.byteOffset, whole.byteLength);
  const members = objectMembers(bytes);
  if (members === undefined) return undefined;
  const found = lightly(lightText(bytes, members));
  return found === undefined
    ? undefined
    : new ReadLightly(found, new Parts(bytes, members, settings), requestId);
}
