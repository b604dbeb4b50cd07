// Limits over real connections: rates, failed authentication, requests in flight, subscriptions,
// sockets.
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect as open } from 'node:net';
import { type Client, createClient } from 'graphql-ws';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import WebSocket from 'ws';
import { ManualClock } from '../../sandbox/src/clock.ts';
import { type Sandbox, startSandbox } from '../../sandbox/src/sandbox.ts';
import type { GatewayLimits } from '../../src/config/limits.ts';
import type { Gateway } from '../../src/gateway.ts';
import type { WebSocketOptions } from '../../src/http/websocket/server.ts';
import { answersOf, type Served, serve, submit, subscribe } from '../subscriptions/streams.ts';
import { openGateway, until } from '../subscriptions/support.ts';
import { type Answer, at } from '../support.ts';

const LIMITS = '{ limits { maxItems } }';
const WATCH = 'subscription($id: ID!) { batchProgress(batchId: $id) { sequence } }';
let sandbox: Sandbox;

beforeAll(async () => {
  sandbox = await startSandbox({ size: 'small', clock: new ManualClock(Date.now()) });
});
afterAll(() => sandbox.close());

/** Runs with a gateway of its own on a real port. */
async function withGateway(
  env: Record<string, string>,
  work: (served: Served, gateway: Gateway) => Promise<void>,
  sockets: Partial<WebSocketOptions> = {},
  limits: Partial<GatewayLimits> = {},
): Promise<void> {
  const gateway = openGateway(sandbox.url, env, undefined, undefined, undefined, limits);
  const served = await serve(gateway, [], sockets);
  try {
    await work(served, gateway);
  } finally {
    await served.close();
    await gateway.close();
  }
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

async function asked(url: string, headers: Record<string, string> = {}) {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ query: LIMITS }),
  });
  const { errors } = (await response.json()) as Answer;
  return { status: response.status, code: errors?.[0]?.extensions.code, errors, headers: response.headers };
}

const statuses = async (times: number, url: string, headers: (i: number) => Record<string, string>) => {
  const all: number[] = [];
  for (let i = 0; i < times; i += 1) all.push((await asked(url, headers(i))).status);
  return all;
};

const client = (served: Served, token: string): Client =>
  createClient({
    url: served.url.replace('http', 'ws'),
    webSocketImpl: WebSocket,
    retryAttempts: 0,
    connectionParams: { token },
  });

