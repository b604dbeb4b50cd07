// Persisted operations over HTTP, Server-Sent Events and WebSocket: listed ones by their id,
// registered ones by their hash (APQ), and no other documents with PERSISTED_OPERATIONS=only.
// Apollo's own link is one of the clients.

import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ApolloClient, gql, HttpLink, InMemoryCache } from '@apollo/client';
import { PersistedQueryLink } from '@apollo/client/link/persisted-queries';
import { createClient } from 'graphql-ws';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import WebSocket from 'ws';
import { readManifest } from '../../src/config/operation-manifest.ts';
import { ConfigError, readConfig } from '../../src/config.ts';
import { DOCUMENTS } from '../../src/http/mcp/tools.ts';
import { readExamples } from '../../src/http/pages/examples.ts';
import { attachWebSocket, type SocketServer } from '../../src/http/websocket/server.ts';
import { type Answer, at, openWorld, type World } from '../support.ts';

const FILE = new URL('../../operations/persisted-operations.json', import.meta.url).pathname;
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
const readExample = (name: string): string => {
  const found = readExamples().find((example) => example.name.endsWith(name));
  if (found === undefined) throw new Error(`no example ${name}`);
  return found.query;
};
const CARD = readExample('04-protein-card');
const FOLLOW = readExample('20-watch-progress');
const UNLISTED = '{ limits { maxItems } }';
const byHash = (text: string) => ({ persistedQuery: { version: 1, sha256Hash: sha256(text) } });

/** A gateway on a port, with its own setting of PERSISTED_OPERATIONS. */
interface Place {
  readonly world: World;
  readonly url: string;
  ask(body: object, accept?: string): Promise<{ status: number; answer: Answer }>;
  close(): Promise<void>;
}

