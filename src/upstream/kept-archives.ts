// Archives kept as they came, each found by any of the proteins that it is still kept for. It does not know what they say.
import type { Archive } from './bulk-fetch.ts';
import { openByteRing } from './byte-ring.ts';

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
/** Bytes that a protein takes beside its share of the archive. */
const OVERHEAD = 100;

/** Into so many blocks the memory of archives is divided: all in one of them are given up together. */
const BLOCKS = 6;

/** @param maxBytes - of all archives together */
export function openKeptArchives(maxBytes: number): KeptArchives {
  const ring = openByteRing(Math.ceil(maxBytes / BLOCKS), BLOCKS);
  // Two generations, the older of which is forgotten at once.
  let young = new Map<string, Archive>();
  let old = new Map<string, Archive>();
  let youngBytes = 0;
  /** For how many of its proteins each is kept still, and until when. */
  const kept = new WeakMap<Archive, { left: number; readonly until: number }>();

  function of(hash: string): Archive | undefined {
    const archive = young.get(hash) ?? old.get(hash);
    if (archive?.isThere() !== true) return undefined;
    return (kept.get(archive)?.until ?? 0) > Date.now() ? archive : undefined;
  }

  function forget(archive: Archive, hashes: readonly string[]): void {
    for (const hash of hashes)
      for (const some of [young, old]) if (some.get(hash) === archive) some.delete(hash);
  }

  function leave(archive: Archive, hashes: readonly string[]): readonly string[] {
    forget(archive, hashes);
    const own = kept.get(archive);
    if (own === undefined) return [];
    own.left -= hashes.length;
    if (own.left >= archive.hashes.length * LEAST_SHARE) return [];
    const others = archive.hashes.filter((hash) => of(hash) === archive);
    forget(archive, others);
    return others;
  }

  return {
    of,
    keep(archive, milliseconds) {
      archive.moveTo(ring);
      if (!archive.isThere()) return;
      const before = new Map<Archive, string[]>();
      for (const hash of archive.hashes) {
        const other = of(hash);
        if (other !== undefined) before.set(other, [...(before.get(other) ?? []), hash]);
      }
      for (const [other, hashes] of before) leave(other, hashes);
      const bytes = archive.byteLength + OVERHEAD * archive.hashes.length;
      if (youngBytes + bytes > maxBytes / 2) {
        old = young;
        young = new Map();
        youngBytes = 0;
      }
      youngBytes += bytes;
      kept.set(archive, { left: archive.hashes.length, until: Date.now() + milliseconds });
      for (const hash of archive.hashes) young.set(hash, archive);
    },
    leave,
  };
}
