// A protein record whose members stay bytes until they are read: coordinates and activations are nine
// tenths of it, and most queries do not select them.
import type { z } from 'zod';
import { readMatrix, readVector, type SparseMatrix, type SparseVector } from '../archive/bulk-record.ts';
import { UpstreamError } from '../errors.ts';
import { validate } from '../http/validate-response.ts';
import { type Member, memberNamed, objectMembers, QUOTE } from '../json/json-scan.ts';
import { lazyObject } from '../json/late-members.ts';
import { parseLenient } from '../json/lenient-json.ts';
import { type ProteinRecord, proteinRecord } from '../wire.ts';

/** What cannot be read throws as the whole record would. */
export function parseMember(text: string): unknown {
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

const NO_BYTES = Buffer.alloc(0);

/** The members of a record as bytes. Reading one throws UPSTREAM_DRIFT when it is no JSON. */
export class RecordParts {
  /** Settings of the upstream that it came from. */
  readonly settings: object;
  private readonly whole: Buffer;
  private readonly members: readonly Member[];

  constructor(whole: Buffer, members: readonly Member[], settings: object) {
    this.whole = whole;
    this.members = members;
    this.settings = settings;
  }
  /** Bytes of the whole record, which are held as long as any part of it is. */
  get bytes(): number {
    return this.whole.length;
  }
  /** Bytes between the quotes of a member that is a string; 0 for any other. */
  lengthOf(name: string): number {
    const member = this.member(name);
    return member !== undefined && this.whole[member.start] === QUOTE ? member.stop - member.start - 2 : 0;
  }
  /** Whether the bytes of a member hold some text, which is written as JSON writes it. */
  holds(name: string, text: string): boolean {
    const member = this.member(name);
    return member !== undefined && this.whole.subarray(member.start, member.stop).includes(text);
  }
  /** Whether there is a member of that name that is not null. */
  has(name: string): boolean {
    const member = this.member(name);
    return member !== undefined && this.whole.toString('latin1', member.start, member.stop) !== 'null';
  }
  /** The member as it came; undefined without one. */
  read(name: string): unknown {
    const member = this.member(name);
    return member === undefined
      ? undefined
      : parseMember(this.whole.toString('utf8', member.start, member.stop));
  }
  /** The whole record as it came. */
  readAll(): unknown {
    return parseMember(this.whole.toString('utf8'));
  }
  /** A copy of a member's bytes alone; empty when the member is missing. */
  copy(name: string): Buffer {
    const member = this.member(name);
    return member === undefined ? NO_BYTES : Buffer.from(this.whole.subarray(member.start, member.stop));
  }
  /** The activations of all features; undefined where they are absent. */
  level(): SparseVector | undefined {
    return readVector(this.read('protein_activations'));
  }
  /** The activations along the sequence; undefined where they are absent. */
  perResidue(): SparseMatrix | undefined {
    return readMatrix(this.read('per_residue_activations'));
  }
  private member(name: string): Member | undefined {
    return memberNamed(this.members, name);
  }
}

/** A record as it was read. */
export interface ReadRecord {
  /** A large member that breaks the contract throws UPSTREAM_DRIFT when it is read. */
  readonly record: ProteinRecord;
  readonly parts: RecordParts;
  readonly requestId: string | undefined;
}

/** Splits a record into its members. @returns undefined for anything that is not plainly a JSON object */
export function splitRecord(whole: Uint8Array, settings: object): RecordParts | undefined {
  const bytes = Buffer.from(whole.buffer, whole.byteOffset, whole.byteLength);
  const members = objectMembers(bytes);
  return members === undefined ? undefined : new RecordParts(bytes, members, settings);
}

const LARGE = { pdb: true, residues_plddt: true, sae_features: true } as const;
const smallRecord = proteinRecord.omit(LARGE);
const SMALL = smallRecord.keyof().options;
const largeRecord = lazyObject('protein', proteinRecord.pick(LARGE));

/** The members of a record but those that are large, by the names in wire.ts. */
export type SmallMembers = Omit<z.output<typeof smallRecord>, 'sequence'>;

/** The small members, so that a member that wire.ts declares is there for its field. */
export const smallMembers = ({ record }: ReadRecord): SmallMembers =>
  Object.fromEntries(
    SMALL.filter((key) => key !== 'sequence').map((key) => [key, record[key]]),
  ) as SmallMembers;

/**
 * A record whose large members are parsed when they are read.
 *
 * @throws UpstreamError UPSTREAM_DRIFT where a small one breaks the contract
 */
export function recordOf(parts: RecordParts): ProteinRecord {
  const small = validate(
    'protein',
    smallRecord,
    Object.fromEntries(SMALL.map((key) => [key, parts.read(key)])),
  );
  return Object.assign(
    largeRecord((key) => parts.read(key)),
    small,
  );
}
