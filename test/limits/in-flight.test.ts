// Requests in flight: counted while they are worked on, never for longer, however they end. Over
// real connections.
import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import WebSocket from 'ws';
import { type Sandbox, startSandbox } from '../../sandbox/src/sandbox.ts';
import { readConfig } from '../../src/config.ts';
import { createGateway, type Gateway } from '../../src/gateway.ts';
import { createHttpServer } from '../../src/http/server/http-server.ts';
import { normalizeTarget, requestPath } from '../../src/http/server/request-target.ts';
import { attachWebSocket, type SocketServer } from '../../src/http/websocket/server.ts';
import { testLogger } from '../record.ts';
import { until } from '../subscriptions/support.ts';

const MAX_IN_FLIGHT = 20;

let sandbox: Sandbox;
let upstream: Server;
/** Responses of the service, which it holds back. */
const held: ServerResponse[] = [];
let gateway: Gateway;
let server: Server;
let sockets: SocketServer;
const opened: Socket[] = [];
const lines: string[] = [];

beforeAll(async () => {
  sandbox = await startSandbox({ size: 'small' });
  upstream = createServer((incoming, response) => {
    if (incoming.url?.includes('ffff')) response.writeHead(500).end('{}');
    else held.push(response);
  }).listen(0, '127.0.0.1');
  await once(upstream, 'listening');
});
afterAll(async () => {
  upstream.closeAllConnections();
  upstream.close();
  await sandbox.close();
});

