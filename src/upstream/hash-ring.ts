// Bytes kept under protein hashes in memory that is taken once: what is kept last takes the place of what was kept longest ago. The collector
// sees none of it, which for what is seldom asked for again costs less than a Map, its keys and its entries. It knows nothing of what the bytes say.
import { HASH_WORDS, placeOf, wordOf } from './hash-words.ts';

const MiB = 1024 ** 2;
/** Entries that have a common place in the index; the oldest of them goes first. */
const WAYS = 4;
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
  const places = 2 ** Math.ceil(Math.log2(maxBytes / usualBytes));
  /** Where entries begin, counted from the first byte that was ever kept, and one more; 0 where there is none. Made with the first of them. */
  let index = new Float64Array(0);
  /** The second word of each hash: nearly always enough to tell it from another without looking at the entry. */
  let tags = new Uint32Array(0);
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
  const firstOf = (hash: string): number => (placeOf(hash) & (places - 1)) * WAYS;
  /** Where in the index a hash stands; -1 for one that is not there. */
  const find = (hash: string): number => {
    if (index.length === 0) return -1;
    const first = firstOf(hash);
    const tag = wordOf(hash, 1);
    for (let slot = first; slot < first + WAYS; slot += 1) {
      const at = (index[slot] ?? 0) - 1;
      if (tags[slot] === tag && at >= 0 && isThere(at) && isOf(at, hash)) return slot;
    }
    return -1;
  };
  /** Takes an entry out of the index; what is younger stays in front of what is older. */
  const remove = (hash: string): void => {
    const slot = find(hash);
    if (slot === -1) return;
    const end = firstOf(hash) + WAYS;
    index.copyWithin(slot, slot + 1, end);
    tags.copyWithin(slot, slot + 1, end);
    index[end - 1] = 0;
  };

  return {
    put(hash, length) {
      remove(hash);
      const bytes = HEAD + length;
      if (bytes > MiB) return undefined;
      if (index.length === 0) {
        index = new Float64Array(places * WAYS);
        tags = new Uint32Array(places * WAYS);
      }
      if ((next % MiB) + bytes > MiB) next += MiB - (next % MiB);
      const at = next;
      next += bytes;
      const first = firstOf(hash);
      index.copyWithin(first + 1, first, first + WAYS - 1);
      tags.copyWithin(first + 1, first, first + WAYS - 1);
      index[first] = at + 1;
      tags[first] = wordOf(hash, 1);
      const piece = pieceOf(at);
      const from = at % MiB;
      piece.writeUInt32LE(length, from);
      for (let word = 0; word < HASH_WORDS; word += 1)
        piece.writeUInt32LE(wordOf(hash, word), from + WORD * (1 + word));
      return piece.subarray(from + HEAD, from + bytes);
    },
    get(hash) {
      const slot = find(hash);
      if (slot === -1) return undefined;
      const at = (index[slot] ?? 0) - 1;
      const from = at % MiB;
      const piece = pieceOf(at);
      return piece.subarray(from + HEAD, from + HEAD + piece.readUInt32LE(from));
    },
    delete: remove,
  };
}
