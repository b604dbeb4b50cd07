// Archives kept as they came, each found by any of its proteins, in memory that is taken once. A Map of proteins grew by as many as a list has
// with each list, and most of what it took was to look up in it what was never there. It does not know what archives say.
import { Passing } from '../passing.ts';
import type { Archive } from './bulk-fetch.ts';
import { openByteRing } from './byte-ring.ts';
import { placeOf, tagOf } from './hash-words.ts';

export interface KeptArchives {
  /** The archive that was kept last for a protein. */
  of(hash: string): Archive | undefined;
  /** Keeps an archive for all of its proteins. @param milliseconds - at most */
  keep(archive: Archive, milliseconds: number): void;
  /** Says that some proteins need not be found any more. */
  forget(hashes: readonly string[]): void;
}

/** Into so many blocks the memory of archives is divided: all in one of them are given up together. */
const BLOCKS = 6;
/** Bytes that an archive has of a protein, about. */
const USUAL = 1500;
/** Proteins that have a common place in the index; the oldest of them goes first. */
const WAYS = 8;

/** @param maxBytes - of all archives together */
export function openKeptArchives(maxBytes: number): KeptArchives {
  const ring = openByteRing(Math.ceil(maxBytes / BLOCKS), BLOCKS);
  const places = 2 ** Math.ceil(Math.log2(maxBytes / USUAL));
  /** Of each protein a number that stands for it, and that of its archive; 0 where there is none. */
  const tags = new Uint32Array(places * WAYS);
  const numbers = new Uint32Array(places * WAYS);
  const archives = new Passing<number, { readonly archive: Archive; readonly until: number }>();
  let [oldest, latest] = [1, 0];

  const firstOf = (hash: string): number => (placeOf(hash) & (places - 1)) * WAYS;
  /** Where in the index a protein stands; -1 where it does not. */
  function find(hash: string): number {
    const first = firstOf(hash);
    const tag = tagOf(hash);
    for (let at = first; at < first + WAYS; at += 1) if (tags[at] === tag && numbers[at] !== 0) return at;
    return -1;
  }
  function put(hash: string, number: number): void {
    const known = find(hash);
    const first = firstOf(hash);
    const end = known === -1 ? first + WAYS - 1 : known;
    tags.copyWithin(first + 1, first, end);
    numbers.copyWithin(first + 1, first, end);
    tags[first] = tagOf(hash);
    numbers[first] = number;
  }

  return {
    of(hash) {
      const at = find(hash);
      const kept = at === -1 ? undefined : archives.get(numbers[at] ?? 0);
      return kept?.archive.isThere() === true && kept.until > Date.now() ? kept.archive : undefined;
    },
    keep(archive, milliseconds) {
      archive.moveTo(ring);
      if (!archive.isThere()) return;
      for (; oldest <= latest && archives.get(oldest)?.archive.isThere() !== true; oldest += 1)
        archives.delete(oldest);
      latest += 1;
      archives.set(latest, { archive, until: Date.now() + milliseconds });
      for (const hash of archive.hashes) put(hash, latest);
    },
    forget(hashes) {
      for (const hash of hashes) {
        const at = find(hash);
        if (at !== -1) numbers[at] = 0;
      }
    },
  };
}
