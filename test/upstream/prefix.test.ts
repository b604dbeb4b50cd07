// A 404 is an absence in the words of the API only. Any other names the setting of a wrong prefix.
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
  batch: '{ it: batch(batchId: "b1") { status } }',
};
const OPERATIONS = { atlas: ['protein', 'bulk'], batch: ['list'] };
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
  it.each(FORMS)('that answers with %s is drift that says what to set', async (_, script) => {
    for (const operation of OPERATIONS[api]) liar.script(operation, script);
    await withPlace(async ({ query }) => {
      const { errors } = await query(QUERIES[api], {}, { authorization: 'Bearer t' });
      expect(errors).toHaveLength(1);
      const extensions = { code: 'UPSTREAM_DRIFT', retryable: false };
      expect(errors?.[0]).toMatchObject({ path: ['it'], extensions });
      expect(errors?.[0]?.message).toContain(`UPSTREAM_${api.toUpperCase()}_PREFIX`);
    });
  });
});

it('a service that takes calls and answers none is found out by /ready within two seconds, not when it gives up', async () => {
  liar.script('unknown', () => undefined);
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

it('a 404 in the words of the API is an absence, any other is not, whatever was answered before', async () => {
  await withPlace(async ({ query }) => {
    liar.script('uniprot', says(404, { detail: 'Entry not found' }));
    const ENTRY = '{ it: uniprotEntry(id: "P01308") { name } }';
    expect(await query(ENTRY)).toEqual({ data: { it: null } });
    for (const [, script] of FORMS) {
      liar.script('uniprot', script);
      const { errors } = await query(ENTRY);
      expect(errors?.[0]?.extensions).toMatchObject({ code: 'UPSTREAM_DRIFT', retryable: false });
    }
    expect(new Set(liar.seen.map(({ operation }) => operation))).toEqual(new Set(['uniprot']));
  });
});
