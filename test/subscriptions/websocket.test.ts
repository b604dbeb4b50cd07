// The same subscriptions over WebSocket (graphql-transport-ws): token, errors, leaving, shutdown,
// who may connect.
import { type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { type Client, createClient } from 'graphql-ws';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import WebSocket from 'ws';
import { ManualClock } from '../../sandbox/src/clock.ts';
import { type Sandbox, startSandbox } from '../../sandbox/src/sandbox.ts';
import { readConfig } from '../../src/config.ts';
import type { Gateway } from '../../src/gateway.ts';
import { serve as serveAlone } from '../../src/process/serve.ts';
import { testLogger } from '../record.ts';
import { at } from '../support.ts';
import { type Served, serve, submit, TOKEN } from './streams.ts';
import { openGateway, pollsEnded, run, until } from './support.ts';

const PACE = { first: 60, slowest: 200 };
const COUNTS =
  'subscription($id: ID!) { batchProgress(batchId: $id) { sequence final batch { counts { queued done } } } }';

const clock = new ManualClock(Date.now());
let lists = 0;
/** Headers of the upstream call that came last. */
let headers: Readonly<Record<string, string>> = {};
let sandbox: Sandbox;
let gateway: Gateway;
let served: Served;
let client: Client;

/** A socket whose upgrade has such headers, as clients that are no browser may send them. */
const upgradedWith = (headers: Readonly<Record<string, string>>) =>
  class extends WebSocket {
    constructor(url: string, protocols: string) {
      super(url, protocols, { headers });
    }
  };

const connect = (options: Partial<Parameters<typeof createClient>[0]> = {}): Client =>
  createClient({
    url: served.url.replace(/^http/, 'ws'),
    webSocketImpl: WebSocket,
    connectionParams: TOKEN,
    retryAttempts: 0,
    ...options,
  });

beforeAll(async () => {
  sandbox = await startSandbox({
    size: 'small',
    clock,
    onRequest: (call) => {
      headers = call.headers;
      if (call.operation === 'list') lists += 1;
    },
  });
});
afterAll(() => sandbox.close());
beforeEach(async () => {
  gateway = openGateway(sandbox.url, { MAX_SUBSCRIPTIONS: '300' }, PACE);
  served = await serve(gateway, ['https://viewer.example']);
  client = connect();
  lists = 0;
});
afterEach(async () => {
  await client.dispose();
  await served.close();
  await gateway.close();
});

describe('GraphQL over WebSocket', () => {
  it('answers queries and streams a batch to its last event with the token of connectionParams', async () => {
    const id = await submit(gateway, 2);
    for (const connectionParams of [TOKEN, { token: 'live-test' }]) {
      const own = connect({ connectionParams });
      const query = await own
        .iterate({ query: 'query($id: ID!) { batch(batchId: $id) { counts { total } } }', variables: { id } })
        .next();
      expect(query.value).toEqual({ data: { batch: { counts: { total: 2 } } } });
      await own.dispose();
    }
    const results = client.iterate({ query: COUNTS, variables: { id } });
    expect((await results.next()).value).toEqual({
      data: { batchProgress: { sequence: 1, final: false, batch: { counts: { queued: 2, done: 0 } } } },
    });
    const running = run(clock, 20);
    onTestFinished(running.stop);
    let last: unknown;
    for await (const result of results) last = result;
    running.stop();
    expect(last).toMatchObject({ data: { batchProgress: { final: true, batch: { counts: { done: 2 } } } } });
  });

  it('says what is wrong as GraphQL errors with codes, and keeps the socket', async () => {
    const first = async (query: string, variables: Record<string, unknown> = {}): Promise<unknown> => {
      try {
        return (await client.iterate({ query, variables }).next()).value;
      } catch (errors) {
        return { errors };
      }
    };
    expect(await first('subscription { nothing }')).toMatchObject({ errors: [{ message: /nothing/ }] });
    expect(await first('subscription {')).toMatchObject({ errors: [{ message: /Syntax Error/ }] });
    expect(await first('query { protein(hash: "x") { hash } }')).toMatchObject({
      errors: [{ extensions: { code: 'BAD_USER_INPUT' } }],
    });
    expect(await first(COUNTS, { id: 'nobody' })).toMatchObject({
      errors: [{ extensions: { code: 'NOT_FOUND' } }],
    });
    expect(await first('{ limits { maxItems } }')).toEqual({ data: { limits: { maxItems: 2000 } } });
  });

  it('asks for proof where the gateway holds the key', async () => {
    const guarded = openGateway(
      sandbox.url,
      { UPSTREAM_API_KEY: 'upstream', GATEWAY_API_KEYS: 'my-key-of-this-test' },
      PACE,
    );
    const own = await serve(guarded);
    const id = await submit(guarded, 1, { authorization: 'Bearer my-key-of-this-test' });
    const first = async (
      connectionParams: Record<string, string> | undefined,
      headers: Record<string, string> = {},
    ): Promise<unknown> => {
      const guest = createClient({
        url: own.url.replace(/^http/, 'ws'),
        webSocketImpl: upgradedWith(headers),
        retryAttempts: 0,
        ...(connectionParams === undefined ? {} : { connectionParams }),
      });
      try {
        return (await guest.iterate({ query: COUNTS, variables: { id } }).next()).value;
      } catch (event) {
        return { code: Reflect.get(Object(event), 'code') };
      } finally {
        await guest.dispose();
      }
    };
    for (const params of [undefined, { token: 'guess' }, { authorization: 'Bearer upstream' }])
      expect(await first(params)).toEqual({ code: 4401 });
    const answered = { data: { batchProgress: { sequence: 1 } } };
    expect(await first({ token: 'my-key-of-this-test' })).toMatchObject(answered);
    // Clients that are no browser may send it with the upgrade, as they send it with a POST.
    const upgrade = { authorization: 'Bearer my-key-of-this-test' };
    expect(await first(undefined, upgrade)).toMatchObject(answered);
    expect(await first({ token: 'guess' }, upgrade)).toEqual({ code: 4401 });
    await own.close();
    await guarded.close();
  });

  it('goes on with the request id and the trace of the upgrade', async () => {
    const trace = '0af7651916cd43dd8448eb211c80319c';
    const given = {
      'x-request-id': 'of-this-upgrade',
      traceparent: `00-${trace}-b7ad6b7169203331-01`,
      tracestate: 'vendor=1',
    };
    const own = connect({ webSocketImpl: upgradedWith(given) });
    await own.iterate({ query: '{ feature(index: 1) { label } }' }).next();
    expect(headers).toMatchObject({ ...given, traceparent: expect.stringContaining(`-${trace}-`) });
    await own.dispose();
  });

  it('stops polling when a client completes its subscription, and when its socket dies', async () => {
    const id = await submit(gateway, 1);
    const one = client.iterate({ query: COUNTS, variables: { id } });
    await one.next();
    await one.return?.();
    const silence = () => pollsEnded(() => lists, 3 * PACE.slowest);
    await silence();
    const raw: WebSocket[] = [];
    class Kept extends WebSocket {
      constructor(address: string, protocols?: string | string[]) {
        super(address, protocols);
        raw.push(this);
      }
    }
    const dying = connect({ webSocketImpl: Kept });
    const two = dying.iterate({ query: COUNTS, variables: { id } });
    await two.next();
    const polled = lists;
    await until('polls', () => lists > polled + 1);
    for (const socket of raw) socket.terminate();
    await expect(two.next()).rejects.toBeDefined();
    await silence();
  });

  it('carries hundreds of subscriptions on one socket without a warning', async () => {
    const warnings: string[] = [];
    const warned = (warning: Error) => warnings.push(warning.message);
    process.on('warning', warned);
    const id = await submit(gateway, 2);
    const results = Array.from({ length: 200 }, () => client.iterate({ query: COUNTS, variables: { id } }));
    for (const { value } of await Promise.all(results.map((result) => result.next())))
      expect(value).toMatchObject({ data: { batchProgress: { sequence: 1 } } });
    const running = run(clock, 20);
    onTestFinished(running.stop);
    const ends = results.map(async (result) => {
      let last: unknown;
      for await (const value of result) last = value;
      return last;
    });
    for (const last of await Promise.all(ends))
      expect(last).toMatchObject({ data: { batchProgress: { final: true } } });
    running.stop();
    process.off('warning', warned);
    expect(warnings).toEqual([]);
  });

  it('completes streams and says goodbye with 1001 when the server stops', async () => {
    const id = await submit(gateway, 1);
    let closed: unknown;
    const own = connect({ on: { closed: (event) => (closed = event) } });
    const results = own.iterate({ query: COUNTS, variables: { id } });
    await results.next();
    gateway.drain();
    expect(await results.next()).toEqual({ done: true, value: undefined });
    await served.sockets.close();
    await until('the goodbye', () => closed !== undefined);
    expect(at({ code: Reflect.get(Object(closed), 'code') }, 'code')).toBe(1001);
  });

  /** The status of the answer to an upgrade. */
  const readStatus = (address: string, options: WebSocket.ClientOptions) =>
    new Promise<number>((resolve) => {
      const socket = new WebSocket(address.replace(/^http/, 'ws'), 'graphql-transport-ws', options);
      socket.on('open', () => {
        socket.close();
        resolve(101);
      });
      socket.on('unexpected-response', (_, answer) => resolve(answer.statusCode ?? 0));
      socket.on('error', () => undefined);
    });

  it('welcomes its own pages, listed origins and clients that are no browser, and nobody else', async () => {
    const status = (origin: string | undefined, path = '/graphql') =>
      readStatus(served.url.replace('/graphql', path), origin === undefined ? {} : { origin });
    expect(await status(undefined)).toBe(101);
    expect(await status(new URL(served.url).origin)).toBe(101);
    expect(await status('https://viewer.example')).toBe(101);
    expect(await status('https://evil.example')).toBe(403);
    expect(await status('null')).toBe(403);
    expect(await status(undefined, '/other')).toBe(404);
  });

  it('welcomes the pages of PUBLIC_URL also behind a proxy that sends another Host', async () => {
    const config = readConfig({ STORE_URL: 'memory:', PORT: '0', PUBLIC_URL: 'https://fold.example/app' });
    const log = testLogger();
    const { url: upstreamUrl } = sandbox;
    const { localUrl, stop } = await serveAlone({ config, log, upstreamUrl, sandbox: true });
    const status = (origin: string) =>
      readStatus(`${localUrl}/graphql`, { origin, headers: { host: 'gateway:4000' } });
    expect(await status('https://fold.example')).toBe(101);
    expect(await status('https://evil.example')).toBe(403);
    await stop();
  });

  it('answers requests that offer another protocol, or says to send them without that offer', async () => {
    const config = readConfig({ STORE_URL: 'memory:', PORT: '0' });
    const log = testLogger();
    const { url: upstreamUrl } = sandbox;
    const { localUrl, stop } = await serveAlone({ config, log, upstreamUrl, sandbox: true });
    // As Java's HttpClient and `curl --http2` send it.
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      request(`${localUrl}/graphql`, {
        method: 'POST',
        headers: {
          connection: 'Upgrade, HTTP2-Settings',
          upgrade: 'h2c',
          'http2-settings': 'AAMAAABkAAQCAAAAAAIAAAAA',
          'content-type': 'application/json',
        },
      })
        .once('response', resolve)
        .once('error', reject)
        .end('{"query":"{limits{maxBulkHashes}}"}');
    });
    const body = await text(answer);
    const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
    if (major > 24 || (major === 24 && minor >= 9))
      expect([answer.statusCode, body]).toEqual([200, '{"data":{"limits":{"maxBulkHashes":500}}}']);
    else
      expect([answer.statusCode, body]).toEqual([400, expect.stringMatching(/without the header `Upgrade`/)]);
    await stop();
  });
});
