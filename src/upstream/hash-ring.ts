// Bytes kept under protein hashes in memory that is taken once: what is kept last takes the place of what was kept longest ago. The collector
// sees none of it, which for what is seldom asked for again costs less than a Map, its keys and its entries. It knows nothing of what the bytes say.
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
  const most = maxBytes / MiB;
  const pieces: Buffer[] = [];
  /** Where entries begin, counted from the first byte that was ever kept, and one more. */
  const index = new HashTable(maxBytes / usualBytes);
  /** Of the next entry, counted in the same way. */
  let next = 0;

  const pieceOf = (at: number): Buffer => {
    const place = Math.floor(at / MiB) % most;
    const known = pieces[place];
    if (known !== undefined) return known;
    const piece = Buffer.allocUnsafeSlow(MiB);
    pieces[place] = piece;
    return piece;
  };
  const isThere = (at: number): boolean => Math.floor(at / MiB) > Math.floor((next - 1) / MiB) - most;
  const isOf = (at: number, hash: string): boolean => {
    const piece = pieceOf(at);
    for (let word = 0; word < HASH_WORDS; word += 1)
      if (piece.readUInt32LE((at % MiB) + WORD * (1 + word)) !== wordOf(hash, word)) return false;
    return true;
  };
  /** Where the entry of a hash begins; -1 where there is none. */
  const find = (hash: string): number => {
    const at = index.get(hash) - 1;
    return at >= 0 && isThere(at) && isOf(at, hash) ? at : -1;
  };

  return {
    put(hash, length) {
      const bytes = HEAD + length;
      if (bytes > MiB) {
        index.delete(hash);
        return undefined;
      }
      if ((next % MiB) + bytes > MiB) next += MiB - (next % MiB);
      const at = next;
      next += bytes;
      index.set(hash, at + 1);
      const piece = pieceOf(at);
      const from = at % MiB;
      piece.writeUInt32LE(length, from);
      for (let word = 0; word < HASH_WORDS; word += 1)
        piece.writeUInt32LE(wordOf(hash, word), from + WORD * (1 + word));
      return piece.subarray(from + HEAD, from + bytes);
    },
    get(hash) {
      const at = find(hash);
      if (at === -1) return undefined;
      const from = at % MiB;
      const piece = pieceOf(at);
      return piece.subarray(from + HEAD, from + HEAD + piece.readUInt32LE(from));
    },
    delete: (hash) => index.delete(hash),
  };
}
