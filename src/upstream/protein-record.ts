// The record of a protein whose coordinates and activations stay bytes until somebody reads them: they are nine tenths of it, and most
// who ask for a protein do not ask for them. It makes no call.
import type { WithRaw } from './atlas.ts';
import { checked } from './checked.ts';
import { UpstreamError } from './errors.ts';
import { objectMembers } from './json-object.ts';
import { parseLenient } from './lenient-json.ts';
import { type ProteinRecord, proteinRecord } from './wire.ts';

/** The members of a record that are bytes until they are read. */
export interface RecordParts {
  /** Bytes between the quotes of a member that is a string; 0 for any other. */
  lengthOf(name: string): number;
  /** The member as it came. @throws UpstreamError UPSTREAM_DRIFT when it is no JSON */
  read(name: string): unknown;
  /** Bytes of the whole record, which are held as long as any part of it is. */
  readonly bytes: number;
  /** It is no part of what is written down. */
  toJSON(): undefined;
}

/** Members that are parsed at once, together. */
const LIGHT = Object.keys(proteinRecord.shape).filter(
  (name) => !['pdb', 'residues_plddt', 'sae_features'].includes(name),
);
const { pdb, residues_plddt: plddt, sae_features: features } = proteinRecord.shape;
const QUOTE = 0x22;

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

function lightly(text: string): ProteinRecord | undefined {
  try {
    return proteinRecord.safeParse(parseLenient(text)).data;
  } catch {
    return undefined;
  }
}

/**
 * Reads a record.
 *
 * @returns undefined where what is read at once is not what is promised: whoever reads it whole can say why
 */
export function lightRecord(
  whole: Uint8Array,
  requestId: string | undefined,
): (WithRaw<ProteinRecord> & { readonly parts: RecordParts }) | undefined {
  const bytes = Buffer.from(whole.buffer, whole.byteOffset, whole.byteLength);
  const members = objectMembers(bytes);
  if (members === undefined) return undefined;
  const text = (name: string): string => members.get(name)?.toString('utf8') ?? '';
  const light = LIGHT.flatMap((name) => (members.has(name) ? [`"${name}":${text(name)}`] : []));
  const read = (name: string): unknown => (members.has(name) ? parsed(text(name)) : undefined);
  const record = lightly(`{${light.join(',')}}`);
  if (record === undefined) return undefined;
  let raw: unknown;
  return {
    record: {
      ...record,
      get pdb() {
        return checked('protein', pdb, read('pdb'));
      },
      get residues_plddt() {
        return checked('protein', plddt, read('residues_plddt'));
      },
      get sae_features() {
        return checked('protein', features, read('sae_features'));
      },
    },
    get raw() {
      raw ??= parsed(bytes.toString('utf8'));
      return raw;
    },
    requestId,
    parts: {
      lengthOf(name) {
        const member = members.get(name);
        return member?.[0] === QUOTE ? member.length - 2 : 0;
      },
      read,
      bytes: bytes.length,
      toJSON: () => undefined,
    },
  };
}