async function open(upstreamUrl: string): Promise<void> {
  lines.length = 0;
  gateway = createGateway({
    config: readConfig({
      STORE_URL: 'memory:',
      RATE_LIMIT_PER_MINUTE: '0',
      MAX_CONCURRENT_REQUESTS: String(MAX_IN_FLIGHT),
    }),
    upstreamUrl,
    log: testLogger((line) => lines.push(line)),
  });
  server = createHttpServer(gateway);
  sockets = attachWebSocket(server, gateway, {
    origins: [],
    maxBytes: 10_000,
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
}
async function close(): Promise<void> {
  for (const socket of opened.splice(0)) socket.destroy();
  for (const response of held.splice(0)) response.destroy();
  await sockets.close(0);
  server.closeAllConnections();
  server.close();
  await gateway.close();
}
beforeEach(() => open(`http://127.0.0.1:${(upstream.address() as AddressInfo).port}`));
afterEach(close);

interface Sent {
  readonly socket: Socket;
  readonly text: () => string;
}

function send(bytes: string): Sent {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  let text = '';
  socket
    .on('error', () => undefined)
    .on('data', (chunk) => {
      text += String(chunk);
    });
  socket.write(bytes, 'latin1');
  opened.push(socket);
  return { socket, text: () => text };
}

async function readStatus({ text }: Sent): Promise<number> {
  await until('a response', () => text().includes('\r\n\r\n'));
  return Number(text().slice(9, 12));
}

const HOST = 'Host: localhost\r\n';
const head = (first: string, headers = ''): string => `${first} HTTP/1.1\r\n${HOST}${headers}\r\n`;
const post = (body: string, headers = ''): string =>
  `${head('POST /graphql', `Content-Type: application/json\r\n${headers}Content-Length: ${Buffer.byteLength(body)}\r\n`)}${body}`;
const query = (text: string, headers = ''): string => post(JSON.stringify({ query: text }), headers);
const LIMITS = query('{ limits { maxItems } }');

let lastHash = 0;
const newHash = (): string => (++lastHash).toString().padStart(32, '0');
const document = (hash: string): string => `{ protein(hash: "${hash}") { hash ptm } }`;
const callsFor = (hash: string) => held.filter(({ req }) => req.url?.includes(hash));
/** Lets the service answer until something is so. */
const untilAnswered = (what: string, isSo: () => boolean): Promise<void> =>
  until(what, () => {
    for (const response of held.splice(0))
      response.writeHead(404, { 'content-type': 'application/json' }).end('{"detail":"Not found."}');
    return isSo();
  });
const UPGRADE =
  'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: eHh4eHh4eHh4eHh4eHh4eA==\r\n';

const noneInFlight = () =>
  until('none to be in flight', () => gateway.accessControl.loadShedder.inFlight === 0);

it.each<[what: string, bytes: string, status: number]>([
  ['a query', LIMITS, 200],
  ['a query that a client waits to send', query('{ limits { maxItems } }', 'Expect: 100-continue\r\n'), 100],
  ['a query by GET', head(`GET /graphql?query=${encodeURIComponent('{ limits { maxItems } }')}`), 200],
  ['HEAD', head(`HEAD /graphql?query=${encodeURIComponent('{ limits { maxItems } }')}`), 200],
  ['OPTIONS', head('OPTIONS /graphql'), 204],
  ['a page', head('GET /', 'Accept: text/html\r\n'), 200],
  ['an absolute address', head('GET http://localhost/health'), 200],
  ['a document that is none', query('{', 'Accept: application/graphql-response+json\r\n'), 400],
  ['a body that is no JSON', post('{'), 400],
  ['an unknown path', head('GET /nowhere'), 404],
  ["Yoga's own health check", head('GET /-/yoga'), 404],
  ['a search that ends like a health check', head('GET /nowhere?x=/health'), 404],
  ['a search that ends in a space', head('GET /nowhere?x=%20'), 404],
  ['another method', head('DELETE /graphql'), 405],
  ['another type', head('POST /graphql', 'Content-Type: text/plain\r\nContent-Length: 0\r\n'), 415],
  [
    'a body that is too large',
    head('POST /graphql', 'Content-Type: application/json\r\nContent-Length: 20000000\r\n'),
    413,
  ],
  ['a file that the service fails to send', head(`GET /structures/${'f'.repeat(32)}.pdb`), 503],
  ['/health', head('GET /health'), 200],
  ['/metrics', head('GET /metrics'), 200],
  ['a path that leads to /health', head('GET /x/../health'), 200],
  ['an upgrade', head('GET /graphql', UPGRADE), 101],
  ['an upgrade elsewhere', head('GET /other', UPGRADE), 404],
  ['an upgrade to another protocol', head('GET /graphql', UPGRADE.replace('websocket', 'h2c')), 400],
])('%s leaves none', async (_, bytes, status) => {
  expect(await readStatus(send(bytes))).toBe(status);
  await noneInFlight();
  expect(lines.filter((line) => line.includes('"level":"error"'))).toEqual([]);
});

it('a stored response and a 304 leave none', async () => {
  await close();
  await open(sandbox.url);
  const path = `/graphql?query=${encodeURIComponent('{ feature(index: 1) { label } }')}`;
  const first = send(head(`GET ${path}`));
  expect(await readStatus(first)).toBe(200);
  const etag = /\r\netag: (\S+)/i.exec(first.text())?.[1];
  expect(etag).toBeDefined();
  expect(await readStatus(send(head(`GET ${path}`)))).toBe(200);
  expect(await readStatus(send(head(`GET ${path}`, `If-None-Match: ${etag}\r\n`)))).toBe(304);
  await noneInFlight();
});

it('a response in parts is counted until its last part, or until its client disconnects', async () => {
  const hash = newHash();
  const inParts = (inner: string) =>
    query(`{ limits { maxItems } ... @defer ${inner} }`, 'Accept: multipart/mixed\r\n');
  const first = send(inParts(document(hash)));
  expect(await readStatus(first)).toBe(200);
  await until('the call', () => callsFor(hash).length > 0);
  expect(gateway.accessControl.loadShedder.inFlight).toBe(1);
  await untilAnswered('the last part', () => first.text().includes('"hasNext":false'));
  await noneInFlight();
  const [other, another] = [newHash(), newHash()];
  const leaving = [send(query(document(other))), send(inParts(document(another)))];
  await until('both calls', () => callsFor(other).length > 0 && callsFor(another).length > 0);
  expect(gateway.accessControl.loadShedder.inFlight).toBe(2);
  for (const { socket } of leaving) socket.destroy();
  await noneInFlight();
});

it('a subscription is not counted once it is open', async () => {
  const watch = 'subscription { batchProgress(batchId: "b") { sequence } }';
  const stream = send(query(watch, 'Accept: text/event-stream\r\nAuthorization: Bearer any\r\n'));
  expect(await readStatus(stream)).toBe(200);
  expect(gateway.accessControl.loadShedder.inFlight).toBe(0);
});

it('requests are not counted before their body is whole', async () => {
  const sent = Array.from({ length: 3 * MAX_IN_FLIGHT }, () => send(LIMITS.slice(0, -2)));
  await until('all to be open', async () =>
    (await gateway.metrics.text()).includes(`foldatlas_connections ${3 * MAX_IN_FLIGHT}`),
  );
  expect(gateway.accessControl.loadShedder.inFlight).toBe(0);
  expect(await readStatus(send(LIMITS))).toBe(200);
  for (const { socket } of sent) socket.destroy();
  await until('all to be closed', async () =>
    /^foldatlas_connections [01]$/m.test(await gateway.metrics.text()),
  );
  expect(gateway.accessControl.loadShedder.inFlight).toBe(0);
});

it('pipelined requests are counted one at a time, and none when their connection closes', async () => {
  const [first, second] = [newHash(), newHash()];
  const ahead = send(query(document(first)) + LIMITS.repeat(20));
  await until('the first to wait for the service', () => callsFor(first).length > 0);
  expect(gateway.accessControl.loadShedder.inFlight).toBe(1);
  await untilAnswered('all to be answered', () => ahead.text().match(/HTTP\/1\.1 200/g)?.length === 21);
  await noneInFlight();
  const gone = send(query(document(second)) + LIMITS.repeat(20));
  await until('the first to wait for the service', () => callsFor(second).length > 0);
  gone.socket.destroy();
  await noneInFlight();
  // The connection of a client that sends hundreds is closed.
  const { socket } = send(query(document(newHash())) + LIMITS.repeat(300));
  await until('it to be closed', () => socket.destroyed);
  await noneInFlight();
});

it('operations over WebSocket are counted until they are answered', async () => {
  const socket = new WebSocket(
    `ws://127.0.0.1:${(server.address() as AddressInfo).port}/graphql`,
    'graphql-transport-ws',
  );
  await once(socket, 'open');
  socket.send(JSON.stringify({ type: 'connection_init' }));
  await once(socket, 'message');
  const hash = newHash();
  socket.send(JSON.stringify({ type: 'subscribe', id: '1', payload: { query: document(hash) } }));
  await until('it to wait for the service', () => callsFor(hash).length > 0);
  expect(gateway.accessControl.loadShedder.inFlight).toBe(1);
  socket.terminate();
  await noneInFlight();
});

it('requests above the limit are answered 503, and leave none', async () => {
  const waiting = Array.from({ length: MAX_IN_FLIGHT }, () => send(query(document(newHash()))));
  await until('all to be in flight', () => gateway.accessControl.loadShedder.inFlight === MAX_IN_FLIGHT);
  const refused = send(LIMITS);
  expect(await readStatus(refused)).toBe(503);
  expect(refused.text()).toMatch(/\r\nretry-after: 1\r\n/i);
  expect(await readStatus(send(head('GET /health')))).toBe(200);
  for (const { socket } of waiting) socket.destroy();
  await noneInFlight();
  expect(await readStatus(send(LIMITS))).toBe(200);
});

it.each([
  ['a path and a search', 'x/y?'],
  ['a path', 'localhost/health'],
  ['a user', 'a@localhost'],
  ['a fragment', 'x#'],
  ['a backslash', 'x\\health'],
  ['an escape', 'x%2fy'],
  ['a space', 'x y'],
  ['letters of no host name', 'h\u00f6st'],
  ['no number as its port', 'localhost:x'],
  ['half an address', '[::1'],
  ['nothing', ''],
])('500 requests for /health whose Host has %s are refused and leave none', async (_, host) => {
  const attack = Array.from({ length: 500 }, () => `GET /health HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
  const sent = attack.map((bytes) => send(bytes));
  expect(new Set(await Promise.all(sent.map(readStatus)))).toEqual(new Set([400]));
  expect(gateway.accessControl.loadShedder.inFlight).toBe(0);
  expect(await readStatus(send(LIMITS))).toBe(200);
});

it.each([
  ['two Hosts', `GET /health HTTP/1.1\r\n${HOST}host: localhost\r\n\r\n`],
  ['no Host', 'GET /health HTTP/1.1\r\nX: localhost\r\n\r\n'],
  ['an absolute address with a user', head('GET http://a@localhost/health')],
  ['another scheme', head('GET ftp://localhost/health')],
  ['no path', head('OPTIONS *')],
  ['two Hosts of an upgrade', `GET /graphql HTTP/1.1\r\n${HOST}${HOST}${UPGRADE}\r\n`],
  ['no Host of an upgrade', `GET /graphql HTTP/1.1\r\n${UPGRADE}\r\n`],
  ['an invalid Host of an upgrade', `GET /graphql HTTP/1.1\r\nHost: x/y?\r\n${UPGRADE}\r\n`],
])('a request with %s is refused', async (_, bytes) => {
  const sent = send(bytes);
  expect(await readStatus(sent)).toBe(400);
  await until('it to be closed', () => sent.socket.destroyed);
  expect(gateway.accessControl.loadShedder.inFlight).toBe(0);
});

it('HTTP/1.0 needs no Host', async () => {
  expect(await readStatus(send('GET /health HTTP/1.0\r\n\r\n'))).toBe(200);
});

it('path and host of an accepted request are those of its URL, whatever was sent', () => {
  const part = fc.stringMatching(/^[/\\?#@:.%&a-z0-9[\]~ -]{0,12}$/);
  const hosts = fc.oneof(part, fc.constantFrom('localhost', 'LOCALHOST:80', '[::1]:4000', '127.1', 'x.y.'));
  const paths = fc.oneof(
    part.map((text) => `/${text}`),
    fc.tuple(part, part).map(([host, path]) => `http://${host}/${path}`),
    part,
  );
  fc.assert(
    fc.property(hosts, paths, (host, url) => {
      const request = {
        url,
        headers: { host },
        rawHeaders: ['Host', host],
        httpVersionMajor: 1,
        httpVersionMinor: 1,
      };
      if (!normalizeTarget(request)) return;
      const parsed = new URL(`http://${request.headers.host}${request.url}`);
      expect(parsed.pathname + parsed.search).toBe(request.url);
      expect(requestPath(request)).toBe(parsed.pathname);
      expect([parsed.username, parsed.password, parsed.hash]).toEqual(['', '', '']);
    }),
  );
});
