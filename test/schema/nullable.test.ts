// A field with a cost is nullable, so that its failure leaves its siblings alone.
import { isNonNullType, isObjectType, Kind, parse } from 'graphql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { schema } from '../../src/resolvers/schema.ts';
import { apiSdl } from '../../src/resolvers/sdl.ts';
import { at, openWorld, type World } from '../support.ts';

const INSULIN = '12e9c9e4e2835c302e8ba615115edda3';

/** Fields with a cost that are not nullable, and why they need not be or cannot be. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  'BatchProgress.changedTasks': 'No call: the event has the tasks, and the cost is the length of the list.',
  'BulkLookup.parts':
    'The gateway stores the parts: one whose job cannot be read is UNKNOWN, with a problem.',
  'FoldResult.chainPairs': 'All fields but the addresses share one download: without it there is no result.',
  'FoldResult.chains': 'All fields but the addresses share one download: without it there is no result.',
  'FoldResult.warnings': 'All fields but the addresses share one download: without it there is no result.',
  'Plddt.values': 'No call: the cost is work of the gateway.',
  'PredictedAlignedError.block': 'No call: the cost is work of the gateway.',
  'Query.nodes': 'The Relay specification asks for it; an id that fails does so at its own place.',
  'Service.isSandbox': 'Null would be read as false, and structures of a sandbox are no predictions.',
  'SimilaritySearch.sharedFeatures': 'No call: the search has them, and the cost is the length of the list.',
  'Structure.text': 'No call of its own: the cost is the size of the value.',
  'Subscription.batchProgress': 'It has no siblings.',
  'Task.status': 'List tells it; a Status call that fails leaves the word of List.',
};

it('every field with a cost is nullable, apart from those with a reason', () => {
  const costly = Object.values(schema.getTypeMap())
    .filter(isObjectType)
    .flatMap((type) =>
      Object.values(type.getFields()).map((field) => ({ path: `${type.name}.${field.name}`, field })),
    )
    .filter(({ field }) => field.extensions.cost !== undefined);
  expect(costly.length).toBeGreaterThan(90);
  const nonNull = costly.filter(({ field }) => isNonNullType(field.type)).map(({ path }) => path);
  expect(nonNull.sort()).toEqual(Object.keys(EXCEPTIONS).sort());
});

it('the SDL marks the fields that say that they are null only with an error', () => {
  const marked: string[] = [];
  const told: string[] = [];
  for (const definition of parse(apiSdl(schema)).definitions) {
    if (definition.kind !== Kind.OBJECT_TYPE_DEFINITION) continue;
    for (const { name, type, description, directives } of definition.fields ?? []) {
      const path = `${definition.name.value}.${name.value}`;
      if (directives?.some((one) => one.name.value === 'semanticNonNull')) {
        marked.push(path);
        expect([path, type.kind]).not.toEqual([path, Kind.NON_NULL_TYPE]);
      }
      if (/null (as a whole )?only with an error/i.test(description?.value ?? '')) told.push(path);
    }
  }
  expect(marked).toContain('Query.features');
  expect(marked).toEqual(told);
});

describe('a list that is too long is null by itself', () => {
  let world: World;
  beforeAll(async () => {
    world = await openWorld();
  });
  afterAll(() => world.close());

  it.each([
    [
      'features of a protein',
      `{ protein(hash: "${INSULIN}") { length it: features(first: 1000) { value } } }`,
      'protein',
      { length: 110, it: null },
    ],
    [
      'features of the catalogue',
      '{ feature(index: 7) { index } it: features(first: 1001) { totalCount } }',
      '',
      { feature: { index: 7 }, it: null },
    ],
    [
      'hashes of proteins',
      'query ($hashes: [ProteinHash!]!) { feature(index: 7) { index } it: proteins(hashes: $hashes) { length } }',
      '',
      { feature: { index: 7 }, it: null },
    ],
    [
      'ids of a look-up',
      'query ($ids: [String!]!) { feature(index: 7) { index } it: lookup(ids: $ids) { status } }',
      '',
      { feature: { index: 7 }, it: null },
    ],
  ])('%s', async (_what, query, parent, expected) => {
    const hashes = Array.from({ length: 5001 }, (_, i) => String(i).padStart(32, '0'));
    const variables = query.includes('$hashes') ? { hashes } : query.includes('$ids') ? { ids: hashes } : {};
    const { data, errors } = await world.query(query, variables);
    expect(parent === '' ? data : at(data, parent)).toEqual(expected);
    expect(errors).toEqual([expect.objectContaining({ path: [...(parent === '' ? [] : [parent]), 'it'] })]);
    expect(errors?.[0]?.extensions.code).toBe('BAD_USER_INPUT');
  });
});
