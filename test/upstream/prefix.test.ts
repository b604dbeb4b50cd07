// A 404 of a server that has no such route is a wrong prefix, not an absence, until the prefix has answered something.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { at } from '../support.ts';
import { HASH, type Liar, openLiar, openPlace, type Script, says, sends } from './liar.ts';

let liar: Liar;
beforeAll(async () => {
  liar = await openLiar();
});
afterAll(() => liar.close());
beforeEach(() => liar.reset());

const QUERIES = {
  atlas: `{ it: protein(hash: "${HASH}") { hash } }`,
  batch: '{ it: batch(batchId: "b1") { state } }',
};
const OPERATIONS = { atlas: ['protein', 'feature', 'bulk'], batch: ['list'] };
const FORMS: readonly (readonly [string, Script])[] = [
  ['an HTML page', says(404, '<html>not found</html>')],
  ['no body', sends(Buffer.alloc(0), {}, 404)],
  ['{"detail": "Not Found"}', says(404, { detail: 'Not Found' })],
];

async function withPlace(run: (place: ReturnType<typeof openPlace>) => Promise<void>): Promise<void> {
  const place = openPlace(liar.url);
  await run(place);
  await place.gateway.close();
}

describe.each(['atlas', 'batch'] as const)('a wrong prefix of the %s API', (api) => {
  it.each(
    FORMS,
  )('that answers with %s is drift that says what to set, and /ready says so', async (_, script) => {
    for (const operation of OPERATIONS[api]) liar.script(operation, script);
    await withPlace(async ({ query, gateway }) => {
      const { errors } = await query(QUERIES[api], {}, { authorization: 'Bearer t' });
      expect(errors).toHaveLength(1);
      expect(errors?.[0]).toMatchObject({ path: ['it'], extensions: { code: 'UPSTREAM_DRIFT' } });
      expect(errors?.[0]?.message).toContain(`UPSTREAM_${api.toUpperCase()}_PREFIX`);
      const ready = await (await gateway.fetch(new Request('http://gateway.test/ready'))).text();
      expect(ready).toContain(`UPSTREAM_${api.toUpperCase()}_PREFIX`);
    });
  });
});

it('a service that takes calls and answers none is found out by /ready within two seconds, not when it gives up', async () => {
  for (const operation of OPERATIONS.atlas) liar.script(operation, () => undefined);
  await withPlace(async ({ gateway }) => {
    const ready: unknown = await (await gateway.fetch(new Request('http://gateway.test/ready'))).json();
    expect(at(ready, 'checks.1')).toMatchObject({ ok: false, reason: 'did not answer within 2000 ms' });
  });
});

it.each(
  FORMS,
)('a submission to a wrong prefix, answered with %s, is refused and says what to set', async (_, script) => {
  for (const operation of ['submit', 'list']) liar.script(operation, script);
  await withPlace(async ({ query }) => {
    const { data } = await query(
      `mutation { it: submitFold(input: {items: [{chains: [{protein: {sequence: "GIV"}}]}]}) {
        __typename ... on Problem { message } } }`,
    );
    const message = expect.stringContaining('UPSTREAM_BATCH_PREFIX');
    expect(at(data, 'it')).toEqual({ __typename: 'Refused', message });
  });
});

it('a 404 in the words of the API is an absence at once, and one of its framework once the prefix has answered', async () => {
  await withPlace(async ({ query }) => {
    liar.script('protein', says(404, { detail: 'Protein not found' }));
    expect(await query(QUERIES.atlas)).toEqual({ data: { it: null } });
  });
  await withPlace(async ({ query }) => {
    liar.script('protein', says(404, { detail: 'Not Found' }));
    liar.script('feature', says(200, { feature_index: 0 }));
    expect(await query(QUERIES.atlas)).toEqual({ data: { it: null } });
    const more = await query(QUERIES.atlas);
    expect(more.errors).toBeUndefined();
    expect(liar.seen.filter(({ operation }) => operation === 'feature')).toHaveLength(1);
  });
});

it('a 404 of a proxy is an error also where the prefix has answered', async () => {
  await withPlace(async ({ query }) => {
    expect(at((await query(QUERIES.atlas)).data, 'it.hash')).toBe(HASH);
    liar.script('cluster', says(404, '<html>not found</html>'));
    const { errors } = await query(`{ it: cluster(hash: "${HASH}") { memberHashes } }`);
    expect(errors?.[0]?.extensions).toMatchObject({ code: 'UPSTREAM_DRIFT', retryable: true });
  });
});
