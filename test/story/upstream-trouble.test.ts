// When the upstream is down, slow, lying or drifting: the broken branch says so with a code, its
// siblings answer, and no caller sees a stack trace, a URL or a token.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { readConfig } from '../../src/config.ts';
import { createGateway } from '../../src/gateway.ts';
import { testLogger } from '../record.ts';
import { type Answer, at, listAt, openWorld, type World } from '../support.ts';
import { reached } from '../transport.ts';

const INSULIN = '12e9c9e4e2835c302e8ba615115edda3';
const HBA = '6077c452d1dc6151040b2b179e2294c7';

let world: World;
beforeAll(async () => {
  world = await openWorld({ REQUEST_TIMEOUT_MS: '5000' }, { control: true });
});
afterAll(() => world.close());

const control = (path: string, method: string, body?: unknown) =>
  fetch(`${world.sandboxUrl}/control/${path}`, {
    method,
    headers: { 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
const fault = async (rule: Record<string, unknown>) =>
  expect((await control('faults', 'POST', rule)).status).toBe(200);

beforeEach(async () => {
  await control('faults', 'DELETE');
  world.forget();
});

const CARD = `{
  uniprotEntry(id: "P01308") { name }
  protein(hash: "${INSULIN}") { ptm }
  limits { maxBulkHashes }
}`;

const onlyError = ({ errors }: Answer) => {
  expect(errors).toHaveLength(1);
  const text = JSON.stringify(errors);
  expect(text).not.toMatch(/127\.0\.0\.1|stack|node_modules|\bat .*\.ts/);
  return errors?.[0];
};

describe('one operation fails', () => {
  it('its branch says UPSTREAM_UNAVAILABLE with its path, its siblings answer', async () => {
    await fault({ operation: 'protein', status: 503, times: 10, body: { message: 'restarting' } });
    const answer = await world.query(CARD);
    expect(onlyError(answer)).toMatchObject({
      path: ['protein'],
      message: 'restarting',
      extensions: {
        code: 'UPSTREAM_UNAVAILABLE',
        retryable: true,
        upstream: { operation: 'protein', status: 503 },
      },
    });
    expect(at(answer.data, 'uniprotEntry.name')).toBe('Insulin');
    expect(at(answer.data, 'protein')).toBeNull();
    expect(world.counts().protein).toBe(3);
  });

  it.each([
    ['similarity', 'similarProteins(sequence: "MKVLAAGIVALLAAGCSS") { hits { score } }'],
    ['features', 'features(first: 2) { nodes { index label } }'],
    [undefined, 'myBatches { nodes { batchId } }'],
  ])('has a null root field and siblings that answer: %s', async (operation, field) => {
    if (operation !== undefined) await fault({ operation, status: 503, times: 10 });
    const answer = await world.query(`{ failing: ${field} uniprotEntry(id: "P01308") { name } }`);
    expect(onlyError(answer)?.path?.[0]).toBe('failing');
    expect(answer.data).toEqual({ failing: null, uniprotEntry: { name: 'Insulin' } });
  });

  it('a feature is found by its record without the catalogue, and by the catalogue without its record', async () => {
    await fault({ operation: 'features', status: 503, times: 10 });
    const { data, errors } = await world.query('{ feature(index: 3) { label description } }');
    expect(errors).toBeUndefined();
    expect(at(data, 'feature.description')).toEqual(expect.any(String));
    await control('faults', 'DELETE');
    await fault({ operation: 'feature', status: 503, times: 10 });
    // The catalogue is read beside the request, which a busy machine may keep for more than its
    // time.
    const readCatalogue = () => world.query('{ features(first: 1) { totalCount } }');
    await expect.poll(async () => (await readCatalogue()).errors, { timeout: 60_000 }).toBeUndefined();
    const other = await world.query(
      '{ feature(index: 4) { label summary } none: feature(index: 16384) { summary } }',
    );
    expect(onlyError(other)?.path).toEqual(['feature', 'summary']);
    expect(other.data).toEqual({ feature: { label: expect.any(String), summary: null }, none: null });
  });

  it.each([
    ['an error', { status: 503 }],
    ['a reset connection', { spoil: 'reset' }],
    ['an answer that breaks off', { spoil: 'truncate' }],
  ])('%s that passes is not seen at all', async (_, rule) => {
    await fault({ operation: 'protein', times: 1, ...rule });
    const answer = await world.query(CARD);
    expect(answer.errors).toBeUndefined();
    expect(world.counts().protein).toBe(2);
  });

  it.each([
    ['a reset connection', { spoil: 'reset' }, 'UPSTREAM_UNAVAILABLE'],
    ['an answer that breaks off', { spoil: 'truncate' }, 'UPSTREAM_UNAVAILABLE'],
    ['an answer that is no JSON', { spoil: 'garbage' }, 'UPSTREAM_DRIFT'],
    ['an HTML page', { status: 502, body: '<html>Bad gateway</html>' }, 'UPSTREAM_UNAVAILABLE'],
    ['a slow answer', { delay_ms: 20_000 }, 'UPSTREAM_TIMEOUT'],
    ['a record without its hash', { status: 200, body: { sequence: 'MK' } }, 'UPSTREAM_DRIFT'],
  ])('%s is its own code', async (_, rule, code) => {
    await fault({ operation: 'protein', times: 10, ...rule });
    const answer = await world.query(CARD);
    const error = onlyError(answer);
    expect(error?.path).toEqual(['protein']);
    expect(error?.extensions.code).toBe(code);
    expect(at(answer.data, 'uniprotEntry.name')).toBe('Insulin');
    expect(at(answer.data, 'limits.maxBulkHashes')).toBe(500);
  });

  it.each([
    ['an error', { status: 503 }],
    ['no such route', { status: 404, body: '<html>Not found</html>' }],
    ['an unknown job', { status: 202, body: { status: 'pending', job_id: 'none' } }],
    ['an archive that breaks off', { spoil: 'truncate' }],
  ])('the record of a lone protein answers where its bulk look-up is answered by %s', async (_, rule) => {
    await fault({ operation: 'bulk', times: 10, ...rule });
    const { data, errors } = await world.query(
      `{ protein(hash: "${INSULIN}") { hash length accession source } }`,
    );
    expect(errors).toBeUndefined();
    expect(at(data, 'protein')).toMatchObject({ hash: INSULIN, length: 110, source: 'uniprotkb' });
    expect(world.counts().protein).toBe(1);
  });

  it('a bulk failure leaves what is known of a protein, from before or by its record', async () => {
    const whole = await world.query(`{ protein(hash: "${INSULIN}") { length header sequence } }`);
    await fault({ operation: 'bulk', status: 503, times: 100 });
    world.forget();
    const { data, errors } = await world.query(`{
      protein(hash: "${INSULIN}") { length cluster { size } }
      proteins(hashes: ["${HBA}", "${INSULIN}"]) { header cluster { size } }
      lookup(ids: ["${INSULIN}"]) { status protein { sequence cluster { size } } }
    }`);
    expect(errors?.map((error) => error.path?.join('.'))).toEqual([
      'protein.cluster',
      'proteins.0.cluster',
      'proteins.1.cluster',
      'lookup.0.protein.cluster',
    ]);
    const { length, header, sequence } = at(whole.data, 'protein') as Record<string, unknown>;
    expect(at(data, 'protein')).toEqual({ length, cluster: null });
    expect(listAt(data, 'proteins')).toEqual([
      { header: expect.stringContaining('HBA_HUMAN'), cluster: null },
      { header, cluster: null },
    ]);
    expect(listAt(data, 'lookup')).toEqual([{ status: 'FOUND', protein: { sequence, cluster: null } }]);
    // One call and its two retries: the fields make none of their own.
    expect(world.counts().bulk).toBe(3);
  });

  it('a bulk failure shows at every field that needed it and nowhere else', async () => {
    const found = await world.query(`{ protein(hash: "${INSULIN}") { cluster { representativeHash } } }`);
    const representative = String(at(found.data, 'protein.cluster.representativeHash'));
    await fault({ operation: 'bulk', status: 503, times: 100 });
    const { data, errors } = await world.query(
      `{ cluster(hash: "${representative}") { representativeHash size members(first: 3) { totalCount nodes { hash length } } } }`,
    );
    // The bulk answer would have had the size alone of the cluster's own fields; the record has it,
    // too.
    expect(Number(at(data, 'cluster.members.totalCount'))).toBeGreaterThan(1);
    const nodes = listAt(data, 'cluster.members.nodes');
    expect(nodes.map((node) => at(node, 'length'))).toEqual(nodes.map(() => null));
    expect(errors?.map((error) => error.path?.join('.'))).toEqual(
      nodes.map((_, i) => `cluster.members.nodes.${i}.length`),
    );
  });
});

describe('the Atlas asks to slow down', () => {
  it('the call that was told says so, and no call is made before the time that it named', async () => {
    const slowed = await openWorld({}, { control: true });
    await fetch(`${slowed.sandboxUrl}/control/faults`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        operation: 'protein',
        status: 429,
        headers: { 'retry-after': '77' },
        body: { message: 'slow down' },
      }),
    });
    const first = onlyError(await slowed.query(`{ protein(hash: "${INSULIN}") { ptm } }`));
    expect(first).toMatchObject({
      message: 'slow down',
      extensions: { code: 'RATE_LIMITED', retryAfterSeconds: 77, upstream: { status: 429 } },
    });
    // The Atlas counts by address: what one call was told is meant for all.
    slowed.forget();
    const second = await slowed.query(CARD);
    expect(second.errors?.map(({ extensions }) => extensions.code)).toEqual(['RATE_LIMITED', 'RATE_LIMITED']);
    expect(Number(second.errors?.[0]?.extensions.retryAfterSeconds)).toBeGreaterThan(70);
    expect(at(second.data, 'limits.maxBulkHashes')).toBe(500);
    expect(slowed.calls).toEqual([]);
    expect(slowed.gateway.upstream().api).toMatchObject({ host: 'closed', inFlight: 0 });
    await slowed.close();
  });
});

describe('the upstream is down', () => {
  it('fails what needs it with a code, and what does not need it answers', async () => {
    const config = readConfig({ STORE_URL: 'memory:', LOG_LEVEL: 'silent' });
    const gateway = reached(
      createGateway({
        config,
        upstreamUrl: 'http://127.0.0.1:9',
        log: testLogger(),
      }),
    );
    const response = await gateway.fetch(
      new Request('http://gateway.test/graphql', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ query: CARD }),
      }),
    );
    const answer = (await response.json()) as Answer;
    expect(answer.errors?.map((error) => [error.path?.join('.'), error.extensions.code]).sort()).toEqual([
      ['protein', 'UPSTREAM_UNAVAILABLE'],
      ['uniprotEntry', 'UPSTREAM_UNAVAILABLE'],
    ]);
    expect(at(answer.data, 'limits.maxBulkHashes')).toBe(500);
    const picture = await gateway.fetch(new Request(`http://gateway.test/thumbnails/${INSULIN}/plddt.png`));
    expect(picture.status).toBe(503);
    await gateway.close();
  });
});
