// POST /mcp as HTTP: it has the authentication, limits, rates, CORS rules and log of /graphql, and
// no sessions.

import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readConfig } from '../../src/config.ts';
import { DOCUMENTS } from '../../src/http/mcp/tools.ts';
import { at, openWorld, type World } from '../support.ts';
import { connect, resultText } from './client.ts';

const INSULIN = '12e9c9e4e2835c302e8ba615115edda3';
const HEADERS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
const LENGTH = `{ protein(hash: "${INSULIN}") { length } }`;
const message = (method: string, params: object = {}) => ({ jsonrpc: '2.0', id: 1, method, params });
const graphqlCall = (query: string) => message('tools/call', { name: 'graphql', arguments: { query } });

const lines: Record<string, unknown>[] = [];
let world: World;
beforeAll(async () => {
  world = await openWorld({ CORS_ORIGINS: 'https://lab.test' }, {}, (line) => lines.push(JSON.parse(line)));
});
afterAll(() => world.close());

const send = (
  body: unknown,
  headers: Record<string, string> = {},
  { gateway }: Pick<World, 'gateway'> = world,
  origin = 'http://gateway.test',
) =>
  gateway.fetch(
    new Request(`${origin}/mcp`, {
      method: 'POST',
      headers: { ...HEADERS, ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    }),
  );

describe('the endpoint', () => {
  it('speaks the protocols of 2025 and of 2026', async () => {
    for (const mode of ['auto', 'legacy'] as const) {
      const agent = await connect(world, {}, mode);
      expect(agent.client.getNegotiatedProtocolVersion()).toMatch(mode === 'auto' ? /^2026/ : /^2025/);
      expect(resultText(await agent.call('graphql', { query: LENGTH }))).toContain('110');
      await agent.close();
    }
  });

  it('has no sessions: a call needs no initialization, so replicas need not share any', async () => {
    const response = await send(graphqlCall(LENGTH));
    expect(response.status).toBe(200);
    expect(response.headers.get('mcp-session-id')).toBeNull();
    expect(await response.text()).toContain('110');
  });

  it.each([
    ['GET', 405],
    ['DELETE', 405],
  ])('answers %s with %i', async (method, status) => {
    const response = await world.gateway.fetch(new Request('http://gateway.test/mcp', { method }));
    expect([response.status, response.headers.get('allow')]).toEqual([status, 'POST, OPTIONS']);
  });

  it.each([
    ['JSON that is none', '{', {}, 400, /not valid JSON/],
    ['a batch', [graphqlCall(LENGTH)], {}, 400, /by itself/],
    ['another type', graphqlCall(LENGTH), { 'content-type': 'text/plain' }, 415, /application\/json/],
    ['a large body', graphqlCall(`#${'x'.repeat(1024 * 1024)}`), {}, 413, /1048576 bytes/],
  ])('refuses %s', async (_, body, headers, status, text) => {
    world.forget();
    const response = await send(body, headers);
    expect(response.status).toBe(status);
    expect(await response.text()).toMatch(text);
    expect(world.calls).toEqual([]);
  });

  it('repeats no long header, and leaves the connection to the listener', async () => {
    const refused = await send(graphqlCall(LENGTH), { 'mcp-protocol-version': '9'.repeat(12_000) });
    expect(refused.status).toBe(400);
    expect((await refused.text()).length).toBeLessThan(1_000);
    expect(refused.headers.get('connection')).toBeNull();
    expect((await send(graphqlCall(LENGTH))).headers.get('connection')).toBeNull();
  });

  it('opens no streams that stay', async () => {
    const agent = await connect(world);
    await expect(agent.client.listen({ toolsListChanged: true })).rejects.toThrow(/limit/i);
    await agent.close();
  });
});

describe('pages of browsers', () => {
  it('may call it where CORS_ORIGINS lists them, and no others', async () => {
    world.forget();
    // The site of the last page has pointed its own name to this machine.
    const foreign = ['https://evil.test', 'null', 'http://gateway.test.evil.test', 'http://gateway.test'];
    for (const origin of foreign) expect((await send(graphqlCall(LENGTH), { origin })).status).toBe(403);
    expect(world.calls).toEqual([]);
    const listed = await send(graphqlCall(LENGTH), { origin: 'https://lab.test' });
    expect(listed.headers.get('access-control-allow-origin')).toBe('https://lab.test');
    expect(await listed.text()).toContain('110');
    const local = 'http://127.0.0.1:4000';
    expect(await (await send(graphqlCall(LENGTH), { origin: local }, world, local)).text()).toContain('110');
    const place = await openWorld({ PUBLIC_URL: 'https://atlas.test/api' });
    const own = await send(graphqlCall(LENGTH), { origin: 'https://atlas.test' }, place);
    expect(await own.text()).toContain('110');
    await place.close();
    const preflight = await world.gateway.fetch(
      new Request('http://gateway.test/mcp', {
        method: 'OPTIONS',
        headers: {
          origin: 'https://lab.test',
          'access-control-request-method': 'POST',
          'access-control-request-headers': 'content-type, mcp-protocol-version',
        },
      }),
    );
    expect(preflight.headers.get('access-control-allow-headers')).toContain('mcp-protocol-version');
  });
});

describe('a call of a tool', () => {
  it('is one request in the log, with its document beside it under the same id', async () => {
    lines.length = 0;
    const response = await send(graphqlCall(`query Mine ${LENGTH}`), {
      authorization: 'Bearer key-of-a-log',
    });
    await response.text();
    const requestId = response.headers.get('x-request-id');
    const own = lines.filter((line) => line.message === 'request' && line.requestId === requestId);
    expect(own.map(({ route }) => route).sort()).toEqual(['/graphql', '/mcp']);
    expect(own.find(({ route }) => route === '/graphql')).toMatchObject({
      ...{ operation: 'query', name: 'Mine', upstreamCalls: 1, principal: expect.any(String) },
      traceId: own.find(({ route }) => route === '/mcp')?.traceId,
    });
    expect(JSON.stringify(lines)).not.toContain('key-of-a-log');
  });

  it('counts once against the rate limit of its caller, and is refused beyond it', async () => {
    const place = await openWorld({ RATE_LIMIT_PER_MINUTE: '3' });
    const authorization = 'Bearer key-of-a-rate';
    const left: (string | null)[] = [];
    for (let i = 0; i < 3; i++) {
      const response = await send(graphqlCall(LENGTH), { authorization }, place);
      expect(await response.text()).toContain('110');
      left.push(response.headers.get('ratelimit-remaining'));
    }
    expect(left).toEqual(['2', '1', '0']);
    const refused = await send(graphqlCall(LENGTH), { authorization }, place);
    expect(refused.status).toBe(429);
    expect(await refused.text()).toMatch(/minute/);
    await place.close();
  });

  it('needs a key where GraphQL needs one', async () => {
    const place = await openWorld({
      UPSTREAM_API_KEY: 'key-of-the-gateway',
      GATEWAY_API_KEYS: 'lab a-key-of-the-lab-1',
    });
    place.forget();
    for (const authorization of ['', 'Bearer another-key-than-it'])
      expect((await send(graphqlCall(LENGTH), { authorization }, place)).status).toBe(401);
    expect(place.calls).toEqual([]);
    const response = await send(graphqlCall(LENGTH), { authorization: 'Bearer a-key-of-the-lab-1' }, place);
    expect(await response.text()).toContain('110');
    await place.close();
  });

  it('says what is wrong when the service is away', async () => {
    const place = await openWorld({}, { control: true });
    await fetch(`${place.sandboxUrl}/control/faults`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ operation: '*', status: 503, times: 100 }),
    });
    const agent = await connect(place);
    const result = await agent.call('get_cluster', { id: INSULIN });
    expect(result.isError).toBe(true);
    expect(resultText(result)).toMatch(/^cluster: .* The same call can work in/);
    await agent.close();
    await place.close();
  });
});

describe('where listed operations only run', () => {
  it('the tools do, once their documents are listed, and no other document', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'foldatlas-mcp-'));
    const file = join(folder, 'operations.json');
    const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
    const all = DOCUMENTS.map((text) => [sha256(text), text]);
    writeFileSync(file, JSON.stringify(Object.fromEntries(all)));
    const env = { PERSISTED_OPERATIONS: 'only', PERSISTED_OPERATIONS_FILE: file };
    expect(readConfig(env).listedOperations.size).toBe(all.length);
    const place = await openWorld(env);
    const agent = await connect(place);
    const found = await agent.call('get_protein', { id: INSULIN });
    expect(at(found.structuredContent, 'protein.length')).toBe(110);
    expect(resultText(await agent.call('graphql', { query: LENGTH }))).toMatch(
      /only operations that its operator/,
    );
    await agent.close();
    await place.close();
    rmSync(folder, { recursive: true });
  });
});
