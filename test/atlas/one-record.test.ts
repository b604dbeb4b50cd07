// The single record of a protein is downloaded once for all queries about it, in whatever order
// they come, and says the same as a record that each query downloads for itself.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openWorld, type World } from '../support.ts';

const HASHES = [
  '12e9c9e4e2835c302e8ba615115edda3',
  '6077c452d1dc6151040b2b179e2294c7',
  'cd9050995bb3aa9f42ca5d1eedd10b2d',
  'efebacde779fb9ede77f2039ec6cfe09',
  'a3f8ce0b95a063d65d4bf0361992c7f5',
] as const;

/** Fields that one record answers. */
const FIELDS = [
  'ptm',
  'structure { text }',
  'features(first: 5) { value }',
  'features(first: 10) { value regions { start end } }',
  'features(first: 3) { residues(start: 0, end: 9) }',
  'plddt { mean values }',
  'name header',
  'length sequence accession source',
];

const ask = (world: World, hash: string, field: string) =>
  world.query(`{ protein(hash: "${hash}") { ${field} } }`);

/** The fields, beginning with the n-th. */
const rotate = (n: number): string[] => [...FIELDS.slice(n), ...FIELDS.slice(0, n)];

describe.each(['plain', 'rich'] as const)('over a service that speaks the %s dialect', (dialect) => {
  let cold: World;
  let warm: World;
  beforeAll(async () => {
    cold = await openWorld({}, { dialect });
    warm = await openWorld({ CACHE_RECORDS_SECONDS: '600' }, { dialect });
  });
  afterAll(() => Promise.all([cold.close(), warm.close()]));
  beforeEach(() => warm.forget());

  it.each([0, 1, 2, 3, 4])('is downloaded once for queries in order %i', async (n) => {
    const hash = HASHES[n] ?? '';
    for (const field of rotate(n)) expect(await ask(warm, hash, field)).toEqual(await ask(cold, hash, field));
    expect(warm.counts()).toEqual({ protein: 1 });
  });

  it('is downloaded once for all fields of one query, deferred ones among them', async () => {
    cold.forget();
    const [first, ...others] = FIELDS.map((field) => `protein(hash: "${HASHES[0]}") { ${field} }`);
    const deferred = others.map((field, n) => `... @defer(label: "${n}") { f${n}: ${field} }`);
    const response = await cold.gateway.fetch(
      new Request('http://gateway.test/graphql', {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'multipart/mixed' },
        body: JSON.stringify({ query: `{ ${first} ${deferred.join(' ')} }` }),
      }),
    );
    expect(await response.text()).not.toContain('"errors"');
    expect(cold.counts()).toEqual({ protein: 1 });
  });

  it('is downloaded again for more top features than it has, and then answers all queries', async () => {
    const world = await openWorld({ CACHE_RECORDS_SECONDS: '600' }, { dialect });
    const [hash = ''] = HASHES;
    for (const field of ['ptm', 'raw', 'features(first: 100) { value }', 'structure { text }', 'raw'])
      expect(await ask(world, hash, field)).toEqual(await ask(cold, hash, field));
    expect(world.counts()).toEqual({ protein: 2 });
    await world.close();
  });

  it('is asked for its ranking after a query for other features', async () => {
    const world = await openWorld({ CACHE_RECORDS_SECONDS: '600' }, { dialect });
    const [hash = ''] = HASHES;
    for (const field of [
      'features(first: 3, normalize: false) { value }',
      'featureValues(indices: [5], normalize: false) { value }',
      'features(first: 3) { value }',
      'ptm',
      'structure { text }',
    ])
      expect(await ask(world, hash, field)).toEqual(await ask(cold, hash, field));
    // Other features have a call each, after one that says whether the protein exists.
    expect(world.counts()).toEqual({ bulk: 1, protein: 3 });
    await world.close();
  });
});