describe('the rate limit', () => {
  it('tells what is left, answers 429 above it, and holds up neither other callers nor health checks', () =>
    withGateway({ RATE_LIMIT_PER_MINUTE: '3' }, async ({ url }) => {
      for (let i = 0; i < 4; i += 1)
        expect((await fetch(url, { method: 'OPTIONS', headers: bearer('a') })).status).toBe(204);
      const first = await asked(url, bearer('a'));
      expect(first.status).toBe(200);
      expect(first.headers.get('ratelimit-limit')).toBe('3');
      expect(first.headers.get('ratelimit-remaining')).toBe('2');
      expect(await statuses(3, url, () => bearer('a'))).toEqual([200, 200, 429]);
      const refused = await asked(url, bearer('a'));
      expect(refused).toMatchObject({ status: 429, code: 'RATE_LIMITED' });
      expect(refused.errors?.[0]?.extensions).toMatchObject({
        retryable: true,
        retryAfterSeconds: expect.any(Number),
      });
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
      expect(JSON.stringify(refused.errors)).not.toContain('http');
      const origin = new URL(url).origin;
      const file = await fetch(`${origin}/tasks/x/result.json`, { headers: bearer('a') });
      expect([file.status, file.headers.get('content-type')]).toEqual([429, 'text/plain; charset=utf-8']);
      expect((await asked(url, bearer('b'))).status).toBe(200);
      expect((await asked(url)).status).toBe(200);
      for (let i = 0; i < 5; i += 1)
        expect((await fetch(`${origin}/health`, { headers: bearer('a') })).status).toBe(200);
      const counted = await (await fetch(`${origin}/metrics`)).text();
      expect(counted).toMatch(/^foldatlas_requests_refused_total\{reason="rate"\} 3$/m);
    }));

  it('counts answers from the cache', () =>
    withGateway({ RATE_LIMIT_PER_MINUTE: '2' }, async ({ url }) => {
      const status = async () => {
        const query = encodeURIComponent('{ feature(index: 1) { label } }');
        const answer = await fetch(`${url}?query=${query}`, { headers: bearer('a') });
        await answer.text();
        return answer.status;
      };
      expect([await status(), await status(), await status()]).toEqual([200, 200, 429]);
    }));

  it('counts operations over WebSocket like requests', () =>
    withGateway({ RATE_LIMIT_PER_MINUTE: '2' }, async (served) => {
      const own = client(served, 'a');
      const ask = async (): Promise<unknown> =>
        own
          .iterate({ query: LIMITS })
          .next()
          .then(
            ({ value }): unknown => value,
            (errors: unknown) => ({ errors }),
          );
      for (let i = 0; i < 2; i += 1) expect(await ask()).toMatchObject({ data: { limits: {} } });
      expect(await ask()).toMatchObject({ errors: [{ extensions: { code: 'RATE_LIMITED' } }] });
      expect((await asked(served.url, bearer('a'))).status).toBe(429);
      await own.dispose();
    }));

  it('counts unverified callers by network, and trusts as many proxies as TRUST_PROXY says', () =>
    withGateway({ RATE_LIMIT_PER_MINUTE: '1', TRUST_PROXY: '1' }, async ({ url }) => {
      const from = (address: string) =>
        asked(url, { 'x-forwarded-for': address }).then(({ status }) => status);
      expect([await from('203.0.113.1'), await from('203.0.113.1')]).toEqual([200, 429]);
      expect(await from('203.0.113.2')).toBe(200);
      // The client wrote the addresses left of the one that the proxy added.
      expect(await from('198.51.100.9, 203.0.113.2')).toBe(429);
      expect([await from('2001:db8:1:2:3::4'), await from('2001:db8:1:2:ffff::1')]).toEqual([200, 429]);
      expect(await from('2001:db8:1:3::4')).toBe(200);
      expect([await from('fe80::1%eth0'), await from('fe80::2')]).toEqual([200, 429]);
      expect([await from('::ffff:203.0.113.7'), await from('203.0.113.7:4711')]).toEqual([200, 429]);
      // Tokens that have not been checked count as ten callers, however many are invented.
      const invented = await statuses(12, url, (i) => ({
        ...bearer(`made-up-${i}`),
        'x-forwarded-for': '192.0.2.1',
      }));
      expect(invented.filter((status) => status === 200)).toHaveLength(10);
    }));

  it('trusts no forwarded address unless configured', () =>
    withGateway({ RATE_LIMIT_PER_MINUTE: '2' }, async ({ url }) => {
      expect(await statuses(3, url, (i) => ({ 'x-forwarded-for': `203.0.113.${i}` }))).toEqual([
        200, 200, 429,
      ]);
    }));

  it('counts failed authentication for each address, and never refuses a valid key', () =>
    withGateway(
      {
        UPSTREAM_API_KEY: 'upstream',
        GATEWAY_API_KEYS: 'first-key-of-this-test, other-key-of-this-test',
      },
      async ({ url }) => {
        expect((await asked(url, bearer('first-key-of-this-test'))).status).toBe(200);
        expect(await statuses(5, url, (i) => bearer(`guess-${i}`))).toEqual([401, 401, 401, 429, 429]);
        const refused = await asked(url, bearer('guess'));
        expect(refused).toMatchObject({ status: 429, code: 'RATE_LIMITED' });
        expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
        // Also one that was not seen before the others guessed.
        for (const key of ['first-key-of-this-test', 'other-key-of-this-test'])
          expect((await asked(url, bearer(key))).status).toBe(200);
      },
      {},
      { authFailuresPerMinute: 3 },
    ));
});

