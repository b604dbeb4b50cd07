// Folding on demand: said with every call, waited for when the structure comes only with a later
// answer, refused for crowds.
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { allProteins } from '../../sandbox/test/atlas/harness.ts';
import { fault } from '../subscriptions/support.ts';
import { at, openWorld, type World } from '../support.ts';

const SEED_OF_THE_HARNESS = 7;

let world: World;
beforeAll(async () => {
  // The cache of records is meant: the response cache may give a response again for a minute.
  const env = { CACHE_RECORDS_SECONDS: '600' };
  world = await openWorld(env, { seed: SEED_OF_THE_HARNESS, control: true }, undefined, {
    responseCacheBytes: 0,
  });
});
afterAll(() => world.close());
beforeEach(() => world.forget());

const withFold = (fold: string, which = 0): string => {
  const found = allProteins.filter((protein) => protein.fold === fold && protein.sequence.length < 700)[
    which
  ];
  if (found === undefined) throw new Error(`no protein is ${fold}`);
  return found.hash;
};
const ask = (hash: string, fold: boolean) =>
  world.query(
    `query($h: ProteinHash!, $fold: Boolean!) { protein(hash: $h, foldOnMiss: $fold) { hash ptm foldedOnDemand structure { atomCount } } }`,
    { h: hash, fold },
  );
const asked = () =>
  world.calls.map((call) => new URL(call.path, 'http://sandbox.test').searchParams.get('fold_on_miss'));

it('is false unless asked for, and said with every call', async () => {
  const { data, errors } = await ask(withFold('on_demand'), false);
  expect(errors).toBeUndefined();
  expect(at(data, 'protein')).toMatchObject({ ptm: null, foldedOnDemand: false, structure: null });
  expect(world.counts()).toEqual({ protein: 1 });
  expect(asked()).toEqual(['false']);
});

it('folds at once what had no structure a moment ago, and keeps it', async () => {
  const hash = withFold('on_demand');
  const { data, errors } = await ask(hash, true);
  expect(errors).toBeUndefined();
  expect(Number(at(data, 'protein.structure.atomCount'))).toBeGreaterThan(50);
  expect(at(data, 'protein.foldedOnDemand')).toBe(true);
  expect(asked()).toEqual(['true']);
  world.forget();
  expect((await ask(hash, true)).data).toEqual(data);
  expect((await ask(hash, false)).data).toEqual(data);
  expect(world.calls).toEqual([]);
});

it('waits for a structure that comes only with the second call', async () => {
  const { data, errors } = await ask(withFold('slow'), true);
  expect(errors).toBeUndefined();
  expect(Number(at(data, 'protein.structure.atomCount'))).toBeGreaterThan(50);
  expect(world.counts()).toEqual({ protein: 2 });
});

it('gives null for what cannot be folded, without waiting', async () => {
  const long = allProteins.find((protein) => protein.sequence.length >= 700);
  if (long === undefined) throw new Error('no protein is too long to fold');
  const { data, errors } = await ask(long.hash, true);
  expect(errors).toBeUndefined();
  expect(at(data, 'protein')).toMatchObject({ hash: long.hash, ptm: null, structure: null });
  expect(world.counts()).toEqual({ protein: 1 });
});

it('says that it is still folding when the time is up', async () => {
  const hash = withFold('slow', 1);
  const hurried = await openWorld(
    { REQUEST_TIMEOUT_MS: '1500' },
    { seed: SEED_OF_THE_HARNESS, control: true },
  );
  const pending = { protein_hash: hash, sequence: 'MK', pdb: null, folded_on_demand: true };
  await fault(hurried.sandboxUrl, { operation: 'protein', status: 200, body: pending, times: 100 });
  const { errors } = await hurried.query(`{ protein(hash: "${hash}", foldOnMiss: true) { ptm } }`);
  expect(errors?.[0]?.message).toMatch(/still folding/);
  expect(errors?.[0]?.extensions).toMatchObject({ code: 'UPSTREAM_TIMEOUT', retryable: true });
  expect(hurried.counts().protein).toBeGreaterThan(1);
  await hurried.close();
});

it('is refused for more than 20 proteins of a query, of which none is then folded', async () => {
  const hashes = allProteins.slice(0, 21).map(({ hash }) => hash);
  const { errors } = await world.query(
    `{ ${hashes.map((hash, i) => `p${i}: protein(hash: "${hash}", foldOnMiss: true) { ptm }`).join(' ')} }`,
  );
  expect(errors).toHaveLength(21);
  expect(errors?.[0]?.message).toMatch(/21 proteins at once; at most 20/);
  expect(errors?.[0]?.extensions.code).toBe('BAD_USER_INPUT');
  expect(asked()).not.toContain('true');
});
