// Every row of the spec's table of errors, as a client of the gateway sees it.
import { describe, expect, it } from 'vitest';
import { at } from '../support.ts';
import { HASH, openLyingPlace, openPlace, says } from './liar.ts';

const { liar, place } = await openLyingPlace();

const SUBMIT = `mutation { it: submitFold(input: {items: [{chains: [{protein: {sequence: "MKTAYIAKQR"}}]}]}) {
  __typename ... on Problem { message } ... on Refused { reason retryable } } }`;
const CANCEL = 'mutation { it: cancelBatch(batchId: "b1") { __typename ... on Problem { message } } }';
const LIST = '{ it: batch(batchId: "b1") { status } limits { maxItems } }';
const STATUS = '{ it: task(taskId: "b1-00000") { status } limits { maxItems } }';
const UNIPROT = '{ it: uniprotEntry(id: "A2VDF0") { name } limits { maxItems } }';
const problem = (message: string) => ({ status: 'error', message, request_id: 'q1' });

it.each<[string, string, string, number, unknown, Record<string, unknown>]>([
  [
    '400 Submit',
    'submit',
    SUBMIT,
    400,
    problem('wrong'),
    { __typename: 'Refused', reason: 'INVALID_REQUEST', message: 'wrong' },
  ],
  ['409 Cancel', 'cancel', CANCEL, 409, problem('nothing to cancel'), { __typename: 'NothingToCancel' }],
  [
    '404 Cancel',
    'cancel',
    CANCEL,
    404,
    problem('unknown'),
    { __typename: 'NotFound', message: 'There is no batch "b1" of this caller.' },
  ],
  [
    '422 Submit',
    'submit',
    SUBMIT,
    422,
    problem('no model'),
    { __typename: 'Refused', reason: 'MODEL_UNAVAILABLE' },
  ],
  [
    '429 Submit',
    'submit',
    SUBMIT,
    429,
    problem('rate limit'),
    { __typename: 'Refused', reason: 'RATE_LIMIT', retryable: true },
  ],
  [
    '429 Submit, credits',
    'submit',
    SUBMIT,
    429,
    problem('no credits'),
    { __typename: 'Refused', reason: 'CREDITS', retryable: false },
  ],
  [
    '401, text under `error`',
    'submit',
    SUBMIT,
    401,
    { error: 'bad key' },
    { __typename: 'Refused', reason: 'UNAUTHENTICATED', message: 'bad key' },
  ],
])('%s is a typed result', async (_, operation, query, status, body, expected) => {
  liar.script(operation, says(status, body));
  const { data, errors } = await place.query(query);
  expect(errors).toBeUndefined();
  expect(at(data, 'it')).toMatchObject(expected);
});

it.each<[string, string, string, number, unknown, string | null]>([
  ['404 List', 'list', LIST, 404, problem('not found'), null],
  ['404 Status', 'status', STATUS, 404, problem('use List'), null],
  ['401 List', 'list', LIST, 401, { error: 'bad key' }, 'UNAUTHENTICATED'],
  // The Atlas is public and is sent no token, so that no other one would help.
  ['401 Atlas', 'uniprot', UNIPROT, 401, { detail: 'Not authenticated' }, 'UPSTREAM_DRIFT'],
  ['400 accession', 'uniprot', UNIPROT, 400, { detail: 'other namespace' }, 'BAD_USER_INPUT'],
  [
    '422 Atlas',
    'uniprot',
    UNIPROT,
    422,
    { detail: [{ loc: ['path', 'uniprot_id'], msg: 'bad', type: 'x' }] },
    'BAD_USER_INPUT',
  ],
  ['500 List', 'list', LIST, 500, problem('broken'), 'UPSTREAM_UNAVAILABLE'],
])('%s is absence or a coded error, and its sibling answers', async (_, operation, query, status, body, code) => {
  liar.script(operation, says(status, body));
  const { data, errors } = await place.query(query);
  expect(at(data, 'it')).toBeNull();
  expect(at(data, 'limits.maxItems')).toBe(2000);
  expect(errors?.map(({ path, extensions }) => [path, extensions.code])).toEqual(
    code === null ? undefined : [[['it'], code]],
  );
});

