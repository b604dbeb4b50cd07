// Apollo Client 4 as examples/clients/apollo.ts sets it up: cache keys, short queries by GET with
// automatic persisted queries, @defer, subscriptions, and errors as its error classes.
import { CombinedGraphQLErrors, gql, InMemoryCache } from '@apollo/client';
import { isObjectType } from 'graphql';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import WebSocket from 'ws';
import {
  createFoldAtlasClient,
  type FoldAtlasOptions,
  typePolicies,
} from '../../../examples/clients/apollo.ts';
import { readExamples } from '../../../src/http/pages/examples.ts';
import { schema } from '../../../src/resolvers/schema.ts';
import { at } from '../../support.ts';
import { FOLD, INSULIN, openPlace, type Place, SUBMIT, TOKEN, WATCH } from './place.ts';

let place: Place;
beforeAll(async () => {
  place = await openPlace();
});
afterAll(() => place.close());
beforeEach(() => {
  place.world.forget();
  place.requests.length = 0;
});

const open = (options: Partial<FoldAtlasOptions> = {}) =>
  createFoldAtlasClient({ url: place.url, webSocketImpl: WebSocket, ...options });
const overHttp = (headers: Record<string, string> = TOKEN) => open({ headers });

/** A value of every key that an entity may have. */
const KEYS_OF_ALL = {
  ...{ hash: INSULIN, representativeHash: INSULIN, index: 1, accession: 'P01308' },
  ...{ batchId: 'b', taskId: 't', lookupId: 'l' },
};

