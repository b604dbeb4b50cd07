// models, service and viewer, and what pages say of a sandbox that the gateway did not start
// itself.
import { createServer } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readConfig } from '../../src/config.ts';
import { createGateway, type Gateway } from '../../src/gateway.ts';
import { recorded, testLogger } from '../record.ts';
import { type Answer, at, listAt, openWorld, type World } from '../support.ts';

const open = (upstreamUrl: string): Gateway =>
  recorded(
    createGateway({
      config: readConfig({ STORE_URL: 'memory:', FOLD_MODELS: 'one-model,another-model' }),
      upstreamUrl,
      log: testLogger(),
    }),
  );

async function ask(gateway: Gateway, query: string, headers: Record<string, string> = {}) {
  const request = new Request('http://gateway.test/graphql', {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ query }),
  });
  return (await (await gateway.fetch(request)).json()) as Answer;
}

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

describe('service, models and viewer', () => {
  it('cost no upstream call over the embedded sandbox', async () => {
    world.forget();
    const { data, errors } = await world.query(
      '{ service { isSandbox upstream version } models { name default } viewer { principal } }',
    );
    expect(errors).toBeUndefined();
    expect(data).toEqual({
      service: {
        isSandbox: true,
        upstream: world.sandboxUrl,
        version: expect.stringMatching(/^\d+\.\d+\.\d+/),
      },
      models: [{ name: 'foldmodel2-2026-05-cutoff-2025', default: true }],
      viewer: null,
    });
    expect(world.counts()).toEqual({});
  });

  it('names the models of the configuration, the first as the default', async () => {
    const gateway = open(world.sandboxUrl);
    const { data } = await ask(gateway, '{ models { name default } }');
    expect(at(data, 'models')).toEqual([
      { name: 'one-model', default: true },
      { name: 'another-model', default: false },
    ]);
    await gateway.close();
  });

  it('gives each token one principal, which is not the token', async () => {
    const readPrincipal = async (token: string) =>
      at(
        (await world.query('{ viewer { principal } }', {}, { authorization: `Bearer ${token}` })).data,
        'viewer.principal',
      );
    const first = await readPrincipal('token-one');
    expect(first).toEqual(await readPrincipal('token-one'));
    expect(first).not.toEqual(await readPrincipal('token-two'));
    expect(String(first)).not.toContain('token');
  });
});

describe('a sandbox at UPSTREAM_URL', () => {
  it('is recognised by its header: isSandbox, x-sandbox and every page say so', async () => {
    const gateway = open(world.sandboxUrl);
    const { data } = await ask(gateway, '{ service { isSandbox } }');
    expect(at(data, 'service.isSandbox')).toBe(true);
    for (const path of ['/', '/graphql']) {
      const response = await gateway.fetch(
        new Request(`http://gateway.test${path}`, { headers: { accept: 'text/html' } }),
      );
      expect([path, response.headers.get('x-sandbox')]).toEqual([path, '1']);
      expect([path, (await response.text()).includes('<strong>Sandbox</strong>')]).toEqual([path, true]);
    }
    await gateway.close();
  });

  it('is not taken for the embedded one: no token works by itself', async () => {
    const gateway = open(world.sandboxUrl);
    await ask(gateway, '{ service { isSandbox } }');
    const home = await gateway.fetch(
      new Request('http://gateway.test/', { headers: { accept: 'text/html' } }),
    );
    const text = await home.text();
    expect(text).toContain(`${new URL(world.sandboxUrl).host}, a sandbox`);
    expect(text).not.toContain('any key will do');
    await gateway.close();
  });

  it('differs from a service that answers without the header, and from one that does not answer', async () => {
    const server = createServer((_, response) => response.end('{}')).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const address = server.address();
    const url = typeof address === 'object' && address !== null ? `http://127.0.0.1:${address.port}` : '';
    const gateway = open(url);
    const there = await ask(gateway, '{ service { isSandbox upstream } }');
    expect(there.data).toEqual({ service: { isSandbox: false, upstream: url } });
    await gateway.close();
    await new Promise((resolve) => server.close(resolve));

    const alone = open(url);
    const away = await ask(alone, '{ service { isSandbox } models { name } }');
    expect(away.errors?.map(({ path, extensions }) => [path, extensions.code])).toEqual([
      [['service', 'isSandbox'], 'UPSTREAM_UNAVAILABLE'],
    ]);
    expect(at(away.data, 'service')).toBeNull();
    expect(listAt(away.data, 'models')).toHaveLength(2);
    await alone.close();
  });
});
