// @defer and @stream over a real connection: the card of a protein arrives before its similarity
// search. Also their upstream calls, faults in later parts, and clients that get the answer whole.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ApolloClient, gql, HttpLink, InMemoryCache } from '@apollo/client';
import { Defer20220824Handler } from '@apollo/client/incremental';
import { createClient as createUrql, fetchExchange } from '@urql/core';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { readExamples } from '../../src/http/pages/examples.ts';
import { joinParts } from '../oracle/parts.ts';
import { clearFaults, fault, until } from '../subscriptions/support.ts';
import { type Answer, at, listAt, openWorld, type World } from '../support.ts';

const HASH = '12e9c9e4e2835c302e8ba615115edda3';
const NO_STRUCTURE = 'c9e543a832c511b35bd3a77bab923c58';
const CARD = readExamples().find(({ name }) => name === '06-protein-card-deferred')?.query ?? '';
const PARTS = 'multipart/mixed;deferSpec=20220824,application/json';

let world: World;
let server: Server;
let url: string;
beforeAll(async () => {
  world = await openWorld({ MAX_QUERY_COST: '100' }, { control: true });
  server = createServer(world.gateway.listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/graphql`;
});
afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  await world.close();
});
beforeEach(async () => {
  await clearFaults(world.sandboxUrl);
  world.forget();
});

interface Part extends Answer {
  readonly incremental?: readonly {
    readonly data?: unknown;
    readonly items?: unknown;
    readonly path?: unknown;
    readonly label?: string;
    readonly errors?: Answer['errors'];
  }[];
  readonly hasNext?: boolean;
  readonly extensions?: unknown;
}

const send = (query: string, headers: Record<string, string> = {}, signal?: AbortSignal): Promise<Response> =>
  fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: PARTS, ...headers },
    body: JSON.stringify({ query }),
    ...(signal === undefined ? {} : { signal }),
  });

/** The parts of an answer as they come. */
async function* streamParts(response: Response): AsyncGenerator<Part> {
  if (response.body === null) throw new Error('an answer without a body');
  let text = '';
  const decoder = new TextDecoder();
  for await (const chunk of response.body) {
    text += decoder.decode(chunk, { stream: true });
    for (let end = text.indexOf('\r\n---'); end >= 0; end = text.indexOf('\r\n---')) {
      const part = text.slice(0, end);
      text = text.slice(end + 5);
      const json = part.split('\r\n\r\n')[1];
      if (json !== undefined) yield JSON.parse(json) as Part;
    }
  }
  expect(text).toBe('--\r\n');
}

const readParts = async (response: Response): Promise<Part[]> => {
  const parts: Part[] = [];
  for await (const part of streamParts(response)) parts.push(part);
  return parts;
};

describe('a deferred part', () => {
  it('comes after the rest, which does not wait for it', async () => {
    await fault(world.sandboxUrl, { operation: 'similarity', delay_ms: 1500 });
    const response = await send(CARD);
    expect(response.headers.get('content-type')).toBe('multipart/mixed; boundary="-"; deferSpec=20220824');
    expect(response.headers.get('cache-control')).toBe('private, no-store');
    const parts = streamParts(response);
    const first = (await parts.next()).value as Part;
    expect(at(first, 'data.protein.name')).toBe('Insulin');
    expect(at(first, 'data.protein.similar')).toBeUndefined();
    expect(first.hasNext).toBe(true);
    await until('the search to be under way', () => world.counts().similarity === 1);
    const second = (await parts.next()).value as Part;
    expect(second).toMatchObject({ hasNext: false, incremental: [{ path: ['protein'], label: 'similar' }] });
    expect(listAt(second, 'incremental.0.data.similar.hits')).toHaveLength(5);
    expect((await parts.next()).done).toBe(true);
  });

  it('is asked for apart, and costs no call that the whole would not', async () => {
    const parts = await readParts(await send(CARD, { 'x-upstream-report': '1' }));
    const apart = world.counts();
    expect(apart.similarity).toBe(1);
    expect(parts[0]).not.toHaveProperty('extensions');
    expect(at(parts.at(-1), 'extensions.upstream')).toBeDefined();
    world.forget();
    await (await send(CARD, { accept: 'application/json' })).text();
    expect(apart).toEqual(world.counts());
  });

  it('says what it says in one piece, also of what no later call can tell', async () => {
    const search = 'similarProteins(sequence: "GIVEQCCTSICSLYQLENYCN")';
    const whole = await world.query(`{ ${search} { sharedFeatures(first: 3) { occurrences } } }`);
    const features = await readParts(
      await send(`{ ${search} { queryHash ... @defer { sharedFeatures(first: 3) { occurrences } } } }`),
    );
    expect(listAt(whole, 'data.similarProteins.sharedFeatures')).toHaveLength(3);
    expect(at(features[1], 'incremental.0.data')).toEqual(at(whole, 'data.similarProteins'));

    for (const [whole, apart] of [
      ['value regions { start end }', 'value ... @defer { regions { start end } }'],
      ['regions { start end }', '... @defer { regions { start end } }'],
    ])
      for (const features of ['features: featureValues(indices: [11898])', 'features(first: 3)']) {
        const read = (selection: string) => `{ protein(hash: "${HASH}") { ${features} { ${selection} } } }`;
        const wanted = await world.query(read(whole ?? ''));
        expect(listAt(wanted, 'data.protein.features.0.regions').length).toBeGreaterThan(0);
        expect(joinParts(await (await send(read(apart ?? ''))).text())).toEqual(wanted);
      }
    const structures = (selection: string) =>
      `{ proteins(hashes: ["${HASH}", "${NO_STRUCTURE}"]) { structure { ${selection} } } }`;
    const wanted = await world.query(structures('format atomCount'));
    expect(wanted.data).toEqual({ proteins: [{ structure: expect.anything() }, { structure: null }] });
    expect(joinParts(await (await send(structures('format ... @defer { atomCount }'))).text())).toEqual(
      wanted,
    );

    const token = { authorization: 'Bearer sandbox' };
    const items = '[{ chains: [{ protein: { sequence: "GIVEQCCTSICSLYQLENYCN" } }] }]';
    const submitted = await world.query(
      `mutation { submitFold(input: { items: ${items}, repeat: 50 }) { ... on FoldSubmitted { batch { batchId } } } }`,
      {},
      token,
    );
    const batchId = JSON.stringify(at(submitted, 'data.submitFold.batch.batchId'));
    const cancelled = '... on Cancelled @defer { cancelledCount alreadyCancelled }';
    const counts = await readParts(
      await send(`mutation { cancelBatch(batchId: ${batchId}) { __typename ${cancelled} } }`, token),
    );
    expect(counts[1]?.incremental).toEqual([
      {
        path: ['cancelBatch'],
        data: { cancelledCount: expect.any(Number), alreadyCancelled: false },
      },
    ]);
  });

  it('tells its errors masked, with codes, and leaves the rest alone', async () => {
    await fault(world.sandboxUrl, {
      operation: 'similarity',
      status: 503,
      times: 10,
      body: { message: 'restarting' },
    });
    const parts = await readParts(await send(CARD));
    expect(parts[0]).toMatchObject({ data: { protein: { name: 'Insulin' } }, hasNext: true });
    expect(parts[0]).not.toHaveProperty('errors');
    expect(parts[1]?.incremental?.[0]?.errors).toEqual([
      {
        message: 'restarting',
        locations: expect.anything(),
        path: ['protein', 'similar'],
        extensions: { code: 'UPSTREAM_UNAVAILABLE', retryable: true, upstream: expect.anything() },
      },
    ]);
    expect(JSON.stringify(parts[1])).not.toMatch(/127\.0\.0\.1|stack|node_modules/);
  });

  it('is part of what the whole may cost', async () => {
    const dear =
      'similar(first: 100) { hits { protein { cluster { members(first: 100) { nodes { similar { hits { score } } } } } } } }';
    for (const open of ['...', '... @defer']) {
      const query = `{ protein(hash: "${HASH}") { hash ${open} { ${dear} } } }`;
      const answer = (await (await send(query)).json()) as Answer;
      expect(answer.errors?.[0]?.extensions.code).toBe('QUERY_TOO_EXPENSIVE');
    }
    expect(world.calls).toEqual([]);
  });

  it('ends with the client that leaves', async () => {
    await fault(world.sandboxUrl, { operation: 'similarity', delay_ms: 20_000 });
    const leaving = new AbortController();
    const parts = streamParts(await send(CARD, {}, leaving.signal));
    await parts.next();
    await until('the search to be under way', () => world.counts().similarity === 1);
    leaving.abort();
    const underWay = () => {
      const { api, files } = world.gateway.upstream();
      return [api, ...files].some(({ inFlight }) => inFlight > 0);
    };
    await until('the search to be given up', () => !underWay());
  });

  it.each([
    'application/json',
    '*/*',
    'application/graphql-response+json',
    // Other formats of parts, the first as Apollo's GraphQL17Alpha9Handler asks for it.
    'multipart/mixed;incrementalSpec=v0.2,application/graphql-response+json,application/json;q=0.9',
    'multipart/mixed;deferSpec=20230621, */*',
  ])('is not apart for %s', async (accept) => {
    const response = await send(CARD, { accept });
    const answer: unknown = await response.json();
    expect(listAt(answer, 'data.protein.similar.hits')).toHaveLength(5);
    expect(answer).not.toHaveProperty('hasNext');
  });

  it('may name its format with quotes', async () => {
    const accept = 'multipart/mixed; deferSpec="20220824", application/json';
    expect(await readParts(await send(CARD, { accept }))).toHaveLength(2);
  });

  it('is an event for those who accept events', async () => {
    const text = await (await send(CARD, { accept: 'text/event-stream' })).text();
    const events = [...text.matchAll(/^data: (\{.*)$/gm)].map(([, json = '']) => JSON.parse(json) as Part);
    expect(events.map(({ hasNext }) => hasNext)).toEqual([true, false]);
    expect(text).toMatch(/event: complete\ndata:\n\n$/);
  });

  it('may be conditional, below a list, a union, and of an interface', async () => {
    const off: unknown = await (await send(CARD.replace('@defer(label', '@defer(if: false, label'))).json();
    expect(listAt(off, 'data.protein.similar.hits')).toHaveLength(5);
    world.forget();
    const query = `{
      proteins(hashes: ["${HASH}"]) { hash ...Slow @defer }
      lookup(ids: ["${HASH}", "nonsense"]) { requested ... @defer { problem { __typename ... on InvalidInput @defer { message } } } }
    } fragment Slow on Protein { cluster { size } }`;
    const parts = await readParts(await send(query));
    const later = parts.slice(1).flatMap(({ incremental = [] }) => incremental);
    expect(parts.flatMap(({ errors = [] }) => errors)).toEqual([]);
    expect(later.some(({ data }) => Number(at(data, 'cluster.size')) > 0)).toBe(true);
    expect(later.some(({ path }) => JSON.stringify(path) === '["lookup",1,"problem"]')).toBe(true);
  });
});

describe('a list beside a deferred part', () => {
  it('has all its items but the one that fails, each in its place', async () => {
    const ids = Array.from({ length: 40 }, (_, i) => Buffer.from(`Feature:${i}`).toString('base64'));
    ids[3] = 'no id';
    const list = `nodes(ids: ${JSON.stringify(ids)}) { id }`;
    const [whole, parts] = await Promise.all([
      send(`{ ${list} }`, { accept: 'application/json' }).then((response) => response.json()),
      send(`{ ${list} ... @defer { limits { maxItems } } }`).then(readParts),
    ]);
    expect(listAt(parts[0], 'data.nodes')).toEqual(ids.map((id, i) => (i === 3 ? null : { id })));
    expect(parts[0]?.errors).toEqual(whole.errors);
    expect(parts[0]?.errors).toMatchObject([
      { path: ['nodes', 3], extensions: { code: 'BAD_USER_INPUT', retryable: false } },
    ]);
  });

  it('does not end the process when its items fail', async () => {
    const unhandled = vi.fn();
    process.on('unhandledRejection', unhandled);
    await fault(world.sandboxUrl, { operation: 'feature', status: 503, delay_ms: 50, times: 1000 });
    const links = Array.from({ length: 4 }, (_, i) => `n${i}: nearestNeighbors { index }`).join(' ');
    const list = `features(first: 20) { nodes { index ${links} } }`;
    const [first] = await readParts(await send(`{ ${list} ... @defer { limits { maxItems } } }`));
    expect(first?.errors).toHaveLength(80);
    process.off('unhandledRejection', unhandled);
    expect(unhandled).not.toHaveBeenCalled();
  });

  it('is refused as a whole when it could have too many values', async () => {
    const list = 'features(first: 1000) { nodes { topProteins(first: 1000) { accession } } }';
    const response = await send(`{ ${list} ... @defer { limits { maxItems } } }`);
    const { data, errors } = (await response.json()) as Answer;
    expect(data).toBeUndefined();
    expect(errors).toMatchObject([{ extensions: { code: 'QUERY_TOO_EXPENSIVE' } }]);
    expect(world.calls).toEqual([]);
  });
});

describe('a streamed list', () => {
  it('comes item by item', async () => {
    const query = `{ protein(hash: "${HASH}") { similar(first: 3) { hits @stream(initialCount: 1) { score } } } }`;
    const parts = await readParts(await send(query));
    expect(listAt(parts[0], 'data.protein.similar.hits')).toHaveLength(1);
    const items = parts
      .slice(1)
      .flatMap(({ incremental = [] }) => incremental.flatMap(({ items: more }) => more));
    expect(items).toHaveLength(2);
  });
});

describe('clients', () => {
  it('Apollo Client shows the card first and adds the search', async () => {
    await fault(world.sandboxUrl, { operation: 'similarity', delay_ms: 400 });
    const client = new ApolloClient({
      link: new HttpLink({ uri: url }),
      cache: new InMemoryCache(),
      incrementalHandler: new Defer20220824Handler(),
    });
    const seen: string[] = [];
    await new Promise<void>((resolve, reject) => {
      client.watchQuery({ query: gql(CARD), notifyOnNetworkStatusChange: false }).subscribe({
        next({ data, error }) {
          if (error !== undefined) return reject(error);
          if (at(data, 'protein.name') === undefined) return;
          seen.push(at(data, 'protein.similar') === undefined ? 'card' : 'search');
          if (seen.includes('search')) resolve();
        },
        error: reject,
      });
    });
    client.stop();
    expect([seen[0], seen.at(-1)]).toEqual(['card', 'search']);
  });

  it('urql does too', async () => {
    await fault(world.sandboxUrl, { operation: 'similarity', delay_ms: 400 });
    const client = createUrql({ url, exchanges: [fetchExchange], preferGetMethod: false });
    const seen: string[] = [];
    await new Promise<void>((resolve, reject) => {
      client.query(CARD, {}).subscribe(({ data, error, hasNext }) => {
        if (error !== undefined) return reject(error);
        seen.push(at(data, 'protein.similar') === undefined ? 'card' : 'search');
        if (hasNext !== true) resolve();
      });
    });
    expect(seen).toEqual(['card', 'search']);
  });
});
