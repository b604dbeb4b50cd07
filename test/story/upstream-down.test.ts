// When the upstream is down: it is left alone for a while, everybody is told so at once and when to come back, what does not need
// it answers, and nothing is sent whose outcome would be unknown.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { at } from '../support.ts';
import { HASH, hangs, inTurn, type Liar, openLiar, openPlace, SEQUENCE, says } from '../upstream/liar.ts';

let liar: Liar;
beforeAll(async () => {
  liar = await openLiar();
});
afterAll(() => liar.close());
beforeEach(() => liar.reset());

const UNIPROT = '{ uniprotEntry(id: "P01308") { name } limits { maxItems } }';
const PROTEIN = `{ protein(hash: "${HASH}") { sequence } }`;
const SUBMIT = `mutation($key: String) { submitFold(input: {idempotencyKey: $key, items: [{chains: [{protein: {sequence: "MKTAYIAKQR"}}]}]}) {
  __typename ... on Problem { message } ... on Refused { reason retryable retryAfterSeconds } ... on FoldSubmitted { replayed } } }`;
const breaker = { failures: 6, first: 250, longest: 1000 };

describe('one operation that fails again and again', () => {
  it('is left alone, tried by one call after a while, and asked again when that went well; the others go on', async () => {
    liar.script('uniprot', says(503, { message: 'restarting' }));
    const place = openPlace(liar.url, {}, { breaker });
    for (let i = 0; i < 2; i++) {
      const { errors } = await place.query(UNIPROT);
      expect(errors).toMatchObject([{ message: 'restarting', extensions: { code: 'UPSTREAM_UNAVAILABLE' } }]);
    }
    expect(liar.seen).toHaveLength(6);
    expect(place.gateway.upstream().api).toMatchObject({ host: 'closed', operations: { uniprot: 'open' } });

    const refused = await place.query(UNIPROT);
    expect(refused.errors).toMatchObject([
      {
        path: ['uniprotEntry'],
        extensions: { code: 'UPSTREAM_UNAVAILABLE', retryable: true, retryAfterSeconds: 1 },
      },
    ]);
    expect(refused.errors?.[0]?.message).toMatch(/has been failing.*not sent/);
    expect(at(refused.data, 'limits.maxItems')).toBe(2000);
    expect(liar.seen).toHaveLength(6);
    expect(at((await place.query(PROTEIN)).data, 'protein.sequence')).toBe(SEQUENCE);

    // One trial that fails keeps it shut, for longer.
    await expect
      .poll(() => place.gateway.upstream().api.operations.uniprot, { interval: 5 })
      .toBe('half-open');
    liar.seen.length = 0;
    expect((await place.query(UNIPROT)).errors?.[0]?.message).toBe('restarting');
    expect(liar.seen).toHaveLength(1);
    expect(place.gateway.upstream().api.operations.uniprot).toBe('open');

    // Of several at once one tries, the others are told to wait.
    await expect
      .poll(() => place.gateway.upstream().api.operations.uniprot, { interval: 5 })
      .toBe('half-open');
    let release: () => void = () => undefined;
    liar.script('uniprot', (call) => {
      release = () => says(200, { protein_name: 'Insulin' })(call);
    });
    liar.seen.length = 0;
    const trial = place.query(UNIPROT);
    await expect.poll(() => liar.seen.length, { interval: 5 }).toBe(1);
    const second = await place.query('{ uniprotEntry(id: "P69905") { name } }');
    expect(second.errors?.[0]?.extensions).toMatchObject({
      code: 'UPSTREAM_UNAVAILABLE',
      retryAfterSeconds: 1,
    });
    release();
    expect(at((await trial).data, 'uniprotEntry.name')).toBe('Insulin');
    expect(place.gateway.upstream().api).toMatchObject({ operations: { uniprot: 'closed' }, inFlight: 0 });
    await place.gateway.close();
  });

  it('4xx are answers, no failures', async () => {
    const place = openPlace(liar.url, {}, { breaker });
    for (const status of [400, 404, 409, 410, 422]) {
      liar.script('uniprot', says(status, { detail: 'no' }));
      for (let i = 0; i < 4; i++) await place.query(UNIPROT);
    }
    expect(place.gateway.upstream().api.operations.uniprot).toBe('closed');
    await place.gateway.close();
  });
});

