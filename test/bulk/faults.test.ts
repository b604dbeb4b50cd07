// Bulk look-ups over a service, or a proxy before it, that answers what it should not.
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { HASH, inTurn, type Liar, openLiar, openPlace, type Place, says } from '../upstream/liar.ts';

let liar: Liar;
let place: Place;
beforeAll(async () => {
  liar = await openLiar();
});
afterAll(() => liar.close());
beforeEach(() => {
  liar.reset();
  place = openPlace(liar.url);
});
afterEach(() => place.gateway.close());

const HTML = says(404, '<html>not found</html>');
const start = () =>
  place.query(`mutation { it: startBulkLookup(input: { ids: ["${HASH}"] }) {
    __typename ... on Problem { message hint } ... on BulkLookup { lookupId parts { state problem } } } }`);

it('404 of a server without the Atlas says which setting is wrong, and whom to tell', async () => {
  liar.script('bulk', HTML);
  liar.script('feature', HTML);
  expect((await start()).data).toEqual({
    it: {
      __typename: 'Refused',
      message: expect.stringMatching(/prefix of the Atlas API.*UPSTREAM_URL.*UPSTREAM_ATLAS_PREFIX/),
      hint: 'Nothing was done. Tell the operator of the gateway what the message says.',
    },
  });
});

it('404 of a proxy where the Atlas has answered is waited out', async () => {
  await place.query(`{ protein(hash: "${HASH}") { length } }`);
  liar.script('bulk', inTurn(HTML, says(202, { status: 'pending', job_id: 'j1' })));
  liar.script('bulkJob', says(202, { status: 'pending', job_id: 'j1' }));
  expect((await start()).data).toMatchObject({
    it: { __typename: 'BulkLookup', parts: [{ state: 'PENDING', problem: null }] },
  });
  expect(liar.seen.filter(({ operation }) => operation === 'bulk')).toHaveLength(2);
});