it.each([
  ['2026-05-02T14:00:00', '2026-05-02T14:00:00.000Z'],
  ['2026-05-02T14:00:00+02:00', '2026-05-02T12:00:00.000Z'],
  ['some day', undefined],
])('410 Status: when the results expired is told in UTC: %s', async (time, expected) => {
  const items = [{ task_id: 'b1-00000', status: 'done', response_available: true }];
  liar.script('list', says(200, { data: { status: 'done', counts: { done: 1 }, items, cursor: null } }));
  liar.script('status', says(410, { ...problem('gone'), results_expire_at: time }));
  const { errors } = await place.query('{ batch(batchId: "b1") { tasks { nodes { result { ptm } } } } }');
  expect(errors?.[0]?.extensions.code).toBe('RESULT_EXPIRED');
  expect(errors?.[0]?.extensions.resultsExpireAt).toBe(expected);
});

const HINTED = (what: string) =>
  `mutation { it: ${what} { __typename ... on Problem { message hint } ... on Refused { reason retryable } } }`;
const SUBMISSION = HINTED('submitFold(input: {items: [{chains: [{protein: {sequence: "MKTAYIAKQR"}}]}]})');
const FOR_THE_OPERATOR = 'Nothing was done. Tell the operator of the gateway what the message says.';

it("401 for the gateway's own key is its operator's to mend, not the caller's", async () => {
  const headers = { authorization: 'Bearer my-key-of-this-test' };
  const guarded = openPlace(liar.url, {
    UPSTREAM_API_KEY: 'key-of-the-gateway',
    GATEWAY_API_KEYS: 'my-key-of-this-test',
  });
  const { data: paid } = await guarded.query(SUBMISSION, {}, headers);
  expect(at(paid, 'it.__typename')).toBe('FoldSubmitted');
  for (const operation of ['submit', 'cancel', 'list'])
    liar.script(operation, says(401, { error: 'bad key' }));
  const message = expect.stringMatching(/gateway's own key.*operator.*UPSTREAM_API_KEY.*bad key/);
  for (const query of [SUBMISSION, HINTED('cancelBatch(batchId: "b1")')]) {
    const { data } = await guarded.query(query, {}, headers);
    expect(at(data, 'it')).toEqual({
      ...{ __typename: 'Refused', reason: 'UNAUTHENTICATED', retryable: false },
      message,
      hint: FOR_THE_OPERATOR,
    });
  }
  const { errors } = await guarded.query(LIST, {}, headers);
  expect(errors).toMatchObject([{ message, extensions: { code: 'UPSTREAM_DRIFT', retryable: false } }]);
  await guarded.gateway.close();
});

it.each([
  ['an HTML page', says(404, '<html>not found</html>')],
  ['no such route', says(404, { detail: 'Not Found' })],
])('404 of a server without the Batch API, with %s, says which setting is wrong', async (_, script) => {
  const fresh = openPlace(liar.url);
  liar.script('submit', script);
  const { data } = await fresh.query(SUBMISSION);
  expect(at(data, 'it')).toEqual({
    __typename: 'Refused',
    reason: 'INVALID_REQUEST',
    retryable: false,
    message: expect.stringMatching(/HTTP 404.*UPSTREAM_URL.*UPSTREAM_BATCH_PREFIX/),
    hint: FOR_THE_OPERATOR,
  });
  await fresh.gateway.close();
});

it('500 of Submit leaves the outcome unknown', async () => {
  liar.script('submit', says(500, problem('broken')));
  const { data } = await place.query(SUBMIT);
  expect(at(data, 'it.__typename')).toMatch(/Unknown/);
  expect(liar.seen).toHaveLength(1);
});

describe('a redirect of all requests, as from http to https,', () => {
  const elsewhere = (status: number) =>
    says(status, '<html>moved</html>', { location: 'https://moved.example' });
  const message = expect.stringMatching(/HTTP 30\d, a redirect, .* set UPSTREAM_URL to the address/);

  it.each([
    301, 307, 308,
  ])('%i, says which setting is wrong, and no submission is unknown', async (status) => {
    for (const operation of ['submit', 'cancel', 'protein']) liar.script(operation, elsewhere(status));
    for (const query of [SUBMIT, CANCEL])
      expect((await place.query(query)).data).toMatchObject({ it: { __typename: 'Refused', message } });
    const { errors } = await place.query(`{ it: protein(hash: "${HASH}") { length } }`);
    expect(errors).toMatchObject([{ message, extensions: { code: 'UPSTREAM_DRIFT', retryable: false } }]);
    expect(JSON.stringify(errors)).not.toContain('moved');
  });

  it.each([302, 303])('%i, may come after the work was done', async (status) => {
    liar.script('submit', elsewhere(status));
    expect((await place.query(SUBMIT)).data).toMatchObject({ it: { __typename: 'OutcomeUnknown', message } });
  });
});
