// Browsers and CDNs may cache GET queries; responses state the cost of their request.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { at, openWorld, type World } from '../support.ts';

const INSULIN = '12e9c9e4e2835c302e8ba615115edda3';
const UNKNOWN = '0'.repeat(32);

let world: World;
beforeAll(async () => {
  world = await openWorld({ CACHE_RECORDS_SECONDS: '600' });
});
afterAll(() => world.close());
beforeEach(() => world.forget());

const get = (query: string, headers: Record<string, string> = {}, variables?: object) => {
  const url = new URL('http://gateway.test/graphql');
  url.searchParams.set('query', query);
  if (variables !== undefined) url.searchParams.set('variables', JSON.stringify(variables));
  return world.gateway.fetch(
    new Request(url, { headers: { accept: 'application/graphql-response+json', ...headers } }),
  );
};
const cacheControl = async (query: string, headers: Record<string, string> = {}, variables?: object) => {
  const response = await get(query, headers, variables);
  await response.text();
  return response.headers.get('cache-control');
};

describe('a GET query for public data', () => {
  const QUERY = `{ protein(hash: "${INSULIN}") { length cluster { size } features(first: 2) { value feature { label } } } }`;

  it('may be kept as long as the gateway keeps its records, has a tag, and is 304 for who has it', async () => {
    const response = await get(QUERY);
    expect(response.status).toBe(200);
    expect(response.headers.get('cache-control')).toBe('public, max-age=600');
    const etag = response.headers.get('etag') ?? '';
    expect(etag).toMatch(/^"[\w-]{27}"$/);
    expect(response.headers.get('vary')?.split(', ').sort()).toEqual([
      'accept',
      'origin',
      'x-upstream-report',
    ]);
    const body: unknown = await response.json();
    expect(at(body, 'data.protein.length')).toBe(110);

    const again = await get(QUERY, { 'if-none-match': `"other", W/${etag}` });
    expect([again.status, await again.text()]).toEqual([304, '']);
    expect(again.headers.get('etag')).toBe(etag);
    expect(again.headers.get('cache-control')).toBe('public, max-age=600');
    expect((await get(QUERY, { 'if-none-match': '"other"' })).status).toBe(200);
    const other = await get(`{ protein(hash: "${INSULIN}") { hash } }`);
    expect(other.headers.get('etag')).not.toBe(etag);
  });

  it.each([
    [
      'the catalogue changes with releases only',
      '{ features(first: 2) { totalCount nodes { index label } } }',
      86_400,
    ],
    [
      'its least cacheable field counts',
      `{ feature(index: 3) { label } protein(hash: "${INSULIN}") { hash } }`,
      600,
    ],
    ['what is absent may come soon', `{ protein(hash: "${UNKNOWN}") { hash } }`, 60],
    ['what is absent from a list, too', `{ proteins(hashes: ["${INSULIN}", "${UNKNOWN}"]) { hash } }`, 60],
    ['and from a look-up', `{ lookup(ids: ["P01308", "${UNKNOWN}"]) { status } }`, 60],
    ['and a feature that there cannot be', '{ feature(index: -1) { label } }', 60],
    ['and an entry that there is not', '{ lookup(ids: ["Q99999"]) { status } }', 60],
    ['a look-up that finds everything', '{ lookup(ids: ["P01308"]) { status protein { hash } } }', 600],
    [
      'types are told by fragments, too',
      `{ ...A } fragment A on Query { uniprotEntry(id: "P01308") { name } }`,
      86_400,
    ],
  ])('%s', async (_, query, seconds) => {
    expect(await cacheControl(query)).toBe(`public, max-age=${seconds}`);
  });

  it('is the same for everybody, so a token changes nothing', async () => {
    expect(await cacheControl(QUERY, { authorization: 'Bearer somebody' })).toBe('public, max-age=600');
  });
});

