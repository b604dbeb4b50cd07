// Every kept seed is tried again: a few fixed ones, and those that have broken something once.
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

const RUNS = 50;
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
    const kept = seeds[name] ?? [];
    expect(kept.length).toBeGreaterThan(0);
    for (const seed of kept) expect(await tryTarget(world, name, seed, RUNS)).toBeUndefined();
  }, 600_000);

  it('oracle hold with every kept seed', async () => {
    const kept = seeds.oracle ?? [];
    expect(kept.length).toBeGreaterThan(1);
    // The oracle calls the gateway as a function whatever way tests take: each of CI's two runs tries half of the seeds.
    const isSecond = process.env.TEST_THROUGH === 'listener';
    const own = kept.filter((_, i) => (i % 2 === 1) === isSecond);
    // Much of it is waiting for calls that fail: several at once, each with a service of its own.
    const outcomes = await Promise.all(
      own.map(async (seed) => {
        const oracle = await openOracleWorld();
        const outcome = await tryTarget({ ...world, oracle }, 'oracle', seed, RUNS);
        await oracle.close();
        return outcome;
      }),
    );
    expect(outcomes.filter((outcome) => outcome !== undefined)).toEqual([]);
  }, 600_000);
});
