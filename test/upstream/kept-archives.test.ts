// Archives that are kept as they came take no more memory than they are worth, whatever is asked for again of them.
import { describe, expect, it } from 'vitest';
import type { Archive } from '../../src/upstream/bulk-fetch.ts';
import { openKeptArchives } from '../../src/upstream/kept-archives.ts';

const HOUR = 3_600_000;

const archiveOf = (hashes: readonly string[], byteLength = 1000): Archive => ({
  hashes,
  needs: {},
  byteLength,
  read: () => Promise.reject(new Error('nobody reads it here')),
});
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

  it('never take more than twice of what they may, though each is kept for a protein that nobody else has', () => {
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
      expect(held.size * 1000).toBeLessThanOrEqual(2 * MOST);
    }
  });
});