describe('no cache may store', () => {
  it.each([
    ['batches', '{ myBatches(first: 1) { totalCount } }'],
    [
      'batches beside public data',
      `{ myBatches(first: 1) { totalCount } protein(hash: "${INSULIN}") { hash } }`,
    ],
    [
      'batches that a directive leaves out',
      `query($no: Boolean = false) { myBatches(first: 1) @include(if: $no) { totalCount } protein(hash: "${INSULIN}") { hash } }`,
    ],
    ['an object by an id of any kind', `{ node(id: "UHJvdGVpbjo") { id } }`],
    ['what is folded on demand', `{ protein(hash: "${INSULIN}", foldOnMiss: true) { hash } }`],
    ['an error', `{ protein(hash: "nonsense") { hash } }`],
    [
      'an error beside data',
      `{ protein(hash: "${INSULIN}") { hash } uniprotEntry(id: "NP_000198") { name } }`,
    ],
    ['a document that is none', '{ protein('],
    ['introspection', '{ __schema { queryType { name } } }'],
  ])('%s', async (_, query) => {
    expect(await cacheControl(query, { authorization: 'Bearer sandbox' })).toBe('private, no-store');
  });

  it('what a variable has folded, unless it is false', async () => {
    const query = `query($fold: Boolean) { protein(hash: "${INSULIN}", foldOnMiss: $fold) { hash } }`;
    expect(await cacheControl(query, {}, { fold: true })).toBe('private, no-store');
    expect(await cacheControl(query, {}, { fold: false })).toBe('public, max-age=600');
    expect(await cacheControl(query, {}, { fold: null })).toBe('public, max-age=600');
    const folded = (fold: string) =>
      `query($fold: Boolean = ${fold}) { protein(hash: "${INSULIN}", foldOnMiss: $fold) { hash } }`;
    expect(await cacheControl(folded('true'))).toBe('private, no-store');
    for (const fold of ['false', 'null'])
      expect(await cacheControl(folded(fold))).toBe('public, max-age=600');
  });

  it('an answer to POST, or a report', async () => {
    const query = `{ protein(hash: "${INSULIN}") { hash } }`;
    const response = await world.gateway.fetch(
      new Request('http://gateway.test/graphql', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ query }),
      }),
    );
    expect(response.headers.get('cache-control')).toBe('private, no-store');
    expect(await cacheControl(query, { 'x-upstream-report': '1' })).toBe('private, no-store');
  });

  it('what callers have to prove themselves for, but in their own cache', async () => {
    const closed = await openWorld({
      UPSTREAM_API_KEY: 'upstream-key',
      GATEWAY_API_KEYS: 'one-key-of-this-test,other-key-of-this-test',
      CACHE_RECORDS_SECONDS: '600',
    });
    const url = `http://gateway.test/graphql?query=${encodeURIComponent(`{ protein(hash: "${INSULIN}") { hash } }`)}`;
    const response = await closed.gateway.fetch(
      new Request(url, { headers: { authorization: 'Bearer one-key-of-this-test' } }),
    );
    expect(response.headers.get('cache-control')).toBe('private, max-age=600');
    await closed.close();
  });
});

describe('extensions.upstream', () => {
  it('tells calls by operation, bytes, milliseconds and cache hits only to a client that asks', async () => {
    const query =
      '{ proteins(hashes: ["6077c452d1dc6151040b2b179e2294c7", "efebacde779fb9ede77f2039ec6cfe09"]) { sequence } uniprotEntry(id: "P69905") { name } }';
    const first: unknown = await world.query(query, {}, { 'x-upstream-report': '1' });
    expect(at(first, 'extensions.upstream')).toEqual({
      cost: 2,
      calls: 2,
      bytes: expect.any(Number),
      milliseconds: expect.any(Number),
      operations: {
        bulk: { calls: 1, bytes: expect.any(Number), milliseconds: expect.any(Number) },
        uniprot: { calls: 1, bytes: expect.any(Number), milliseconds: expect.any(Number) },
      },
      cacheHits: {},
    });
    expect(Number(at(first, 'extensions.upstream.operations.bulk.bytes'))).toBeGreaterThan(100);
    const again: unknown = await world.query(query, {}, { 'x-upstream-report': '1' });
    expect(at(again, 'extensions.upstream')).toMatchObject({
      calls: 0,
      operations: {},
      cacheHits: { proteins: 2, uniprot: 1 },
    });
    expect(at(await world.query(query), 'extensions')).toBeUndefined();
  });
});