describe('shedding', () => {
  it('answers 503 above MAX_CONCURRENT_REQUESTS, but always answers health checks', async () => {
    const held: ServerResponse[] = [];
    let isHeldUp = true;
    const answer = (response: ServerResponse) =>
      response.writeHead(404, { 'content-type': 'application/json' }).end('{}');
    const service = createServer((_, response) => {
      if (isHeldUp) held.push(response);
      else answer(response);
    }).listen(0, '127.0.0.1');
    await once(service, 'listening');
    const { port } = service.address() as AddressInfo;
    const gateway = openGateway(`http://127.0.0.1:${port}`, { MAX_CONCURRENT_REQUESTS: '2' });
    const served = await serve(gateway);
    const { origin } = new URL(served.url);
    const slow = [0, 1].map((i) =>
      fetch(served.url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ query: `{ protein(hash: "${String(i).padStart(32, '0')}") { length } }` }),
      }),
    );
    await until('both to be under way', () => gateway.accessControl.loadShedder.inFlight === 2);
    const refused = await asked(served.url);
    expect(refused).toMatchObject({ status: 503, code: 'RATE_LIMITED' });
    expect(refused.headers.get('retry-after')).toBe('1');
    expect((await fetch(`${origin}/health`)).status).toBe(200);
    const counted = await (await fetch(`${origin}/metrics`)).text();
    expect(counted).toMatch(/^foldatlas_requests_refused_total\{reason="busy"\} 1$/m);
    await until('both calls', () => held.length === 2);
    isHeldUp = false;
    held.forEach(answer);
    expect((await Promise.all(slow)).map(({ status }) => status)).toEqual([200, 200]);
    await until('both to be over', () => gateway.accessControl.loadShedder.inFlight === 0);
    expect((await asked(served.url)).status).toBe(200);
    await served.close();
    await gateway.close();
    service.closeAllConnections();
    service.close();
  });
});

describe('an event loop that is late', () => {
  /** Holds up everything in this process without using a processor. */
  const hold = (milliseconds: number) =>
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);

  it('has new requests refused with 503 until it is in time again, but no health check', () =>
    withGateway(
      {},
      async ({ url }, gateway) => {
        const { origin } = new URL(url);
        expect((await asked(url)).status).toBe(200);
        // One long turn is no overload.
        hold(1_100);
        expect((await asked(url)).status).toBe(200);
        await until('it to be late for a while', () => {
          hold(600);
          return gateway.accessControl.loadShedder.isLate;
        });
        const refused = await asked(url);
        expect(refused).toMatchObject({ status: 503, code: 'RATE_LIMITED' });
        expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
        expect((await fetch(`${origin}/health`)).status).toBe(200);
        const counted = await (await fetch(`${origin}/metrics`)).text();
        expect(counted).toMatch(/^foldatlas_requests_refused_total\{reason="busy"\} 1$/m);
        await until('it to be in time', () => !gateway.accessControl.loadShedder.isLate);
        expect((await asked(url)).status).toBe(200);
      },
      {},
      { eventLoopDelayMs: 250 },
    ));
});