async function open(env: Record<string, string>): Promise<Place> {
  const world = await openWorld(env);
  const server: Server = createServer(world.gateway.listener);
  const sockets: SocketServer = attachWebSocket(server, world.gateway, {
    origins: [],
    maxBytes: 1_000_000,
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/graphql`;
  return {
    world,
    url,
    async ask(body, accept = 'application/json') {
      const headers = { 'content-type': 'application/json', accept };
      const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
      return { status: response.status, answer: (await response.json()) as Answer };
    },
    async close() {
      await sockets.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await world.close();
    },
  };
}

let allow: Place;
let only: Place;
beforeAll(async () => {
  allow = await open({ PERSISTED_OPERATIONS: 'allow', PERSISTED_OPERATIONS_FILE: FILE });
  only = await open({ PERSISTED_OPERATIONS: 'only', PERSISTED_OPERATIONS_FILE: FILE });
});
afterAll(async () => {
  await allow.close();
  await only.close();
});

const over = async (place: Place, payload: Record<string, unknown>): Promise<unknown> => {
  const client = createClient({
    url: place.url.replace(/^http/, 'ws'),
    webSocketImpl: WebSocket,
    retryAttempts: 0,
  });
  try {
    return (await client.iterate({ query: '', ...payload }).next()).value;
  } catch (errors) {
    return { errors };
  } finally {
    await client.dispose();
  }
};

describe('listed operations', () => {
  it.each<[string, object]>([
    ['documentId', { documentId: sha256(CARD) }],
    ['documentId with its algorithm', { documentId: `sha256:${sha256(CARD)}` }],
    ['doc_id', { doc_id: sha256(CARD) }],
    ['documentId before doc_id', { documentId: sha256(CARD), doc_id: sha256('x') }],
    ["Apollo's extension", { extensions: byHash(CARD) }],
    ["Apollo's extension with the text", { query: CARD, extensions: byHash(CARD) }],
    ['their own text', { query: CARD }],
  ])('run by %s, beside others and alone', async (_, body) => {
    for (const place of [allow, only]) {
      const { status, answer } = await place.ask(body);
      expect([status, answer.errors]).toEqual([200, undefined]);
      expect(at(answer, 'data.protein.hash')).toBe('12e9c9e4e2835c302e8ba615115edda3');
    }
  });

  it('run by GET with variables, and over WebSocket by id', async () => {
    const search = new URLSearchParams({
      documentId: sha256(CARD),
      variables: '{"hash":"00000000000000000000000000000000"}',
    });
    const got = await fetch(`${only.url}?${search}`);
    expect(await got.json()).toEqual({ data: { protein: null } });
    for (const payload of [{ documentId: sha256(CARD) }, { extensions: byHash(CARD) }, { query: CARD }])
      expect(at(await over(only, payload), 'data.protein.name')).toBe('Insulin');
  });

  it('are told from others in words, and in the code of their protocol over every transport', async () => {
    const unlisted = {
      message: expect.stringMatching(/^No persisted operation has this id/),
      extensions: { code: 'PERSISTED_DOCUMENT_NOT_FOUND', retryable: false },
    };
    for (const place of [allow, only])
      for (const id of [
        { documentId: sha256('x') },
        { documentId: `sha256:${sha256('x')}` },
        { doc_id: '7' },
      ]) {
        for (const accept of ['application/json', 'application/graphql-response+json'])
          expect(await place.ask(id, accept)).toMatchObject({ status: 400, answer: { errors: [unlisted] } });
        const got = await fetch(`${place.url}?${new URLSearchParams({ ...id })}`);
        expect([got.status, got.headers.get('cache-control')]).toEqual([400, 'private, no-store']);
        expect(await got.json()).toMatchObject({ errors: [unlisted] });
        expect(await over(place, id)).toMatchObject({ errors: [unlisted] });
      }
    expect(await allow.ask({})).toMatchObject({
      status: 400,
      answer: { errors: [{ extensions: { code: 'BAD_USER_INPUT' } }] },
    });
  });
});

describe('where nothing else runs', () => {
  it.each<[string, Record<string, unknown>]>([
    ['another text', { query: UNLISTED }],
    ['a listed text with one more space', { query: `${CARD} ` }],
    ['another text under a listed hash', { query: UNLISTED, extensions: byHash(CARD) }],
    ['another text under its own hash', { query: UNLISTED, extensions: byHash(UNLISTED) }],
    ['introspection', { query: '{ __schema { description } }' }],
    ['a mutation', { query: 'mutation { cancelBatch(batchId: "x") { __typename } }' }],
    ['a hash that nobody listed', { extensions: byHash(UNLISTED) }],
    ['an id that nobody listed', { documentId: 'x' }],
  ])('%s is refused over HTTP, Server-Sent Events and WebSocket, and never registered', async (_, body) => {
    only.world.forget();
    for (let time = 1; time <= 2; time += 1) {
      const { answer } = await only.ask(body);
      expect(answer.errors).toHaveLength(1);
      expect(answer).not.toHaveProperty('data');
    }
    const stream = await fetch(only.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
      body: JSON.stringify(body),
    });
    const text = await stream.text();
    expect(text).toContain('"errors"');
    expect(text).not.toContain('"data":');
    const socket = JSON.stringify(await over(only, body));
    expect(socket).toMatch(/errors/);
    expect(socket).not.toMatch(/"data"|"http"|"status"/);
    expect(only.world.calls).toEqual([]);
  });

  it('says so with FORBIDDEN and 403', async () => {
    expect(await only.ask({ query: UNLISTED })).toMatchObject({
      status: 403,
      answer: { errors: [{ extensions: { code: 'FORBIDDEN', retryable: false } }] },
    });
  });

  it('listed subscriptions open', async () => {
    const search = new URLSearchParams({
      documentId: sha256(FOLLOW),
      variables: JSON.stringify({ batchId: 'nobody' }),
    });
    const headers = { accept: 'text/event-stream', authorization: 'Bearer sandbox' };
    const events = await fetch(`${only.url}?${search}`, { headers });
    expect(await events.text()).toMatch(/There is no batch/);
  });
});

describe('automatic persisted queries', () => {
  it('are asked for, registered with their text, and then run by POST and GET', async () => {
    const text = '{ limits { maxItems } } # one';
    const missed = {
      message: 'PersistedQueryNotFound',
      extensions: { code: 'PERSISTED_QUERY_NOT_FOUND', retryable: false },
    };
    for (const [accept, status] of [
      ['application/json', 200],
      ['application/graphql-response+json', 400],
    ] as const)
      expect(await allow.ask({ extensions: byHash(text) }, accept)).toMatchObject({
        status,
        answer: { errors: [missed] },
      });
    const search = new URLSearchParams({ extensions: JSON.stringify(byHash(text)) });
    for (const [accept, status] of [
      ['application/json', 200],
      ['application/graphql-response+json', 400],
    ] as const) {
      const response = await fetch(`${allow.url}?${search}`, { headers: { accept } });
      expect([response.status, response.headers.get('cache-control')]).toEqual([status, 'private, no-store']);
      expect(await response.json()).toMatchObject({ errors: [missed] });
    }
    expect(await over(allow, { extensions: byHash(text) })).toMatchObject({ errors: [missed] });
    expect(await only.ask({ extensions: byHash(text) })).toMatchObject({ answer: { errors: [missed] } });
    expect(await allow.ask({ query: '{ __typename }', extensions: byHash(text) })).toMatchObject({
      status: 400,
      answer: { errors: [{ message: 'PersistedQueryMismatch' }] },
    });
    for (const persistedQuery of [{ version: 2, sha256Hash: 'ab' }, { version: 1, sha256Hash: 5 }, 'ab'])
      expect(await allow.ask({ extensions: { persistedQuery } })).toMatchObject({
        status: 400,
        answer: { errors: [{ extensions: { code: 'BAD_USER_INPUT' } }] },
      });
    expect((await allow.ask({ extensions: byHash(text) })).answer.errors).toHaveLength(1);
    expect((await allow.ask({ query: text, extensions: byHash(text) })).answer.errors).toBeUndefined();
    expect((await allow.ask({ extensions: byHash(text) })).answer).toEqual({
      data: { limits: { maxItems: 2000 } },
    });
    const got = await fetch(`${allow.url}?extensions=${encodeURIComponent(JSON.stringify(byHash(text)))}`);
    expect(await got.json()).toEqual({ data: { limits: { maxItems: 2000 } } });
    expect(
      await allow.ask({ extensions: { persistedQuery: { version: 2, sha256Hash: 'x' } } }),
    ).toMatchObject({ status: 400 });
  });

  it("serve Apollo Client's own link, by GET too", async () => {
    const sent: string[] = [];
    const link = new PersistedQueryLink({ sha256, useGETForHashedQueries: true }).concat(
      new HttpLink({
        uri: allow.url,
        fetch: async (input, init) => {
          const response = await fetch(input, init);
          sent.push(
            `${init?.method} ${response.status} ${String(input).includes('query=') || String(init?.body ?? '').includes('"query"') ? 'text' : 'hash'}`,
          );
          return response;
        },
      }),
    );
    const client = new ApolloClient({ link, cache: new InMemoryCache() });
    const query = gql('query Limits { limits { maxItems } }');
    for (let time = 1; time <= 2; time += 1) {
      const { data } = await client.query({ query, fetchPolicy: 'network-only' });
      expect(at(data, 'limits.maxItems')).toBe(2000);
    }
    client.stop();
    expect(sent).toEqual(['GET 400 hash', 'POST 200 text', 'GET 200 hash']);
  });

  it('keep a bounded number of characters, and none that is longer than may run', async () => {
    const run = async (body: object) => (await allow.ask(body)).answer.errors?.[0]?.message;
    const isKept = async (text: string) => (await run({ extensions: byHash(text) })) === undefined;
    const texts = Array.from({ length: 50 }, (_, i) => `{ __typename } #${i}${'x'.repeat(90_000)}`);
    for (const query of texts) expect(await run({ query, extensions: byHash(query) })).toBeUndefined();
    const kept = await Promise.all(texts.map(isKept));
    expect(kept.filter(Boolean).length).toBeGreaterThan(30);
    expect(kept.filter(Boolean).length).toBeLessThan(45);
    const long = `{ __typename } #${'x'.repeat(101_000)}`;
    expect(await run({ query: long, extensions: byHash(long) })).toMatch(/characters/);
    expect(await isKept(long)).toBe(false);
  });
});

