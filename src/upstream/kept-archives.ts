// Archives kept as they came, each found by any of its proteins, in memory that is taken once. A Map of proteins grew by as many as a list has
// with each list, and most of what it took was to look up in it what was never there. It does not know what archives say.
import { Passing } from '../passing.ts';
import type { Archive } from './bulk-fetch.ts';
import { openByteRing } from './byte-ring.ts';
import { HashTable } from './hash-table.ts';

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

/** @param maxBytes - of all archives together */
export function openKeptArchives(maxBytes: number): KeptArchives {
  const ring = openByteRing(Math.ceil(maxBytes / BLOCKS), BLOCKS);
  /** The number of the archive of each protein. */
  const numbers = new HashTable(maxBytes / USUAL);
  const archives = new Passing<number, { readonly archive: Archive; readonly until: number }>();
  let [oldest, latest] = [1, 0];

  return {
    of(hash) {
      const kept = archives.get(numbers.get(hash));
      return kept?.archive.isThere() === true && kept.until > Date.now() ? kept.archive : undefined;
    },
    keep(archive, milliseconds) {
      archive.moveTo(ring);
      if (!archive.isThere()) return;
      for (; oldest <= latest && archives.get(oldest)?.archive.isThere() !== true; oldest += 1)
        archives.delete(oldest);
      latest += 1;
      archives.set(latest, { archive, until: Date.now() + milliseconds });
      for (const hash of archive.hashes) numbers.set(hash, latest);
    },
    forget(hashes) {
      for (const hash of hashes) numbers.delete(hash);
    },
  };
}
