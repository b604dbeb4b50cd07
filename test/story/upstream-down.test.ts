// When the upstream cannot be reached it is left alone for a while, and every caller is told when
// to try again. What it answers to one caller never shuts it for others.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { at } from '../support.ts';
import {
  HASH,
  hangs,
  inTurn,
  type Liar,
  openLiar,
  openPlace,
  type Script,
  SEQUENCE,
  says,
} from '../upstream/liar.ts';

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

const SEARCH = '{ similarProteins(sequence: "MKTAYIAKQR") { queryHash } }';
const as = (token: string) => ({ authorization: `Bearer ${token}` });

describe('a caller whose input the service cannot bear', () => {
  const drops: Script = ({ request }) => void request.socket.destroy();
  const forPoison =
    (script: Script, others: Script): Script =>
    (call) =>
      (`${call.request.url} ${call.body}`.includes('WWWWW') ? script : others)(call);

  it.each([
    ['a 500', says(500, { status: 'error', message: 'broken' })],
    ['a 503 without a body', says(503, '')],
    ['a connection that is dropped', drops],
  ])('shuts nothing for others, when each of its calls is answered with %s', async (_, script) => {
    const accepted = says(200, { status: 'success', data: { batch_id: 'b1', task_id: 'b1-00000' } });
    liar.script('submit', forPoison(script, accepted));
    liar.script('similarity', forPoison(script, says(200, { similar_proteins: [] })));
    const place = openPlace(liar.url, {}, { breaker });
    const thirtyTimes = (query: string) =>
      Promise.all(
        Array.from({ length: 30 }, () =>
          place.query(query.replace('MKTAYIAKQR', 'WWWWW'), {}, as('poisoner')),
        ),
      );
    for (const { data } of await thirtyTimes(SUBMIT))
      expect(at(data, 'submitFold.__typename')).toBe('OutcomeUnknown');
    for (const { errors } of await thirtyTimes(SEARCH)) expect(errors).toHaveLength(1);
    for (let i = 0; i < 5; i++) {
      const { data } = await place.query(SUBMIT, {}, as('another'));
      expect(at(data, 'submitFold.__typename')).toBe('FoldSubmitted');
      const found = await place.query(SEARCH, {}, as('another'));
      expect(found).toEqual({ data: { similarProteins: { queryHash: expect.any(String) } } });
    }
    expect(place.gateway.upstream().api).toMatchObject({ host: 'closed' });
    await place.gateway.close();
  });
});

describe('a host that cannot be reached', () => {
  it('is left alone, tried by one call after a while, and asked again when that went well', async () => {
    const gone = await openLiar();
    const { port } = new URL(gone.url);
    await gone.close();
    const place = openPlace(gone.url, {}, { breaker });
    const host = () => place.gateway.upstream().api.host;
    for (let i = 0; i < 2; i++) {
      const { errors } = await place.query(UNIPROT);
      expect(errors).toMatchObject([{ extensions: { code: 'UPSTREAM_UNAVAILABLE', retryable: true } }]);
      expect(JSON.stringify(errors)).not.toMatch(/127\.0\.0\.1|ECONN/);
    }
    expect(host()).toBe('open');

    const refused = await place.query(UNIPROT);
    expect(refused.errors).toMatchObject([
      {
        path: ['uniprotEntry'],
        message: expect.stringMatching(/cannot be reached.*not sent/),
        extensions: { code: 'UPSTREAM_UNAVAILABLE', retryable: true, retryAfterSeconds: 1 },
      },
    ]);
    expect(at(refused.data, 'limits.maxItems')).toBe(2000);
    const { data } = await place.query(SUBMIT, { key: 'once' });
    expect(at(data, 'submitFold')).toMatchObject({
      __typename: 'Refused',
      reason: 'UNREACHABLE',
      retryable: true,
      retryAfterSeconds: 1,
      message: expect.stringContaining('This call was not sent'),
    });
    const picture = await place.get(`/thumbnails/${HASH}/plddt.png`);
    expect([picture.status, picture.headers.get('retry-after')]).toEqual([503, '1']);

    // One trial that fails keeps it shut, for longer.
    await expect.poll(host, { interval: 5 }).toBe('half-open');
    expect((await place.query(UNIPROT)).errors).toHaveLength(1);
    expect(host()).toBe('open');

    // One of several calls at once is tried, the others are told to wait.
    const back = await openLiar(Number(port));
    await expect.poll(host, { interval: 5 }).toBe('half-open');
    let release: () => void = () => undefined;
    back.script('uniprot', (call) => {
      release = () => says(200, { protein_name: 'Insulin' })(call);
    });
    const trial = place.query(UNIPROT);
    await expect.poll(() => back.seen.length, { interval: 5 }).toBe(1);
    const second = await place.query('{ uniprotEntry(id: "P69905") { name } }');
    expect(second.errors?.[0]?.extensions).toMatchObject({
      code: 'UPSTREAM_UNAVAILABLE',
      retryAfterSeconds: 1,
    });
    expect(back.seen).toHaveLength(1);
    release();
    expect(at((await trial).data, 'uniprotEntry.name')).toBe('Insulin');
    expect(place.gateway.upstream().api).toMatchObject({ host: 'closed', inFlight: 0 });
    // The key of a submission that was held back is free.
    expect(at((await place.query(SUBMIT, { key: 'once' })).data, 'submitFold')).toEqual({
      __typename: 'FoldSubmitted',
      replayed: false,
    });
    await place.gateway.close();
    await back.close();
  });

  it('is one whose TLS fails, too: nothing was sent, and a submission says so', async () => {
    const place = openPlace(liar.url.replace('http:', 'https:'), {}, { breaker });
    for (let i = 0; i < breaker.failures; i++) {
      const { data } = await place.query(SUBMIT, { key: 'tls' });
      expect(at(data, 'submitFold')).toMatchObject({ __typename: 'Refused', reason: 'UNREACHABLE' });
    }
    expect(place.gateway.upstream().api.host).toBe('open');
    expect(liar.seen).toEqual([]);
    await place.gateway.close();
  });
});

