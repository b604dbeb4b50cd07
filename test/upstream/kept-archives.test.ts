// Archives that are kept as they came take no more memory than they are worth, whatever is asked for again of them.
import { describe, expect, it } from 'vitest';
import type { Archive } from '../../src/upstream/bulk-fetch.ts';
import { copyOf, isThere, openByteRing, type Place } from '../../src/upstream/byte-ring.ts';
import { openKeptArchives } from '../../src/upstream/kept-archives.ts';

const HOUR = 3_600_000;

function archiveOf(hashes: readonly string[], byteLength = 1000): Archive {
  let place: Place | undefined;
  return {
    hashes,
    needs: {},
    byteLength,
    moveTo(ring) {
      place ??= ring.put([new Uint8Array(byteLength)]);
    },
    isThere: () => place !== undefined && isThere(place),
    read: () => Promise.reject(new Error('nobody reads it here')),
  };
}
const hashes = (from: number, count: number) =>
  Array.from({ length: count }, (_, n) => `protein ${from + n}`);

describe('kept archives', () => {
  it('are found by their proteins, the latest first, until these are left', () => {
    const kept = openKeptArchives(1e6);
    const [first, second] = [archiveOf(hashes(0, 4)), archiveOf(hashes(3, 4))];
    kept.keep(first, HOUR);
    kept.keep(second, HOUR);
    expect(hashes(0, 8).map((hash) => [first, second].indexOf(kept.of(hash) ?? archiveOf([])))).toEqual([
      0, 0, 0, 1, 1, 1, 1, -1,
    ]);
    expect(kept.leave(second, ['protein 4'])).toEqual([]);
    expect(kept.of('protein 4')).toBeUndefined();
    expect(kept.of('protein 5')).toBe(second);
  });

  it('are given up for all when they are kept for less than half', () => {
    const kept = openKeptArchives(1e6);
    const archive = archiveOf(hashes(0, 10));
    kept.keep(archive, HOUR);
    expect(kept.leave(archive, hashes(0, 5))).toEqual([]);
    expect(kept.leave(archive, hashes(5, 1))).toEqual(hashes(6, 4));
    for (const hash of archive.hashes) expect(kept.of(hash)).toBeUndefined();
  });

  it('never take more than they may, though each is kept for a protein that nobody else has', () => {
    const MOST = 50_000;
    for (const leaves of [false, true]) {
      const kept = openKeptArchives(MOST);
      for (let n = 0; n < 300; n += 1) {
        const archive = archiveOf([...hashes(0, 39), `own ${n}`]);
        kept.keep(archive, HOUR);
        if (leaves) kept.leave(archive, hashes(0, 39));
      }
      const all = [...hashes(0, 39), ...Array.from({ length: 300 }, (_, n) => `own ${n}`)];
      const held = new Set(all.map((hash) => kept.of(hash)).filter((archive) => archive !== undefined));
      expect(held.size * 1000).toBeLessThanOrEqual(MOST);
    }
  });

  it('are given up together with those beside them, the oldest first', () => {
    const kept = openKeptArchives(60_000);
    const archives = Array.from({ length: 90 }, (_, n) => archiveOf([`own ${n}`], 4000));
    for (const [n, archive] of archives.entries()) {
      kept.keep(archive, HOUR);
      const there = archives.slice(0, n + 1).filter((_, m) => kept.of(`own ${m}`) !== undefined);
      expect(there).toEqual(archives.slice(n + 1 - there.length, n + 1));
      if (n > 12) expect(there.length).toBeGreaterThanOrEqual(7);
      expect(there.length).toBeLessThanOrEqual(12);
    }
  });

  it('that are larger than anything may be are not kept', () => {
    const kept = openKeptArchives(6000);
    const archive = archiveOf(['a', 'b', 'c'], 1001);
    kept.keep(archive, HOUR);
    expect(kept.of('a')).toBeUndefined();
  });
});

describe('a ring of bytes', () => {
  it('gives what was put in as it was, or nothing', () => {
    const ring = openByteRing(100, 3);
    const puts = Array.from({ length: 40 }, (_, n) => {
      const pieces = [Uint8Array.of(n, 1), new Uint8Array(n).fill(n)];
      return { bytes: Buffer.concat(pieces), place: ring.put(pieces) };
    });
    const found = puts.map(({ place }) => place && copyOf(place));
    const last = found.filter((bytes) => bytes !== undefined);
    expect(last.length).toBeGreaterThanOrEqual(4);
    expect(last.map((bytes) => Buffer.from(bytes))).toEqual(
      puts.slice(-last.length).map(({ bytes }) => bytes),
    );
  });
});
