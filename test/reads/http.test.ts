// The headers of every answer, and the settings of the pages.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openWorld, type World } from '../support.ts';

let world: World;
let closed: World;
beforeAll(async () => {
  world = await openWorld();
  const env = { NODE_ENV: 'production', MAX_BODY_BYTES: '2048', MAX_QUERY_COST: '10' };
  closed = await openWorld(env, {}, undefined, { queryDepth: 7 });
});
afterAll(async () => {
  await world.close();
  await closed.close();
});

const post = (to: World, body: string, headers: Record<string, string> = {}) =>
  to.gateway.fetch(
    new Request('http://gateway.test/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body,
    }),
  );

describe('answers', () => {
  it('carry the request id that was sent, or a new one, and name the sandbox', async () => {
    const body = JSON.stringify({ query: '{ limits { maxItems } }' });
    const sent = await post(world, body, { 'x-request-id': 'from-the-client' });
    expect(sent.headers.get('x-request-id')).toBe('from-the-client');
    const made = await post(world, body, { 'x-request-id': 'bad id\t' });
    expect(made.headers.get('x-request-id')).toMatch(/^[\da-f]{32}$/);
    expect(made.headers.get('traceresponse')).toContain(made.headers.get('x-request-id'));
    expect(made.headers.get('x-sandbox')).toBe('1');
    expect(made.headers.get('x-content-type-options')).toBe('nosniff');
  });

  it('carry no request id that is a token or a sequence: it would stand in the log and go to the service', async () => {
    const token = 'sk-live-0123456789abcdef';
    const body = JSON.stringify({ query: `{ feature(index: 1) { index } }` });
    for (const id of [
      token,
      token.slice(3),
      'eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhbm4ifQ.c2lnbmF0dXJl',
      'MKTAYIAKQRQISFVKSHFSRQLEERLGLIEVQ',
    ]) {
      const answer = await post(world, body, { 'x-request-id': id, authorization: `Bearer ${token}` });
      expect(answer.headers.get('x-request-id'), id).toMatch(/^[\da-f]{32}$/);
    }
    for (const id of ['01ARZ3NDEKTSV4RRFFQ69G5FAV', '1-67891233-abcdef012345678912345678'])
      expect((await post(world, body, { 'x-request-id': id })).headers.get('x-request-id')).toBe(id);
  });

  it('give wrong documents the code of wrong input', async () => {
    for (const query of [
      '{ nonsense }',
      '{ limits {',
      'query($h: ProteinHash!) { protein(hash: $h) { hash } }',
    ]) {
      const { errors } = await world.query(query);
      expect(errors?.[0]?.extensions.code, query).toBe('BAD_USER_INPUT');
    }
  });
});

describe('the bare address', () => {
  it('tells a shell in a few lines where to ask, with a command that works', async () => {
    for (const gateway of [world.gateway, closed.gateway]) {
      const told = await gateway.fetch(new Request('http://gateway.test/'));
      expect([told.status, told.headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8']);
      expect(await told.text()).toContain('curl -s http://gateway.test/graphql');
    }
  });
});

describe('production', () => {
  it('closes introspection and GraphiQL', async () => {
    const { errors } = await closed.query('{ __schema { types { name } } }');
    expect(errors?.[0]?.message).toMatch(/introspection/i);
    expect((await world.query('{ __schema { queryType { name } } }')).errors).toBeUndefined();
    const page = await closed.gateway.fetch(
      new Request('http://gateway.test/graphql', { headers: { accept: 'text/html' } }),
    );
    expect(await page.text()).not.toContain('<html');
  });

  it('refuses bodies, depths and costs over the limits before anything is sent upstream', async () => {
    closed.forget();
    expect(
      (await post(closed, JSON.stringify({ query: `{ limits { maxItems } } #${'x'.repeat(3000)}` }))).status,
    ).toBe(413);
    const deep = await closed.query(
      '{ uniprotEntry(id: "P01308") { protein { cluster { representative { cluster { representative { cluster { size } } } } } } } }',
    );
    expect(deep.errors?.[0]).toMatchObject({ extensions: { code: 'QUERY_TOO_EXPENSIVE' } });
    const costly = await closed.query(
      '{ uniprotEntry(id: "P01308") { protein { similar { hits { protein { similar { queryHash } } } } } } }',
    );
    expect(costly.errors?.[0]?.message).toMatch(/upstream calls; 10 are allowed/);
    expect(closed.calls).toEqual([]);
  });
});
