// Bytes kept under protein hashes in memory that is used over and over. The collector sees none of it, which for what is seldom asked for again
// costs less than a Map, its keys and its entries. It knows nothing of what the bytes say.
import { openByteRing } from './byte-ring.ts';
import { HashTable } from './hash-table.ts';
import { HASH_WORDS, wordOf } from './hash-words.ts';

const MiB = 1024 ** 2;
/** Of an entry: its length, then its hash. */
const WORD = 4;
const HEAD = WORD + HASH_WORDS * WORD;

export interface HashRing {
  /**
   * Makes room for an entry in the place of one with the same hash.
   *
   * @param length - bytes
   * @returns where to write it, at once; undefined where it is too large
   */
  put(hash: string, length: number): Buffer | undefined;
  /** The bytes of an entry, which are others after the next `put`. */
  get(hash: string): Buffer | undefined;
  delete(hash: string): void;
}

/**
 * @param maxBytes - whole mebibytes; they are taken one by one as they are needed, each of which holds entries whole
 * @param usualBytes - of an entry, about: of smaller ones fewer are kept than there would be room for
 */
export function openHashRing(maxBytes: number, usualBytes: number): HashRing {
  const ring = openByteRing(MiB, maxBytes / MiB);
  /** Where entries begin, and one more. */
  const index = new HashTable(maxBytes / usualBytes);

  const isOf = (entry: Buffer, hash: string): boolean => {
    for (let word = 0; word < HASH_WORDS; word += 1)
      if (entry.readUInt32LE(WORD * (1 + word)) !== wordOf(hash, word)) return false;
    return true;
  };

  return {
    put(hash, length) {
      const at = ring.room(HEAD + length);
      if (at === undefined) {
        index.delete(hash);
        return undefined;
      }
      index.set(hash, at + 1);
      const entry = ring.from(at);
      entry.writeUInt32LE(length);
      for (let word = 0; word < HASH_WORDS; word += 1)
        entry.writeUInt32LE(wordOf(hash, word), WORD * (1 + word));
      return entry.subarray(HEAD, HEAD + length);
    },
    get(hash) {
      const at = index.get(hash) - 1;
      if (at < 0 || !ring.isThere(at)) return undefined;
      const entry = ring.from(at);
      return isOf(entry, hash) ? entry.subarray(HEAD, HEAD + entry.readUInt32LE()) : undefined;
    },
    delete: (hash) => index.delete(hash),
  };
}
