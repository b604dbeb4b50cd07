// A few fixed seeds, and every seed of seeds.json: those have broken something once. `npm run fuzz`
// tries more.
import { readFileSync } from 'node:fs';
import { parse, validate } from 'graphql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { schema } from '../../src/resolvers/schema.ts';
import { openOracleWorld } from '../oracle/world.ts';
import { CHECK } from './targets/folds.ts';
import { READS } from './targets/upstream.ts';
import { TARGETS, tryTarget } from './targets.ts';
import { type FuzzWorld, openFuzzWorld } from './world.ts';

/** Runs of a kept seed: as many as `npm run fuzz` makes when it finds one. */
const RUNS = 50;
const FIXED_SEEDS: Readonly<Record<string, readonly number[]>> = {
  http: [1, 2],
  files: [1, 2],
  documents: [1],
  archives: [1, 2],
  upstream: [1],
  folds: [1, 2],
};
/**
 * A run of the oracle is a session of up to 14 queries. test/oracle/cases.ts has what it found,
 * and `npm run fuzz` tries more.
 */
const ORACLE_SEEDS = [1];
const ORACLE_RUNS = 8;
const seeds = z
  .record(z.string(), z.array(z.int()))
  .parse(JSON.parse(readFileSync(new URL('seeds.json', import.meta.url), 'utf8')));

let world: FuzzWorld;
beforeAll(async () => {
  world = await openFuzzWorld();
});
afterAll(() => world.close());

describe('whatever is sent', () => {
  it.each([...READS, CHECK])('is a question that the schema allows: %s', (query) => {
    expect(validate(schema, parse(query))).toEqual([]);
  });

  const others = Object.keys(TARGETS).filter((name) => name !== 'oracle');
  it.each(others)('%s hold with every kept seed', async (name) => {
    const tried = [...(FIXED_SEEDS[name] ?? []), ...(seeds[name] ?? [])];
    expect(tried).not.toEqual([]);
    for (const seed of tried) expect(await tryTarget(world, name, seed, RUNS)).toBeUndefined();
  }, 600_000);

  it('oracle hold with every kept seed', async () => {
    const all = [
      ...ORACLE_SEEDS.map((seed) => ({ seed, runs: ORACLE_RUNS })),
      ...(seeds.oracle ?? []).map((seed) => ({ seed, runs: RUNS })),
    ];
    // Much of it is waiting for calls that fail: several at once, each with a service of its own.
    const outcomes = await Promise.all(
      all.map(async ({ seed, runs }) => {
        const oracle = await openOracleWorld();
        const outcome = await tryTarget({ ...world, oracle }, 'oracle', seed, runs);
        await oracle.close();
        return outcome;
      }),
    );
    expect(outcomes.filter((outcome) => outcome !== undefined)).toEqual([]);
  }, 600_000);
});
