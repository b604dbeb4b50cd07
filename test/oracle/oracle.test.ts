// Queries whose answers once differed from the reference, in both dialects. Random
// sessions are the target `oracle` of test/fuzz.
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runs } from '../property-runs.ts';
import { CASES } from './cases.ts';
import { faults, holdSession } from './property.ts';
import { queriesOver } from './queries.ts';
import { DIALECTS, type OracleWorld, openOracleWorld } from './world.ts';

let world: OracleWorld;
beforeAll(async () => {
  world = await openOracleWorld();
});
afterAll(() => world.close());

describe.each(DIALECTS)('over a service that speaks the %s dialect', (dialect) => {
  it.each(Object.keys(CASES))('says what single records say: %s', async (name) => {
    const steps = CASES[name]?.(world.kinds) ?? [];
    expect(steps).not.toEqual([]);
    await holdSession(world, dialect, steps);
  });

  it('says what single records say whatever is deferred, streamed, or failing', {
    timeout: 300_000,
  }, async () => {
    const steps = fc.record({
      query: queriesOver(world.subjects),
      parts: fc.nat(),
      fault: fc.option(faults, { freq: 3, nil: undefined }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(steps, { minLength: 1, maxLength: 4, size: 'max' }), (session) =>
        holdSession(world, dialect, session),
      ),
      { numRuns: runs(15) },
    );
  });
});
