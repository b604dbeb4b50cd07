// The small members of single records kept as they came, for who asks for the same protein soon. Under a flood of proteins that nobody has asked
// for before, keeping them as objects was a fifth of all that is done for a record. It makes no call and decides nothing about what is kept.
import { openHashRing } from './hash-ring.ts';
import { fromRecord } from './protein-answers.ts';
import type { ProteinData } from './protein-data.ts';
import { lightRecord } from './protein-record.ts';

export interface KeptRecords {
  /**
   * Keeps what a record says but for its large parts, in the place of what was kept of the same protein.
   *
   * @param milliseconds - at most
   * @returns false where that can only be kept otherwise: not every record was read lightly, and some say more
   */
  keep(data: ProteinData, milliseconds: number): boolean;
  /** Gives away what is kept of a protein. */
  take(hash: string): ProteinData | undefined;
  /** Lets go of what is kept of a protein. */
  drop(hash: string): void;
}

/** Bytes that a record without its large parts takes, about: most of it are its top features. */
const USUAL = 8192;
/** Of an entry: until when it is kept, when it came, how many top features it has, and the length of the name of the answer. */
const UNTIL = 0;
const AT = 8;
const TOP = 16;
const NAME = 17;
const HEAD = 18;
const LONGEST_NAME = 255;

/** @param maxBytes - whole mebibytes */
export function openKeptRecords(maxBytes: number): KeptRecords {
  const ring = openHashRing(maxBytes, USUAL);
  return {
    keep(data, milliseconds) {
      const { hash, record, features, rows, from } = data;
      const parts = record?.parts;
      if (parts === undefined || features === undefined || rows != null || from === undefined) return false;
      const name = from.requestId ?? '';
      const length = Buffer.byteLength(name);
      if (length > LONGEST_NAME || features.top > 255) return false;
      const entry = ring.put(hash, HEAD + length + parts.smallBytes);
      if (entry === undefined) return false;
      entry.writeDoubleLE(Date.now() + milliseconds, UNTIL);
      entry.writeDoubleLE(from.retrievedAt.getTime(), AT);
      entry[TOP] = features.top;
      entry[NAME] = entry.write(name, HEAD);
      parts.writeSmall(entry, HEAD + length);
      return true;
    },
    take(hash) {
      const entry = ring.get(hash);
      if (entry === undefined) return undefined;
      ring.delete(hash);
      if (entry.readDoubleLE(UNTIL) <= Date.now()) return undefined;
      const end = HEAD + (entry[NAME] ?? 0);
      const name = entry.toString('utf8', HEAD, end);
      // The place is soon another's.
      const found = lightRecord(Buffer.from(entry.subarray(end)), name === '' ? undefined : name);
      if (found === undefined) return undefined;
      const {
        structure: _,
        level: __,
        record: ___,
        ...small
      } = fromRecord(hash, { features: entry[TOP] ?? 1 }, found);
      return {
        ...small,
        from: {
          operation: 'protein',
          retrievedAt: new Date(entry.readDoubleLE(AT)),
          fromCache: true,
          requestId: found.requestId,
        },
      };
    },
    drop: ring.delete,
  };
}
