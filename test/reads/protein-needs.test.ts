// The algebra of needs: joining covers each, and what lacks plus what was had covers what was
// needed.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { RequiredParts } from '../../src/upstream/proteins/parts.ts';
import { missingParts, needsNothing, unionParts } from '../../src/upstream/proteins/required-parts.ts';

const needs: fc.Arbitrary<RequiredParts> = fc.record(
  {
    sequence: fc.constant(true),
    structure: fc.constant(true),
    cluster: fc.constant(true),
    record: fc.constant(true),
    fold: fc.constant(true),
    features: fc.integer({ min: 1, max: 100 }),
    regions: fc.integer({ min: 1, max: 100 }),
  },
  { requiredKeys: [] },
);

/** Each need alone: one that parts.ts declares has to stand here as well. */
const EACH: { readonly [K in keyof RequiredParts]-?: NonNullable<RequiredParts[K]> } = {
  sequence: true,
  length: true,
  accession: true,
  source: true,
  provenance: true,
  structure: true,
  ptm: true,
  meanPlddt: true,
  link: true,
  cluster: true,
  level: true,
  header: true,
  record: true,
  fold: true,
  features: 1,
  regions: 1,
  residues: 1,
  rows: [7],
};

describe('needs', () => {
  it.each(Object.entries(EACH))('lack %s where nothing was had', (name, need) => {
    const alone: RequiredParts = { [name]: need };
    expect(missingParts(alone, {})).toEqual(alone);
    expect(needsNothing(missingParts(alone, alone))).toBe(true);
  });

  it('a join lacks nothing of what was joined', () => {
    fc.assert(
      fc.property(fc.array(needs, { maxLength: 5 }), (all) => {
        const joined = unionParts(all);
        for (const one of all) expect(needsNothing(missingParts(one, joined))).toBe(true);
      }),
    );
  });

  it('a join asks only for what is needed', () => {
    fc.assert(
      fc.property(fc.array(needs, { maxLength: 5 }), (all) => {
        const joined = unionParts(all);
        for (const key of Object.keys(joined)) expect(all.some((one) => key in one)).toBe(true);
        expect(joined.features ?? 0).toBe(Math.max(0, ...all.map((one) => one.features ?? 0)));
      }),
    );
  });

  it('are covered by what is missing together with what was had', () => {
    fc.assert(
      fc.property(needs, needs, (wanted, had) => {
        expect(needsNothing(missingParts(wanted, unionParts([had, missingParts(wanted, had)])))).toBe(true);
      }),
    );
  });
});