describe('subscriptions', () => {
  it('are limited for each caller, over event streams and sockets together, until they end', () =>
    withGateway({ MAX_SUBSCRIPTIONS: '2' }, async (served, gateway) => {
      const id = await submit(gateway, 1, bearer('a'));
      const leaving = new AbortController();
      const stream = (token: string, signal?: AbortSignal) =>
        subscribe(
          fetch,
          WATCH,
          { id },
          {
            url: served.url,
            headers: bearer(token),
            ...(signal === undefined ? {} : { signal }),
          },
        );
      const first = answersOf(await stream('a', leaving.signal));
      expect(at((await first.next()).value, 'data.batchProgress.sequence')).toBe(1);
      const own = client(served, 'a');
      const second = own.iterate({ query: WATCH, variables: { id } });
      expect((await second.next()).value).toMatchObject({ data: { batchProgress: { sequence: 1 } } });
      const over = await stream('a');
      expect(over.status).toBe(429);
      expect(await over.text()).toContain('RATE_LIMITED');
      const third = await own
        .iterate({ query: WATCH, variables: { id } })
        .next()
        .then(
          ({ value }): unknown => value,
          (errors: unknown) => ({ errors }),
        );
      expect(third).toMatchObject({ errors: [{ extensions: { code: 'RATE_LIMITED' } }] });
      expect((await asked(served.url, bearer('a'))).status).toBe(200);
      // Another caller has places of its own.
      const other = answersOf(await stream('b'));
      expect((await other.next()).done).toBe(false);
      leaving.abort();
      await until('the place to be free', async () => {
        const again = client(served, 'a');
        const result = await again
          .iterate({ query: WATCH, variables: { id } })
          .next()
          .then(
            ({ value }): unknown => value,
            () => undefined,
          );
        await again.dispose();
        return at(result, 'data.batchProgress') !== undefined;
      });
      await own.dispose();
    }));
});

describe('sockets', () => {
  /** Connects without a word. @returns the close code */
  const silent = (served: Served, say?: string) =>
    new Promise<number>((resolve, reject) => {
      const socket = new WebSocket(served.url.replace('http', 'ws'), 'graphql-transport-ws');
      socket.on('open', () => say !== undefined && socket.send(say));
      socket.on('close', resolve);
      socket.on('error', reject);
    });

  it('are closed without connection_init', () =>
    withGateway({}, async (served) => expect(await silent(served)).toBe(4408)));

  it('are closed without a pong', () =>
    withGateway(
      {},
      async (served) => {
        const open = (autoPong: boolean) => {
          const address = served.url.replace('http', 'ws');
          const socket = new WebSocket(address, 'graphql-transport-ws', { autoPong });
          onTestFinished(() => socket.terminate());
          socket.on('open', () => socket.send(JSON.stringify({ type: 'connection_init' })));
          return { socket, closed: once(socket, 'close').then(([code]) => code as unknown) };
        };
        const [mute, alive] = [open(false), open(true)];
        let pings = 0;
        alive.socket.on('ping', () => {
          pings += 1;
        });
        expect(await mute.closed).toBe(1006);
        await expect.poll(() => pings).toBeGreaterThan(2);
        expect(alive.socket.readyState).toBe(WebSocket.OPEN);
      },
      { pingMs: 1_000 },
    ));

  it('are limited in number, and an odd path is refused', () =>
    withGateway(
      {},
      async (served) => {
        const sockets: WebSocket[] = [];
        const status = () =>
          new Promise<number>((resolve) => {
            const socket = new WebSocket(served.url.replace('http', 'ws'), 'graphql-transport-ws');
            sockets.push(socket);
            socket.on('open', () => resolve(101));
            socket.on('unexpected-response', (_, answer) => resolve(answer.statusCode ?? 0));
            socket.on('error', () => undefined);
          });
        expect([await status(), await status(), await status()]).toEqual([101, 101, 503]);
        for (const socket of sockets) socket.terminate();
        await until('a place', async () => (await status()) === 101);
        for (const socket of sockets) socket.terminate();
        const raw = open(Number(new URL(served.url).port), '127.0.0.1');
        const said = new Promise<string>((resolve) => raw.on('data', (text) => resolve(String(text))));
        raw.write(
          'GET // HTTP/1.1\r\nHost: localhost\r\nConnection: upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: MDEyMzQ1Njc4OTAxMjM0NQ==\r\n\r\n',
        );
        expect(await said).toMatch(/^HTTP\/1.1 40[04]/);
        raw.destroy();
        expect((await asked(served.url)).status).toBe(200);
      },
      { maxSockets: 2 },
    ));
});
