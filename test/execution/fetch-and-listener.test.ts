// The two ways into a gateway, a function call (`gateway.fetch`) and a socket (`gateway.listener`),
// give the same answers: status, headers and bytes, the first time and every time after, when an
// answer may be kept.
import { createHash } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ManualClock } from '../../sandbox/src/clock.ts';
import { type Sandbox, startSandbox } from '../../sandbox/src/sandbox.ts';
import { readConfig } from '../../src/config.ts';
import { createGateway, type Gateway } from '../../src/gateway.ts';
import { createHttpServer } from '../../src/http/server/http-server.ts';
import { runs } from '../property-runs.ts';
import { testLogger } from '../record.ts';
import { ask, until } from '../subscriptions/support.ts';
import { at } from '../support.ts';
import { openSender, type Sender } from '../transport.ts';
import {
  ACCEPTED,
  CATALOGUE,
  get,
  HEADERS,
  type Ids,
  post,
  requests,
  type Sent,
  TOKEN,
  toRequest,
} from './requests.ts';

/**
 * Headers that differ between any two answers: ids that were made, the rest of a budget; and the
 * length, which a function call need not state.
 */
const OWN = /^(x-request-id|traceresponse|content-length|ratelimit-(limit|remaining|reset))$/;

const clock = new ManualClock(Date.now());
let sandbox: Sandbox;
let gateway: Gateway;
let ids: Ids;
/** A connection for each request, and one for all. */
let fresh: Sender;
let kept: Sender;
/** The request log lines of the gateways. */
const lines: string[] = [];

/** A gateway as it is, which tests reach by no way but the ones compared here. */
const open = (env: Record<string, string>): Gateway =>
  createGateway({
    config: readConfig({
      STORE_URL: 'memory:',
      MAX_CONCURRENT_REQUESTS: '0',
      CORS_ORIGINS: 'https://app.example',
      MAX_BODY_BYTES: '200000',
      PERSISTED_OPERATIONS: 'allow',
      PERSISTED_OPERATIONS_FILE: new URL('../../operations/persisted-operations.json', import.meta.url)
        .pathname,
      ...env,
    }),
    upstreamUrl: sandbox.url,
    log: testLogger((line) => void (line.includes('"message":"request"') && lines.push(line))),
    sandbox: true,
  });

