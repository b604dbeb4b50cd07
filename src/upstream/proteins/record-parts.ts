// Structure, features and names of a single record, parsed lazily, and the check that it is that of
// the requested protein: the hash is the MD5 of the sequence, and lengths agree.
import { hash as digest } from 'node:crypto';
import { hasAtoms } from '../../structure/pdb.ts';
import { redact } from '../../telemetry/redact.ts';
import { readResidues } from '../archive/bulk-record.ts';
import { UpstreamError } from '../errors.ts';
import { validate } from '../http/validate-response.ts';
import { findRegionEnd, normalizeRegions, provenRegionEnd, type RegionEnd } from '../reads/region-ends.ts';
import { type FeatureValue, type ProteinRecord, proteinRecord } from '../wire.ts';
import type { ProteinParts } from './protein-data.ts';
import { parseMember, type ReadRecord } from './protein-record.ts';

/** Whether a protein hash is that of a sequence. */
export const isSequenceOf = (hash: string, sequence: string): boolean => digest('md5', sequence) === hash;

/** An answer that contradicts itself or the question. */
export const contradiction = (path: string, expected: string, seen: string): UpstreamError =>
  new UpstreamError(
    redact(`The upstream's answer to protein is wrong at ${path}: expected ${expected}, seen ${seen}.`),
    { operation: 'protein', code: 'UPSTREAM_DRIFT', retryable: false },
  );

/**
 * Checks that a record is that of a protein.
 *
 * @throws UpstreamError UPSTREAM_DRIFT with the JSON path, the expected and the seen value
 */
export function checkRecord(hash: string, { record }: ReadRecord): void {
  const { protein_hash: own } = record;
  if (own !== hash) throw contradiction('$.protein_hash', hash, own);
  const { sequence } = record;
  if (sequence == null) return;
  if (!isSequenceOf(hash, sequence))
    throw contradiction('$.sequence', `a sequence whose MD5 is ${hash}`, `one of ${sequence.length} letters`);
  const { length } = sequence;
  const { sequence_length: stated = length } = record;
  if (stated !== null && stated !== length)
    throw contradiction('$.sequence_length', `${length} as the sequence has`, String(stated));
}

type Structure = NonNullable<ProteinParts['structure']>;

/** B-factors have two digits: values are the same whichever way they come. */
const toTwoDigits = (value: number | null): number | null =>
  value === null ? null : Number(value.toFixed(2));

/** What an answer in JSON says of a structure. */
type StructureMembers = Pick<ProteinRecord, 'pdb' | 'ptm' | 'mean_plddt' | 'residues_plddt'>;

/** The structure of a record or a hit, with lazy coordinates. A class: it is created fast. */
export class RecordStructure implements Structure {
  readonly size: number;
  readonly held: number;
  readonly ptm: number | null;
  private readonly record: StructureMembers;

  constructor(record: StructureMembers, size: number, held: number) {
    this.record = record;
    this.size = size;
    this.held = held;
    this.ptm = record.ptm ?? null;
  }
  get pdb() {
    return this.record.pdb ?? '';
  }
  /** A list that the record leaves out stands in the coordinates as well, with two digits. */
  get plddt() {
    return this.record.residues_plddt?.map(toTwoDigits) ?? readResidues(this.pdb).plddt;
  }
  get meanPlddt() {
    return this.record.mean_plddt ?? readResidues(this.pdb).mean;
  }
  /** What the answer states, for {@link storedStructure}. */
  toJSON(): StructureMembers {
    const { pdb, ptm, mean_plddt, residues_plddt } = this.record;
    return { pdb, ptm, mean_plddt, residues_plddt };
  }
}

/** A structure that was written as JSON, by this or by that of an archive. */
export function storedStructure(written: unknown): RecordStructure {
  // Only the cache writes what it reads.
  const members = written as StructureMembers;
  const size = members.pdb?.length ?? 0;
  return new RecordStructure(members, size, size + 8 * (members.residues_plddt?.length ?? 0));
}

/** The scores of a structure without coordinates; null where there are none either. */
export const scoresAlone = ({ ptm, mean_plddt, residues_plddt }: StructureMembers): Structure | null =>
  ptm == null && mean_plddt == null
    ? null
    : new RecordStructure({ pdb: null, ptm, mean_plddt, residues_plddt }, 0, 0);

const structureMembers = proteinRecord.pick({
  pdb: true,
  ptm: true,
  mean_plddt: true,
  residues_plddt: true,
});

/**
 * The structure of a whole record; null where the record has no coordinates.
 *
 * @throws UpstreamError UPSTREAM_DRIFT
 */
export function structureInRecord(raw: unknown): Structure | null {
  const members = validate('protein', structureMembers, raw);
  return !hasAtoms(members.pdb ?? '') ? null : storedStructure(members);
}

/** The structure of a record; undefined where the coordinates are absent instead of null. */
export function structureOf({ record, parts }: ReadRecord): Structure | null | undefined {
  const packed = parts.lengthOf('pdb');
  if (packed > 0 && (parts.holds('pdb', '\\nATOM') || hasAtoms(record.pdb ?? '')))
    return new RecordStructure(record, packed, parts.bytes);
  return packed === 0 && record.pdb === undefined ? undefined : scoresAlone(record);
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

/** What the FASTA header of a record says of its protein. */
export interface HeaderNames {
  readonly name?: string | undefined;
  readonly organism?: string | undefined;
  readonly gene?: string | undefined;
  /** Whether it has the form of UniProt, which leaves out only what is not known. */
  readonly isComplete: boolean;
}

/** The values of `OS=`, `GN=`, `Tax=` and the like, which may hold spaces. */
function tagsOf(words: readonly string[]): { before: string; tags: ReadonlyMap<string, string> } {
  const tags = new Map<string, string>();
  const before: string[] = [];
  let tag: string | undefined;
  for (const word of words) {
    const equals = /^[A-Za-z]{1,6}=/.test(word) ? word.indexOf('=') : -1;
    if (equals > 0) {
      tag = word.slice(0, equals);
      tags.set(tag, word.slice(equals + 1));
    } else if (tag === undefined) before.push(word);
    else tags.set(tag, `${tags.get(tag)} ${word}`);
  }
  return { before: before.join(' '), tags };
}

/**
 * Reads a FASTA header, whose first word is the identifier: `sp|P69905|HBA_HUMAN Hemoglobin subunit
 * alpha OS=Homo sapiens OX=9606 GN=HBA1`, `UniRef90_A0A009 Serpin n=2 Tax=Mus TaxID=10088`,
 * `UPI000002 Insulin [Homo sapiens]`.
 */
export function readHeader(header: string | null | undefined): HeaderNames {
  const { before, tags } = tagsOf((header ?? '').trim().split(/\s+/).slice(1));
  const bracket = before.endsWith(']') ? before.lastIndexOf('[') : -1;
  const name = (bracket < 0 ? before : before.slice(0, bracket)).trim();
  const bracketed = bracket < 0 ? undefined : before.slice(bracket + 1, -1).trim();
  return {
    name: name || undefined,
    organism: (tags.get('OS') ?? tags.get('Tax') ?? bracketed) || undefined,
    gene: tags.get('GN') || undefined,
    isComplete: tags.has('OS'),
  };
}
