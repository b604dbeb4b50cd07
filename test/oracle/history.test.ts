// Random documents over five proteins, one after the other, of one gateway with all caches but that of responses: each
// answer is what single records say, whatever was asked before and whatever failed then, or has an error at the place.
// `TEST_RUNS=200 npx vitest run test/oracle/history.test.ts` tries 19,200 sequences, `TEST_SEED=2` others.
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runs } from '../property-runs.ts';
import { faults, holdSession, type Step } from './property.ts';
import { queriesOver } from './queries.ts';
import { DIALECTS, type OracleWorld, openOracleWorld } from './world.ts';

/** Both dialects together; each sequence has this many documents. */
const SEQUENCES = 96;
const DOCUMENTS = 20;
/** As deep as the regions of the features of a cluster's representative. The catalogue, which takes longest, is no part. */
const FORM = {
  deepest: 4,
  roots: 1,
  fields: 2,
  without: new Set([
    'Query.feature',
    'Query.features',
    'Feature.label',
    'Feature.description',
    'Node.... on Feature',
  ]),
};
/** Sequences at the same time, each with a proxy of its own: most of the time is waiting for what fails. */
const AT_ONCE = 4;

let worlds: OracleWorld[];
beforeAll(async () => {
  worlds = await Promise.all(Array.from({ length: AT_ONCE }, () => openOracleWorld()));
});
afterAll(() => Promise.all(worlds.map((world) => world.close())));

/** A representative, two members, one in no cluster, one without a structure. */
function fewSubjects({ kinds, subjects }: OracleWorld) {
  const hashes = [
    ...kinds.representatives.slice(0, 1),
    ...kinds.members.slice(0, 2),
    ...kinds.unclustered.slice(0, 1),
    ...kinds.unfolded.slice(0, 1),
  ];
  expect(hashes).toHaveLength(5);
  return {
    ...subjects,
    hashes,
    accessions: subjects.accessions.slice(0, 3),
    sequences: subjects.sequences.slice(0, 1),
  };
}

describe.each(DIALECTS)('over a service that speaks the %s dialect', (dialect) => {
  it('an answer never depends on the answers before it', { timeout: 24 * 3_600_000 }, async () => {
    const [first] = worlds;
    if (first === undefined) throw new Error('There is no world.');
    const step: fc.Arbitrary<Step> = fc.record({
      query: queriesOver(fewSubjects(first), FORM),
      fault: fc.option(faults, { freq: 4, nil: undefined }),
      parts: fc.option(fc.nat(), { freq: 3, nil: undefined }),
    });
    const sequence = fc.array(step, { minLength: DOCUMENTS, maxLength: DOCUMENTS });
    const seed = Number(process.env.TEST_SEED ?? 1);
    const numRuns = Math.ceil(runs(SEQUENCES) / DIALECTS.length / AT_ONCE);
    await Promise.all(
      worlds.map((world, i) =>
        fc.assert(
          fc.asyncProperty(sequence, (steps) => holdSession(world, dialect, steps)),
          { seed: seed * AT_ONCE + i, numRuns },
        ),
      ),
    );
  });
});