describe('the list', () => {
  it('has the examples and the tools for agents as they are', () => {
    const listed = readManifest(readFileSync(FILE, 'utf8'));
    const documents = [...readExamples().map(({ query }) => query), ...DOCUMENTS];
    const expected = new Map(documents.map((query) => [sha256(query), query]));
    expect(listed, 'run "npm run operations" and commit the file').toEqual({ operations: expected });
  });

  it("may be Apollo's manifest or a map, and says what is wrong with it", () => {
    const entry = { id: 'a1', body: '{ a }', name: 'A', type: 'query' };
    const apollo = { format: 'apollo-persisted-query-manifest', version: 1, operations: [entry] };
    expect(readManifest(JSON.stringify(apollo))).toEqual({ operations: new Map([['a1', '{ a }']]) });
    expect(readManifest('{"a1":"{ a }"}')).toEqual({ operations: new Map([['a1', '{ a }']]) });
    for (const text of [
      '',
      '[]',
      'null',
      '{"a":1}',
      '{"format":"other"}',
      JSON.stringify({ ...apollo, version: 2 }),
      JSON.stringify({ ...apollo, operations: [{ id: 'x' }] }),
    ])
      expect(readManifest(text), text).toHaveProperty('problem');
  });

  it('is asked for and read before anything starts', () => {
    const folder = mkdtempSync(join(tmpdir(), 'operations-'));
    const broken = join(folder, 'broken.json');
    writeFileSync(broken, '{');
    const problem = (env: Record<string, string>): string => {
      try {
        readConfig({ PERSISTED_OPERATIONS: 'only', ...env });
        return '';
      } catch (error) {
        return error instanceof ConfigError ? error.message : String(error);
      }
    };
    expect(problem({})).toMatch(/PERSISTED_OPERATIONS_FILE: name the list/);
    expect(problem({ PERSISTED_OPERATIONS_FILE: join(folder, 'none.json') })).toMatch(/cannot be read/);
    expect(problem({ PERSISTED_OPERATIONS_FILE: broken })).toMatch(/is not valid JSON/);
    expect(problem({ PERSISTED_OPERATIONS_FILE: FILE })).toBe('');
    rmSync(folder, { recursive: true });
  });
});
