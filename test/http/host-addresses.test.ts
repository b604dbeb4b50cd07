// Answers that hold addresses of the gateway: a cache must not give those that one client's Host
// header has made to another client.
import { once } from 'node:events';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { at, openWorld, type World } from '../support.ts';

const INSULIN = '12e9c9e4e2835c302e8ba615115edda3';
const ADDRESSES = `{ protein(hash: "${INSULIN}") { plddt: thumbnail(type: PLDDT) { url } structure { url } } }`;
const PLAIN = `{ protein(hash: "${INSULIN}") { length } }`;

interface Reply {
  readonly cacheControl: string | undefined;
  readonly body: unknown;
  readonly text: string;
}

async function withListener(env: Record<string, string>): Promise<{
  get(host: string | undefined, query: string): Promise<Reply>;
  close(): Promise<void>;
}> {
  const world: World = await openWorld({ CACHE_RECORDS_SECONDS: '600', ...env });
  const server: Server = createServer(world.gateway.listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    get: (host, query) =>
      new Promise((resolve, reject) => {
        const { port } = server.address() as AddressInfo;
        const path = `/graphql?query=${encodeURIComponent(query)}`;
        const sending = request({ port, path, agent: false, ...(host && { headers: { host } }) });
        sending.on('error', reject).on('response', async (response) => {
          let text = '';
          for await (const chunk of response) text += String(chunk);
          resolve({ cacheControl: response.headers['cache-control'], body: JSON.parse(text), text });
        });
        sending.end();
      }),
    async close() {
      server.closeAllConnections();
      server.close();
      await world.close();
    },
  };
}

describe('without PUBLIC_URL', () => {
  let place: Awaited<ReturnType<typeof withListener>>;
  beforeAll(async () => {
    place = await withListener({});
  });
  afterAll(() => place.close());

  it('an answer with addresses is private, also when it is stored, and each Host gets its own', async () => {
    // The second time each is answered from the gateway's own cache.
    for (const host of ['evil.test', 'atlas.test', 'evil.test', 'atlas.test:81', 'atlas.test']) {
      const { cacheControl, body } = await place.get(host, ADDRESSES);
      expect(cacheControl).toBe('private, max-age=600');
      expect(at(body, 'data.protein.structure.url')).toBe(`http://${host}/structures/${INSULIN}.pdb`);
      expect(at(body, 'data.protein.plddt.url')).toMatch(`http://${host}/thumbnails/`);
    }
  });

  it('an answer without addresses is public, and the same for each Host', async () => {
    const replies = [await place.get('evil.test', PLAIN), await place.get('atlas.test', PLAIN)];
    expect(replies.map(({ cacheControl }) => cacheControl)).toEqual([
      'public, max-age=600',
      'public, max-age=600',
    ]);
    expect(replies[0]?.text).toBe(replies[1]?.text);
  });
});

it('an answer with addresses is public where PUBLIC_URL is set, whatever the Host', async () => {
  const place = await withListener({ PUBLIC_URL: 'https://atlas.test/fold' });
  for (const host of ['evil.test', 'atlas.test']) {
    const { cacheControl, body, text } = await place.get(host, ADDRESSES);
    expect(cacheControl).toBe('public, max-age=600');
    expect(at(body, 'data.protein.structure.url')).toBe(`https://atlas.test/fold/structures/${INSULIN}.pdb`);
    expect(text).not.toContain('evil.test');
  }
  await place.close();
});
