// Bytes under hashes in memory that is taken once: whatever order they come in, nobody is given another's bytes, and what came last is there.
import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { openHashRing } from '../../src/upstream/hash-ring.ts';
import { wordOf } from '../../src/upstream/hash-words.ts';
import { openSeen } from '../../src/upstream/seen.ts';

const MiB = 1024 ** 2;
const hashOf = (n: number) => createHash('md5').update(String(n)).digest('hex');

it('the words of a hash are its digits, in either case', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 16, maxLength: 16 }), fc.boolean(), (bytes, isUpper) => {
      const hex = Buffer.from(bytes).toString('hex');
      const hash = isUpper ? hex.toUpperCase() : hex;
      for (const word of [0, 1, 2, 3])
        expect(wordOf(hash, word)).toBe(Buffer.from(bytes).readUInt32BE(4 * word));
    }),
  );
});

describe('a ring of bytes under hashes', () => {
  /** What an entry is filled with: no two of them are alike. */
  const fill = (entry: Buffer, n: number): void => {
    entry.fill(n % 251);
    if (entry.length >= 4) entry.writeUInt32LE(n);
  };
  const isFilled = (entry: Buffer | undefined, n: number, length: number): boolean => {
    const wanted = Buffer.alloc(length);
    fill(wanted, n);
    return entry?.equals(wanted) === true;
  };

  it('gives what was put last under a hash or nothing, and the last half of what it holds', () => {
    const step = fc.record({
      what: fc.constantFrom('put' as const, 'put' as const, 'put' as const, 'delete' as const),
      hash: fc.nat(60),
      length: fc.oneof(fc.nat(100), fc.nat(200_000), fc.integer({ min: MiB - 40, max: MiB + 1 })),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80 }), fc.integer({ min: 1, max: 3 }), (steps, pieces) => {
        const ring = openHashRing(pieces * MiB, 4096);
        const last = new Map<number, { n: number; length: number; after: number }>();
        let written = 0;
        for (const [n, { what, hash, length }] of steps.entries()) {
          last.delete(hash);
          if (what === 'delete') ring.delete(hashOf(hash));
          else {
            const entry = ring.put(hashOf(hash), length);
            expect(entry?.length).toBe(length > MiB - 20 ? undefined : length);
            if (entry !== undefined) {
              fill(entry, n);
              // An entry that does not fit what is left of a piece begins another.
              written = (written % MiB) + length + 20 > MiB ? Math.ceil(written / MiB) * MiB : written;
              written += length + 20;
              last.set(hash, { n, length, after: written });
            }
          }
          for (let other = 0; other <= 60; other += 1) {
            const found = ring.get(hashOf(other));
            const wanted = last.get(other);
            if (found !== undefined) expect(wanted && isFilled(found, wanted.n, wanted.length)).toBe(true);
            else if (wanted !== undefined)
              expect(written - wanted.after).toBeGreaterThan((pieces - 1) * MiB - MiB);
          }
        }
      }),
      { numRuns: 100 },
    );
  });

  it('holds as many as there is room for', () => {
    const ring = openHashRing(4 * MiB, 8192);
    for (let n = 0; n < 3_000; n += 1) fill(ring.put(hashOf(n), 8192) ?? Buffer.alloc(0), n);
    const held = Array.from({ length: 3_000 }, (_, n) => n).filter((n) =>
      isFilled(ring.get(hashOf(n)), n, 8192),
    );
    // 127 of them fill a piece, and there are 79 in the last; of those that share a place in the index the fifth puts the first out.
    const ROOM = 3 * 127 + 79;
    expect(held.length).toBeGreaterThan(0.98 * ROOM);
    expect(held.length).toBeLessThanOrEqual(ROOM);
    expect(Math.min(...held)).toBeGreaterThanOrEqual(3_000 - ROOM);
  });
});

describe('what has been seen', () => {
  it('is what came among the last of them, and nothing else', () => {
    const isSeen = openSeen(4096);
    const first = Array.from({ length: 10_000 }, (_, n) => isSeen(hashOf(n)));
    expect(first).not.toContain(true);
    const again = Array.from({ length: 1_000 }, (_, n) => isSeen(hashOf(9_999 - n)));
    expect(again.filter(Boolean).length).toBeGreaterThan(990);
  });
});
