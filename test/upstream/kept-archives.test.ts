// Archives that are kept as they came take no more memory than they are worth, whatever is asked for again of them.
import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { Archive } from '../../src/upstream/bulk-fetch.ts';
import { copyOf, isThere, keepIn, openByteRing, type Place } from '../../src/upstream/byte-ring.ts';
import { openKeptArchives } from '../../src/upstream/kept-archives.ts';

const HOUR = 3_600_000;

function archiveOf(hashes: readonly string[], byteLength = 1000): Archive {
  let place: Place | undefined;
  return {
    hashes,
    needs: {},
    byteLength,
    moveTo(ring) {
      place ??= keepIn(ring, [new Uint8Array(byteLength)]);
    },
    isThere: () => place !== undefined && isThere(place),
    read: () => Promise.reject(new Error('nobody reads it here')),
  };
}
const hashOf = (name: string) => createHash('md5').update(name).digest('hex');
const hashes = (from: number, count: number) =>
  Array.from({ length: count }, (_, n) => hashOf(`protein ${from + n}`));

describe('kept archives', () => {
  it('are found by their proteins, the latest first, until these are forgotten or too old', () => {
    const kept = openKeptArchives(1e6);
    const [first, second] = [archiveOf(hashes(0, 4)), archiveOf(hashes(3, 4))];
    kept.keep(first, HOUR);
    kept.keep(second, HOUR);
    expect(hashes(0, 8).map((hash) => [first, second].indexOf(kept.of(hash) ?? archiveOf([])))).toEqual([
      0, 0, 0, 1, 1, 1, 1, -1,
    ]);
    kept.forget(hashes(4, 1));
    expect(hashes(3, 3).map((hash) => kept.of(hash) === second)).toEqual([true, false, true]);
    kept.keep(first, 0);
    expect(hashes(0, 1).map(kept.of)).toEqual([undefined]);
    expect(hashes(5, 1).map(kept.of)).toEqual([second]);
  });

  it('are found by each of many thousand proteins', () => {
    const kept = openKeptArchives(24 * 1024 ** 2);
    const archives = Array.from({ length: 150 }, (_, n) => archiveOf(hashes(100 * n, 100), 125_000));
    for (const archive of archives) kept.keep(archive, HOUR);
    for (const archive of archives) expect(new Set(archive.hashes.map(kept.of))).toEqual(new Set([archive]));
  });

  it('never take more than they may, though each is kept for a protein that nobody else has', () => {
    const MOST = 50_000;
    for (const forgets of [false, true]) {
      const kept = openKeptArchives(MOST);
      for (let n = 0; n < 300; n += 1) {
        const archive = archiveOf([...hashes(0, 39), hashOf(`own ${n}`)]);
        kept.keep(archive, HOUR);
        if (forgets) kept.forget(hashes(0, 39));
      }
      const all = [...hashes(0, 39), ...Array.from({ length: 300 }, (_, n) => hashOf(`own ${n}`))];
      const held = new Set(all.map((hash) => kept.of(hash)).filter((archive) => archive !== undefined));
      expect(held.size * 1000).toBeLessThanOrEqual(MOST);
    }
  });

  it('are given up together with those beside them, the oldest first', () => {
    const kept = openKeptArchives(60_000);
    const archives = Array.from({ length: 90 }, (_, n) => archiveOf([hashOf(`own ${n}`)], 4000));
    for (const [n, archive] of archives.entries()) {
      kept.keep(archive, HOUR);
      const there = archives.slice(0, n + 1).filter((_, m) => kept.of(hashOf(`own ${m}`)) !== undefined);
      expect(there).toEqual(archives.slice(n + 1 - there.length, n + 1));
      if (n >= 12) expect(there.length).toBeGreaterThanOrEqual(11);
      expect(there.length).toBeLessThanOrEqual(12);
    }
  });

  it('that are larger than anything may be are not kept', () => {
    const kept = openKeptArchives(6000);
    const archive = archiveOf(hashes(0, 3), 1001);
    kept.keep(archive, HOUR);
    expect(hashes(0, 3).map(kept.of)).toEqual([undefined, undefined, undefined]);
  });
});

describe('a ring of bytes', () => {
  it('gives what was put in as it was, or nothing', () => {
    const ring = openByteRing(100, 3);
    const puts = Array.from({ length: 40 }, (_, n) => {
      const pieces = [Uint8Array.of(n, 1), new Uint8Array(n).fill(n)];
      return { bytes: Buffer.concat(pieces), place: keepIn(ring, pieces) };
    });
    const found = puts.map(({ place }) => place && copyOf(place));
    const last = found.filter((bytes) => bytes !== undefined);
    expect(last.length).toBeGreaterThanOrEqual(4);
    expect(last.map((bytes) => Buffer.from(bytes))).toEqual(
      puts.slice(-last.length).map(({ bytes }) => bytes),
    );
  });
});
