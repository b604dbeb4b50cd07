// What was found wrong once by holding the gateway to the reference, in both dialects. Random sessions are the target
// `oracle` of test/fuzz.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CASES } from './cases.ts';
import { holdSession } from './property.ts';
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
});