/** Puts it on a port. */
async function listen(on: Gateway, keepAlive = true): Promise<{ sender: Sender; close(): Promise<void> }> {
  const server = createHttpServer(on);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const sender = openSender(async () => port, keepAlive);
  return {
    sender,
    async close() {
      sender.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const closing: (() => Promise<void>)[] = [];
beforeAll(async () => {
  sandbox = await startSandbox({ size: 'small', clock });
  gateway = open({});
  const [first, second] = [await listen(gateway, false), await listen(gateway)];
  fresh = first.sender;
  kept = second.sender;
  closing.push(first.close, second.close, gateway.close, sandbox.close);
  ids = await finished();
});
afterAll(async () => {
  for (const close of closing) await close();
});

/**
 * A batch and a look-up that have ended, so that nothing of them moves while they are asked for.
 */
async function finished(): Promise<Ids> {
  const submitted = await ask(
    gateway,
    'mutation { submitFold(input: { items: [{ chains: [{ protein: { sequence: "GIVEQCCTSICSLYQLENYCN" } }] }] }) { ... on FoldSubmitted { batch { batchId } } } }',
    {},
    TOKEN,
  );
  const started = await ask(
    gateway,
    'mutation { startBulkLookup(input: { hashes: ["12e9c9e4e2835c302e8ba615115edda3"], structure: false, residueFeatures: false }) { ... on BulkLookup { lookupId } } }',
    {},
    TOKEN,
  );
  const batchId = String(at(submitted.data, 'submitFold.batch.batchId'));
  const lookupId = String(at(started.data, 'startBulkLookup.lookupId'));
  let taskId = '';
  await until('both to have ended', async () => {
    clock.advance(60_000);
    const query = `query($b: ID!, $l: ID!) { batch(batchId: $b) { status tasks(first: 1) { nodes { taskId } } } bulkLookup(lookupId: $l) { state } }`;
    const { data } = await ask(gateway, query, { b: batchId, l: lookupId }, TOKEN);
    taskId = String(at(data, 'batch.tasks.nodes.0.taskId'));
    return at(data, 'batch.status') === 'DONE' && at(data, 'bulkLookup.state') === 'COMPLETE';
  });
  return { batchId, taskId, lookupId };
}

interface Seen {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: string;
}

/**
 * A body without signs of life, measured times and the service's ids; of a long one the beginning
 * and a digest, to be shown.
 */
function readable(body: string): string {
  const text = body
    .replace(/^:\n\n/gm, '')
    .replace(/"milliseconds":\d+/g, '"milliseconds":0')
    .replace(/"requestId":"req_\w+"/g, '"requestId":""')
    // A signed link names when it ends and is never the same twice.
    .replace(/"signedUrl":"[^"]*"/g, '"signedUrl":""');
  if (text.length < 1000) return text;
  return `${text.slice(0, 500)}… ${createHash('sha256').update(text).digest('hex')}`;
}

/** An answer without the headers that differ between any two. */
async function seen(sent: Sent, send: (request: Request) => Promise<Response>): Promise<Seen> {
  const response = await send(toRequest(sent));
  const headers = [...response.headers].map(([name, value]): [string, string] => [name.toLowerCase(), value]);
  const bytes = Buffer.from(await response.arrayBuffer());
  const length = response.headers.get('content-length');
  if (sent.method !== 'HEAD' && length !== null && response.status !== 304)
    expect(Number(length)).toBe(bytes.length);
  const id = response.headers.get('x-request-id');
  return {
    status: response.status,
    headers: {
      ...Object.fromEntries(headers.filter(([name]) => !OWN.test(name))),
      'x-request-id': id === sent.headers?.['x-request-id'] ? 'as given' : String(id?.length),
    },
    body: sent.method === 'HEAD' ? '' : readable(bytes.toString('latin1')),
  };
}

/**
 * Expects the same of both ways, also when an answer was given before, on a connection of its own
 * and on one that is used again.
 */
async function compare(sent: Sent, by = gateway.fetch, ways = [fresh, kept, kept]): Promise<Seen> {
  const expected = await seen(sent, by);
  for (const way of ways) expect(await seen(sent, way.send)).toEqual(expected);
  return expected;
}

/**
 * The log of a gateway, and its counts of requests, operations, errors and refusals.
 */
async function told(from: Gateway): Promise<{ log: unknown[]; counts: Record<string, number> }> {
  const text = await from.metrics.text();
  const counted =
    /^(foldatlas_(?:http_requests|operations|errors|requests_refused)_total(?:\{.*\})?) (\d+)$/gm;
  const log = lines.splice(0).map((line) => {
    // These differ between any two requests, or belong to a connection.
    const { time: _, requestId: _1, traceId: _2, milliseconds: _3, bytes: _4, ...rest } = JSON.parse(line);
    return rest;
  });
  return {
    log,
    counts: Object.fromEntries([...text.matchAll(counted)].map(([, name, n]) => [name, Number(n)])),
  };
}

describe('a request', () => {
  it('is answered alike by both ways, however often it is sent', { timeout: 300_000 }, async () => {
    const etag = (await gateway.fetch(toRequest(get({ query: CATALOGUE })))).headers.get('etag');
    const cases = requests(ids, etag ?? '');
    expect(cases.length).toBeGreaterThan(200);
    const unlike: unknown[] = [];
    for (const [name, sent] of cases)
      await compare(sent).catch((error: unknown) => unlike.push([name, error]));
    expect(unlike).toEqual([]);
  });

  it('is answered alike whatever comes together in it', async () => {
    const header = fc.constantFrom(...HEADERS.map(([, given]) => given));
    const requested = fc.record({
      query: fc.constantFrom(CATALOGUE, `${CATALOGUE} `, '{ feature(index: 7) { label } }', '{ colour }'),
      variables: fc.constantFrom(undefined, {}, { more: 1 }),
      operationName: fc.constantFrom(undefined, '', 'A'),
      accept: fc.constantFrom('*/*', ...ACCEPTED),
      headers: fc.tuple(header, header),
      send: fc.constantFrom(get, post),
    });
    await fc.assert(
      fc.asyncProperty(requested, ({ send, accept, headers: [one, two], ...params }) => {
        const present = Object.entries(params).filter(([, value]) => value !== undefined);
        return compare(send(Object.fromEntries(present), { accept, ...one, ...two })).then(() => undefined);
      }),
      { numRuns: runs(20) },
    );
  });

  it('is not answered with what another caller was allowed, or asked under another host name', async () => {
    const statuses = async (env: Record<string, string>, cases: readonly Sent[]): Promise<number[]> => {
      const own = open({ UPSTREAM_API_KEY: 'upstream', ...env });
      const { sender, close } = await listen(own);
      const found: number[] = [];
      for (const sent of cases) {
        // By name a function call is not refused: only a connection may come from a page of another
        // site.
        const by = env.GATEWAY_API_KEYS === undefined ? sender.send : own.fetch;
        found.push((await compare(sent, by, [sender, sender])).status);
      }
      await close();
      await own.close();
      return found;
    };
    const keys = ['Bearer my-key-of-this-test', '', 'Bearer wrong', 'Bearer your-key-of-this-test', 'Bearer'];
    for (const send of [get, post])
      expect(
        await statuses(
          { GATEWAY_API_KEYS: 'my-key-of-this-test,your-key-of-this-test' },
          keys.map((key) => send({ query: CATALOGUE }, key === '' ? {} : { authorization: key })),
        ),
      ).toEqual([200, 401, 401, 200, 401]);
    const names = ['localhost', 'gateway.test', '127.0.0.1:4000'];
    for (const send of [get, post])
      expect(
        await statuses(
          {},
          names.map((host) => ({ ...send({ query: CATALOGUE }), host })),
        ),
      ).toEqual([200, 403, 200]);
  });

  it('is logged and counted alike, and spends of the same budget', async () => {
    const sent = [
      post({ query: CATALOGUE }),
      post({ query: CATALOGUE }),
      post({ query: CATALOGUE }),
      get({ query: `query Named ${CATALOGUE}` }, TOKEN),
      post({ query: '{ colour }' }),
      post('{'),
      { path: '/nothing' },
    ];
    const said: unknown[] = [];
    for (const way of ['fetch', 'listener'] as const) {
      const own = open({
        RATE_LIMIT_PER_MINUTE: '1000',
        GATEWAY_SECRET: 'two paths, one secret: 0123456789abcdef',
      });
      const served = await listen(own);
      const send = way === 'fetch' ? own.fetch : served.sender.send;
      lines.length = 0;
      const remaining: unknown[] = [];
      for (const one of sent) {
        const response = await send(toRequest({ ...one, headers: { ...one.headers, ...TOKEN } }));
        await response.arrayBuffer();
        remaining.push(response.headers.get('ratelimit-limit'));
      }
      await until('all to be logged', () => lines.length >= sent.length);
      said.push({ remaining, ...(await told(own)) });
      await served.close();
      await own.close();
    }
    expect(said[1]).toEqual(said[0]);
    // A response that caches may store says nothing of a single caller.
    expect(said[0]).toMatchObject({
      remaining: sent.map(({ path, method }) => (path !== '/nothing' && method !== 'POST' ? null : '1000')),
    });
  });

  it('spends, answered from what is kept or not, until nothing is left', async () => {
    const own = open({ RATE_LIMIT_PER_MINUTE: '4' });
    const { sender, close } = await listen(own);
    const statuses: number[] = [];
    for (let i = 0; i < 8; i += 1) {
      const response = await sender.send(toRequest(post({ query: CATALOGUE }, TOKEN)));
      await response.arrayBuffer();
      statuses.push(response.status);
    }
    expect(statuses.slice(0, 4)).toEqual([200, 200, 200, 200]);
    expect(statuses).toContain(429);
    await close();
    await own.close();
  });
});
