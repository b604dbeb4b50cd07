// Archives kept as they came, each found by any of the proteins that it is still kept for. It does not know what they say.
import { openRecent } from '../store/recent.ts';
import type { Archive } from './bulk-fetch.ts';

export interface KeptArchives {
  /** The archive that was kept last for a protein. */
  of(hash: string): Archive | undefined;
  /** Keeps an archive for all of its proteins. @param milliseconds - at most */
  keep(archive: Archive, milliseconds: number): void;
  /**
   * Says that an archive need not be kept for some of its proteins any more.
   *
   * @returns proteins for which it is not kept any more either, because only few are left: an archive takes as much for one as for all
   */
  leave(archive: Archive, hashes: readonly string[]): readonly string[];
}

/** The part of an archive's proteins for which it is worth to be kept. */
const LEAST_SHARE = 1 / 2;
/** Bytes that an entry takes beside its share of the archive. */
const OVERHEAD = 100;

/** @param maxBytes - of all archives together, and up to twice as much where they are kept for some of their proteins */
export function openKeptArchives(maxBytes: number): KeptArchives {
  const archives = openRecent<Archive>({
    maxBytes,
    largestShare: 1,
    sizeOf: ({ byteLength, hashes }) => OVERHEAD + byteLength / hashes.length,
    now: Date.now,
  });
  /** For how many proteins each is kept still. */
  const left = new WeakMap<Archive, number>();

  function leave(archive: Archive, hashes: readonly string[]): readonly string[] {
    for (const hash of hashes) if (archives.get(hash) === archive) archives.set(hash, archive, 0);
    const count = (left.get(archive) ?? 0) - hashes.length;
    left.set(archive, count);
    if (count >= archive.hashes.length * LEAST_SHARE) return [];
    const others = archive.hashes.filter((hash) => archives.get(hash) === archive);
    for (const hash of others) archives.set(hash, archive, 0);
    return others;
  }

  return {
    of: archives.get,
    keep(archive, milliseconds) {
      const before = new Map<Archive, string[]>();
      for (const hash of archive.hashes) {
        const other = archives.get(hash);
        if (other !== undefined) before.set(other, [...(before.get(other) ?? []), hash]);
      }
      for (const [other, hashes] of before) leave(other, hashes);
      left.set(archive, archive.hashes.length);
      for (const hash of archive.hashes) archives.set(hash, archive, milliseconds);
    },
    leave,
  };
}
