// Requests whose time is up are answered, and those of a client that disconnected are cancelled.
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { clearFaults, fault, until } from '../subscriptions/support.ts';
import { at, listAt, openWorld, type World } from '../support.ts';

const HASH = '12e9c9e4e2835c302e8ba615115edda3';

let world: World;
beforeAll(async () => {
  world = await openWorld({ REQUEST_TIMEOUT_MS: '1500', CACHE_RECORDS_SECONDS: '0' }, { control: true });
  // The catalogue comes in the time of this query, not of those below.
  await world.query('{ feature(index: 1) { label } }');
});
afterAll(() => world.close());

beforeEach(async () => {
  await clearFaults(world.sandboxUrl);
  world.forget();
});

it('answers what is there when the time is up; what is not is an error at its path', async () => {
  await fault(world.sandboxUrl, { operation: 'similarity', delay_ms: 20_000, times: 10 });
  const { data, errors } = await world.query(
    `{ protein(hash: "${HASH}") { hash ptm similar(first: 3) { hits { score } } } }`,
  );
  expect(data).toEqual({ protein: { hash: HASH, ptm: expect.any(Number), similar: null } });
  expect(errors).toMatchObject([
    { path: ['protein', 'similar'], extensions: { code: 'UPSTREAM_TIMEOUT', retryable: true } },
  ]);
});

it('tells what a mutation has done when the time is up for the next one', async () => {
  await fault(world.sandboxUrl, { operation: 'submit', delay_ms: 1200, times: 1 });
  await fault(world.sandboxUrl, { operation: 'status', delay_ms: 20_000, times: 10 });
  const items = '[{ chains: [{ protein: { sequence: "GIVEQCCTSICSLYQLENYCN" } }] }]';
  const { data } = await world.query(
    `mutation {
      one: submitFold(input: { items: ${items} }) { __typename ... on FoldSubmitted { batch { batchId } } }
      two: cancelTask(taskId: "none") { __typename }
    }`,
    {},
    { authorization: 'Bearer sandbox' },
  );
  expect(at(data, 'one.batch.batchId')).toEqual(expect.any(String));
});

it('makes no further call for a client that has left, and leaves no rejection unhandled', async () => {
  const unhandled = vi.fn();
  process.on('unhandledRejection', unhandled);
  await fault(world.sandboxUrl, { operation: 'feature', delay_ms: 20_000, times: 1000 });
  const leaving = new AbortController();
  const links = 'a: nearestNeighbors { index summary } b: nearestNeighbors { index } c: summary';
  const answer = world.gateway.fetch(
    new Request('http://gateway.test/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query: `{ features(first: 100) { nodes { ${links} } } }` }),
      signal: leaving.signal,
    }),
  );
  const settled = answer.then(
    () => undefined,
    () => undefined,
  );
  await until('the calls to be under way', () => world.counts().feature !== undefined);
  leaving.abort();
  await settled;
  await until('the calls to be given up', () => world.gateway.upstream().api.inFlight === 0);
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect(world.calls.length).toBeLessThan(20);
  process.off('unhandledRejection', unhandled);
  expect(unhandled).not.toHaveBeenCalled();
});

it('each failure in a list is an error at its path', async () => {
  await fault(world.sandboxUrl, { operation: 'feature', status: 503, times: 1000 });
  const { data, errors } = await world.query('{ features(first: 30) { nodes { index summary } } }');
  expect(listAt(data, 'features.nodes')).toHaveLength(30);
  expect(errors?.map(({ path }) => path?.at(-1))).toEqual(Array(30).fill('summary'));
});