describe('a submission', () => {
  it('that is held back was certainly not sent: a refusal that says so, and its key is free', async () => {
    const place = openPlace(liar.url, {}, { breaker });
    liar.script('submit', says(500, { status: 'error', message: 'broken' }));
    for (let i = 0; i < breaker.failures; i++) {
      expect(at((await place.query(SUBMIT)).data, 'submitFold.__typename')).not.toBe('Refused');
    }
    liar.reset();
    const { data } = await place.query(SUBMIT, { key: 'once' });
    expect(at(data, 'submitFold')).toMatchObject({
      __typename: 'Refused',
      reason: 'UNREACHABLE',
      retryable: true,
      retryAfterSeconds: 1,
      message: expect.stringContaining('This call was not sent'),
    });
    expect(liar.seen).toEqual([]);
    await expect
      .poll(() => place.gateway.upstream().api.operations.submit, { interval: 5 })
      .toBe('half-open');
    expect(at((await place.query(SUBMIT, { key: 'once' })).data, 'submitFold')).toEqual({
      __typename: 'FoldSubmitted',
      replayed: false,
    });
    expect(liar.seen).toHaveLength(1);
    await place.gateway.close();
  });

  it('is sent once, whatever came of it', async () => {
    const place = openPlace(liar.url, { UPSTREAM_PATIENCE: '0.01' });
    for (const script of [says(503, ''), says(429, { message: 'too many' }), says(200, ''), hangs]) {
      liar.reset();
      liar.script('submit', script);
      await place.query(SUBMIT);
      expect(liar.seen).toHaveLength(1);
    }
    await place.gateway.close();
  });
});

describe('a caller who is told to slow down', () => {
  it('by the Batch API waits alone: others go on, folding goes on, the Atlas goes on', async () => {
    const place = openPlace(liar.url);
    const as = (token: string) => ({ authorization: `Bearer ${token}` });
    const BATCH = '{ batch(batchId: "b1") { state } }';
    liar.script(
      'list',
      inTurn(
        says(429, { message: 'Too many requests' }, { 'retry-after': '60' }),
        says(404, { message: 'No such batch' }),
      ),
    );
    const first = await place.query(BATCH, {}, as('one'));
    expect(first.errors?.[0]?.extensions).toMatchObject({ code: 'RATE_LIMITED', retryAfterSeconds: 60 });
    liar.seen.length = 0;
    const again = await place.query(BATCH, {}, as('one'));
    expect(again.errors?.[0]?.message).toMatch(/slow down for (60|59) s/);
    expect(liar.seen).toEqual([]);
    expect(await place.query(BATCH, {}, as('two'))).toEqual({ data: { batch: null } });
    expect(at((await place.query(SUBMIT, {}, as('one'))).data, 'submitFold.__typename')).toBe(
      'FoldSubmitted',
    );
    expect(at((await place.query(PROTEIN, {}, as('one'))).data, 'protein.sequence')).toBe(SEQUENCE);
    expect(place.gateway.upstream().api.paused).toBe(1);
    await place.gateway.close();
  });

  it('for want of credits is not asked to wait, and nothing is tried again', async () => {
    const place = openPlace(liar.url);
    liar.script(
      'list',
      says(429, { message: 'You have exceeded your daily credit limit' }, { 'retry-after': '1' }),
    );
    const { errors } = await place.query('{ batch(batchId: "b1") { state } }');
    expect(errors?.[0]?.extensions.code).toBe('RATE_LIMITED');
    expect(liar.seen).toHaveLength(1);
    expect(place.gateway.upstream().api.paused).toBe(0);
    await place.gateway.close();
  });

  it.each([
    ['seconds', () => '1'],
    ['a date', () => new Date(Date.now() + 1500).toUTCString()],
    ['nothing', () => undefined],
    ['nonsense', () => 'soon'],
  ])('by the Atlas with %s waits and is answered', async (_, after) => {
    const place = openPlace(liar.url);
    const header = after();
    liar.script(
      'uniprot',
      inTurn(
        says(429, 'slow', header === undefined ? {} : { 'retry-after': header }),
        says(200, { protein_name: 'Insulin' }),
      ),
    );
    expect(at((await place.query(UNIPROT)).data, 'uniprotEntry.name')).toBe('Insulin');
    expect(liar.seen).toHaveLength(2);
    await place.gateway.close();
  });
});

describe('a host that cannot be reached', () => {
  it('is not tried by everybody: after some failures all are told at once', async () => {
    const gone = await openLiar();
    await gone.close();
    const place = openPlace(gone.url, {}, { breaker });
    for (let i = 0; i < 2; i++) {
      const { errors } = await place.query(UNIPROT);
      expect(errors?.[0]).toMatchObject({ extensions: { code: 'UPSTREAM_UNAVAILABLE', retryable: true } });
      expect(JSON.stringify(errors)).not.toMatch(/127\.0\.0\.1|ECONN/);
    }
    expect(place.gateway.upstream().api.host).toBe('open');
    const { data } = await place.query(SUBMIT);
    expect(at(data, 'submitFold')).toMatchObject({ __typename: 'Refused', reason: 'UNREACHABLE' });
    const picture = await place.get(`/thumbnails/${HASH}/plddt.png`);
    expect([picture.status, picture.headers.get('retry-after')]).toEqual([503, '1']);
    await place.gateway.close();
  });
});