describe('Apollo Client', () => {
  it('keeps every object under its key: what a list brought is not asked again', async () => {
    const client = overHttp();
    const list = await client.query({
      query: gql`query ($hashes: [ProteinHash!]!) { proteins(hashes: $hashes) { hash name length } }`,
      variables: { hashes: [INSULIN, '0'.repeat(32), INSULIN] },
    });
    expect(at(list.data, 'proteins.0.name')).toBe('Insulin');
    expect(at(list.data, 'proteins.1')).toBeNull();
    expect(Object.keys(client.cache.extract() as object)).toContain(`Protein:{"hash":"${INSULIN}"}`);
    expect(place.world.counts()).toEqual({ protein: 2 });
    const one = await client.query({
      query: gql`query ($hash: ProteinHash!) { protein(hash: $hash) { hash name } }`,
      variables: { hash: INSULIN },
    });
    expect(at(one.data, 'protein.name')).toBe('Insulin');
    expect(place.requests).toHaveLength(1);
    client.stop();
  });

  it('asks once for a protein that is not there, and always has a structure predicted on request', async () => {
    const client = overHttp();
    const read = async (hash: string, argument = '') => {
      const query = gql`{ protein(hash: "${hash}"${argument}) { hash length } }`;
      return (await client.query({ query })).data;
    };
    for (let i = 0; i < 2; i += 1) expect(await read('0'.repeat(32))).toEqual({ protein: null });
    expect(place.requests).toHaveLength(1);
    expect(at(await read(INSULIN), 'protein.length')).toBe(110);
    expect(at(await read(INSULIN), 'protein.length')).toBe(110);
    expect(place.requests).toHaveLength(2);
    expect(at(await read(INSULIN, ', foldOnMiss: true'), 'protein.length')).toBe(110);
    expect(place.requests).toHaveLength(3);
    client.stop();
  });

  it('keeps what one query has read of a part when another reads more of it', async () => {
    const client = overHttp();
    for (const fields of ['mean', 'length', 'mean length'])
      await client.query({ query: gql`{ protein(hash: "${INSULIN}") { hash plddt { ${fields} } } }` });
    expect(place.requests).toHaveLength(2);
    client.stop();
  });

  it('has keys for every type that the schema knows by one', () => {
    const sdl = Object.values(schema.getTypeMap()).filter(
      (type) => isObjectType(type) && type.getInterfaces().some(({ name }) => name === 'Node'),
    );
    expect(sdl.length).toBeGreaterThan(4);
    for (const { name } of sdl) expect(Object.keys(typePolicies)).toContain(name);
    for (const [name, policy] of Object.entries(typePolicies)) {
      const type = schema.getType(name);
      if (!isObjectType(type)) throw new Error(`${name} is no type`);
      if (policy.keyFields === undefined) continue;
      const id = new InMemoryCache({ typePolicies }).identify({ __typename: name, ...KEYS_OF_ALL });
      const [, key = ''] = /^\w+:\{"(\w+)":/.exec(id ?? '') ?? [];
      expect(String(type.getFields()[key]?.type), name).toMatch(/!$/);
    }
  });

  it('tells the endings of a mutation by their type, and a batch by its key', async () => {
    const client = overHttp();
    const good = await client.mutate({ mutation: gql(SUBMIT), variables: FOLD });
    expect(at(good.data, 'submitFold.__typename')).toBe('FoldSubmitted');
    const batchId = String(at(good.data, 'submitFold.batch.batchId'));
    expect(Object.keys(client.cache.extract() as object)).toContain(`Batch:{"batchId":"${batchId}"}`);
    const bad = await client.mutate({
      mutation: gql(SUBMIT),
      variables: { input: { items: [{ chains: [{ protein: { sequence: 'GIVEQ1' } }] }] } },
    });
    expect(bad.error).toBeUndefined();
    expect(at(bad.data, 'submitFold.issues.0.path')).toBe('items.0.chains.0.protein.sequence');
    expect(place.world.counts()).toEqual({ submit: 1 });
    client.stop();
  });

  it('shows the card before its similarity search', async () => {
    const card = readExamples().find(({ name }) => name === '06-protein-card-deferred')?.query ?? '';
    const client = overHttp();
    const seen: boolean[] = [];
    await new Promise<void>((resolve, reject) => {
      client.watchQuery({ query: gql(card), notifyOnNetworkStatusChange: false }).subscribe({
        next({ data, dataState, error }) {
          if (error !== undefined) return reject(error);
          if (at(data, 'protein.name') !== undefined) seen.push(at(data, 'protein.similar') !== undefined);
          if (dataState === 'complete') resolve();
        },
        error: reject,
      });
    });
    expect([seen[0], seen.at(-1)]).toEqual([false, true]);
    expect(place.world.counts().similarity).toBe(1);
    client.stop();
  });

  it('reads by GET with the hash of a query alone, once the gateway knows it', async () => {
    const client = open({ persistedQueries: true });
    const query = gql`query NamesOf($index: Int!) { feature(index: $index) { index label } }`;
    for (const index of [7, 8]) {
      const { data } = await client.query({ query, variables: { index } });
      expect(at(data, 'feature.index')).toBe(index);
    }
    // Asked by hash, registered with its text, asked by hash.
    expect(place.requests.map(({ method }) => method)).toEqual(['GET', 'POST', 'GET']);
    expect(place.requests.at(-1)?.url).not.toMatch(/[?&]query=/);
    client.stop();
  });

  it('needs no WebSocket before the first subscription, and says then what is missing', async () => {
    vi.stubGlobal('WebSocket', undefined);
    try {
      const client = createFoldAtlasClient({ url: place.url, headers: TOKEN });
      const { data } = await client.query({ query: gql`{ limits { maxItems } }` });
      expect(at(data, 'limits.maxItems')).toBe(2000);
      const watched = await new Promise<unknown>((resolve, reject) => {
        client.subscribe({ query: gql(WATCH), variables: { id: 'x' } }).subscribe({
          next: ({ error }) => resolve(error),
          error: resolve,
          complete: () => reject(new Error('It completed.')),
        });
      });
      expect(String(watched)).toMatch(/WebSocket implementation missing/);
      client.stop();
    } finally {
      vi.unstubAllGlobals();
    }
  });

  it('watches a batch to its last event', async () => {
    const submitted = await overHttp().mutate({ mutation: gql(SUBMIT), variables: FOLD });
    const id = String(at(submitted.data, 'submitFold.batch.batchId'));
    const client = overHttp();
    const events: unknown[] = [];
    await new Promise<void>((resolve, reject) => {
      // A stream that stands still says how far it came.
      setTimeout(() => reject(new Error(`no end after ${JSON.stringify(events)}`)), 100_000).unref();
      client.subscribe({ query: gql(WATCH), variables: { id } }).subscribe({
        next: ({ data, error }) => (error === undefined ? events.push(data) : reject(error)),
        error: reject,
        complete: resolve,
      });
    });
    expect(at(events.at(-1), 'batchProgress')).toMatchObject({ final: true, batch: { counts: { done: 1 } } });
    // Each event wrote the batch into the cache, where every component that shows it sees it.
    expect(client.cache.extract()).toMatchObject({ [`Batch:{"batchId":"${id}"}`]: { counts: { done: 1 } } });
    client.stop();
  });

  it('gives the codes of errors, of the whole answer and of a part of it', async () => {
    const client = overHttp({});
    const refusedAs = async (query: string, headers: Record<string, string> = {}): Promise<unknown> => {
      const { data, error } = await client.query({
        query: gql(query),
        errorPolicy: 'all',
        context: { headers },
        fetchPolicy: 'no-cache',
      });
      if (!CombinedGraphQLErrors.is(error)) throw error ?? new Error('no error');
      return { data, codes: error.errors.map(({ extensions }) => extensions?.code) };
    };
    const id = '00000000-0000-4000-8000-000000000000';
    expect(await refusedAs('{ nothing }')).toMatchObject({ codes: ['BAD_USER_INPUT'] });
    expect(
      await refusedAs(`{ feature(index: 3) { index } batch(batchId: "${id}") { batchId } }`),
    ).toMatchObject({ data: { feature: { index: 3 }, batch: null }, codes: ['UNAUTHENTICATED'] });
    client.stop();
  });
});