describe('a submission', () => {
  it('goes out on a connection of its own, never on one that the service may have closed', async () => {
    const used = new WeakSet<object>();
    const closesKept: Script = (call) => {
      const { socket } = call.request;
      if (used.has(socket)) socket.destroy();
      else says(200, { status: 'success', data: { batch_id: 'b1', task_id: 'b1-00000' } })(call);
      used.add(socket);
    };
    liar.script('submit', closesKept);
    liar.script('uniprot', (call) => {
      used.add(call.request.socket);
      says(200, { protein_name: 'Insulin' })(call);
    });
    const place = openPlace(liar.url);
    for (let i = 0; i < 8; i++) {
      await place.query(UNIPROT);
      expect(at((await place.query(SUBMIT)).data, 'submitFold.__typename')).toBe('FoldSubmitted');
    }
    const together = await Promise.all(Array.from({ length: 8 }, () => place.query(SUBMIT)));
    for (const { data } of together) expect(at(data, 'submitFold.__typename')).toBe('FoldSubmitted');
    const submits = liar.seen.filter(({ operation }) => operation === 'submit');
    expect(submits).toHaveLength(16);
    expect(submits.every(({ headers }) => headers.connection === 'close')).toBe(true);
    // Reads keep theirs.
    expect(liar.seen.find(({ operation }) => operation === 'uniprot')?.headers.connection).toBe('keep-alive');
    await place.gateway.close();
  });

  it('is sent once, whatever came of it', async () => {
    const place = openPlace(liar.url, { UPSTREAM_TIMEOUT_FACTOR: '0.01' });
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
  it.each([
    ['60', 60],
    ['86400', 300],
  ])('waits alone when the Batch API says %s s, for 300 s at most: others go on, folding goes on, the Atlas goes on', async (header, seconds) => {
    const place = openPlace(liar.url);
    const BATCH = '{ batch(batchId: "b1") { status } }';
    liar.script(
      'list',
      inTurn(
        says(429, { message: 'Too many requests' }, { 'retry-after': header }),
        says(404, { message: 'No such batch' }),
      ),
    );
    const first = await place.query(BATCH, {}, as('one'));
    expect(first.errors?.[0]?.extensions).toMatchObject({ code: 'RATE_LIMITED', retryAfterSeconds: seconds });
    liar.seen.length = 0;
    const again = await place.query(BATCH, {}, as('one'));
    expect(again.errors?.[0]?.message).toMatch(new RegExp(`slow down for (${seconds}|${seconds - 1}) s`));
    expect(liar.seen).toEqual([]);
    expect(await place.query(BATCH, {}, as('two'))).toEqual({ data: { batch: null } });
    expect(at((await place.query(SUBMIT, {}, as('one'))).data, 'submitFold.__typename')).toBe(
      'FoldSubmitted',
    );
    expect(at((await place.query(PROTEIN, {}, as('one'))).data, 'protein.sequence')).toBe(SEQUENCE);
    await place.gateway.close();
  });

  it('is not asked to wait for want of credits, and nothing is tried again', async () => {
    const place = openPlace(liar.url);
    liar.script(
      'list',
      says(429, { message: 'You have exceeded your daily credit limit' }, { 'retry-after': '1' }),
    );
    const question = '{ batch(batchId: "b1") { status } }';
    const { errors } = await place.query(question);
    expect(errors?.[0]?.extensions.code).toBe('RATE_LIMITED');
    expect(liar.seen).toHaveLength(1);
    // The next question is sent at once.
    await place.query(question);
    expect(liar.seen).toHaveLength(2);
    await place.gateway.close();
  });

  it.each([
    ['seconds', () => '1'],
    ['a date', () => new Date(Date.now() + 1500).toUTCString()],
    ['nothing', () => undefined],
    ['nonsense', () => 'soon'],
  ])('waits when the Atlas says so with %s, and is answered', async (_, after) => {
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
