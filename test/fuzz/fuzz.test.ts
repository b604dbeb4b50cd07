// Every kept seed is tried again: a few fixed ones, and those that have broken something once.
import { readFileSync } from 'node:fs';
import { parse, validate } from 'graphql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { schema } from '../../src/resolvers/schema.ts';
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

  it.each(Object.keys(TARGETS))('%s hold with every kept seed', async (name) => {
    const kept = seeds[name] ?? [];
    expect(kept.length).toBeGreaterThan(0);
    // The oracle calls the gateway as a function whatever way tests take: the second run of CI tries fewer of its seeds.
    const isOften = name === 'oracle' && process.env.TEST_THROUGH === 'listener';
    for (const seed of isOften ? kept.slice(0, 1) : kept)
      expect(await tryTarget(world, name, seed, RUNS)).toBeUndefined();
  }, 600_000);
});
