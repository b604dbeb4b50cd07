// Requests that come again byte for byte are answered from the connection: the same answers in the same order as node:http gives, whatever
// comes between them and however it is cut, and they are counted and logged as any request.
import { once } from 'node:events';
import type { Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import WebSocket from 'ws';
import { readConfig } from '../../src/config.ts';
import { createGateway, type Gateway } from '../../src/gateway.ts';
import { openServer } from '../../src/load/server-limits.ts';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts';
import { attachWebSocket } from '../../src/websocket.ts';
import { testLogger } from '../record.ts';

const MYOGLOBIN = 'b840eb6446f9f188023424af40675a36';

interface Place {
  readonly gateway: Gateway;
  readonly server: Server;
  readonly port: number;
  /** Requests that node:http has read. */
  readonly read: () => number;
  /** What was logged of requests. */
  readonly lines: Record<string, unknown>[];
  close(): Promise<void>;
}

let sandbox: Sandbox;
let place: Place;

async function open(env: Record<string, string> = {}, headersMs = 20_000): Promise<Place> {
  const lines: Record<string, unknown>[] = [];
  const gateway = createGateway({
    config: readConfig({ STORE_URL: 'memory:', MAX_EVENT_LOOP_DELAY_MS: '0', ...env }),
    upstreamUrl: sandbox.url,
    log: testLogger((line) => void (line.includes('"message":"request"') && lines.push(JSON.parse(line)))),
  });
  const server = openServer(gateway, {
    maxHeaderBytes: 16_384,
    slowReaderMs: 30_000,
    headersMs,
    checkEveryMs: 50,
  });
  const sockets = attachWebSocket(server, gateway, { origins: [], maxBytes: 100_000 });
  let count = 0;
  server.on('request', () => {
    count += 1;
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    gateway,
    server,
    port: (server.address() as AddressInfo).port,
    read: () => count,
    lines,
    async close() {
      await sockets.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await gateway.close();
    },
  };
}

beforeAll(async () => {
  sandbox = await startSandbox({ size: 'small' });
  place = await open({ RATE_LIMIT_PER_MINUTE: '100000' });
});
afterAll(async () => {
  await place.close();
  await sandbox.close();
});

const post = (query: string, headers = '', variables: unknown = undefined): string => {
  const body = JSON.stringify({ query, variables });
  return `POST /graphql HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: application/json\r\n${headers}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
};
const get = (path: string, headers = ''): string =>
  `GET ${path} HTTP/1.1\r\nHost: localhost\r\nAccept: application/json\r\n${headers}\r\n`;

const FEATURES = post('{ features(first: 2) { nodes { index label } } }');
const OTHER = post('query Other { features(first: 1) { nodes { index } } }');
const BY_GET = get(`/graphql?query=${encodeURIComponent('{ features(first: 3) { nodes { index } } }')}`);
const REFUSED = post('{ nothing }');
const PICTURE = get(`/thumbnails/${MYOGLOBIN}/plddt.png`);

/** One answer as it came over a connection. */
interface Given {
  readonly head: string;
  readonly body: string;
}

/** Reads answers of known length off a connection, in turn. */
function reader(socket: Socket): () => Promise<Given> {
  let text = '';
  socket.on('data', (chunk) => {
    text += chunk.toString('latin1');
  });
  const taken = (): Given | undefined => {
    const end = text.indexOf('\r\n\r\n');
    if (end < 0) return undefined;
    const head = text.slice(0, end);
    const length = Number(/^content-length: (\d+)$/im.exec(head)?.[1] ?? 0);
    if (text.length < end + 4 + length) return undefined;
    const body = text.slice(end + 4, end + 4 + length);
    text = text.slice(end + 4 + length);
    return { head, body };
  };
  return async () => {
    for (;;) {
      const given = taken();
      if (given !== undefined) return given;
      await once(socket, 'data', { signal: AbortSignal.timeout(5_000) });
    }
  };
}

async function dial(to: Place = place): Promise<{ socket: Socket; next: () => Promise<Given> }> {
  const socket = connect(to.port, '127.0.0.1').on('error', () => undefined);
  await once(socket, 'connect');
  return { socket, next: reader(socket) };
}

/** Asks so often, each time when the last answer is there, and tells how many of them node:http has read. */
async function ask(
  request: string,
  times: number,
  to: Place = place,
): Promise<{ given: Given[]; read: number }> {
  const { socket, next } = await dial(to);
  const before = to.read();
  const given: Given[] = [];
  for (let i = 0; i < times; i += 1) {
    socket.write(request, 'latin1');
    given.push(await next());
  }
  socket.destroy();
  return { given, read: to.read() - before };
}

/** Without what no two answers share. */
const shared = ({ head, body }: Given): Given => ({
  head: head.replace(/^(x-request-id|traceresponse|date|ratelimit-remaining|ratelimit-reset): .*$/gim, '$1'),
  body,
});

/** Asks until it is answered from the connection. */
async function learnt(request: string, to: Place = place): Promise<void> {
  const { read } = await ask(request, 8, to);
  expect(read).toBeLessThan(8);
}

describe('a request that comes again byte for byte', () => {
  it.each([
    ['of a query', FEATURES],
    ['of a query by GET', BY_GET],
  ])('%s is answered with the same bytes without being read', async (_, request) => {
    const { given, read } = await ask(request, 10);
    expect(read).toBeLessThan(6);
    // The first has gone the long way, which gives the same headers in another order.
    const [long, ...short] = given.map(shared);
    expect(new Set(short.map((one) => JSON.stringify(one))).size).toBe(1);
    expect(short[0]?.body).toBe(long?.body);
    expect(given[0]?.head).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    const ids = given.map(({ head }) => /^x-request-id: (.+)$/im.exec(head)?.[1]);
    expect(new Set(ids).size).toBe(10);
  });

  it.each([
    ['an answer', BY_GET],
    ['a picture', PICTURE],
  ])('is told again that the client has %s', async (_, request) => {
    const { given } = await ask(request, 1);
    const etag = /^etag: (.+)$/im.exec(given[0]?.head ?? '')?.[1];
    const again = await ask(get(request.split(' ')[1] ?? '', `If-None-Match: ${etag}\r\n`), 8);
    expect(again.read).toBeLessThan(6);
    for (const { head, body } of again.given) {
      expect(head).toMatch(/^HTTP\/1\.1 304 Not Modified\r\n/);
      expect(body).toBe('');
    }
    expect(new Set(again.given.slice(1).map((one) => JSON.stringify(shared(one)))).size).toBe(1);
  });

  it('is read when its answer is large', async () => {
    const { given, read } = await ask(PICTURE, 6);
    expect(read).toBe(6);
    expect(given.at(-1)?.body.length).toBeGreaterThan(65_536);
  });

  it('is read by whoever says something of its own, or has to be known', async () => {
    const own = [
      'Authorization: Bearer some-token-of-a-caller\r\n',
      'Cookie: a=b\r\n',
      'X-Request-Id: abcdefgh-1\r\n',
      'Traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\r\n',
    ];
    for (const header of own) {
      const { read, given } = await ask(post('{ features(first: 2) { nodes { index label } } }', header), 6);
      expect([header, read]).toEqual([header, 6]);
      expect(given.at(-1)?.head).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    }
    const closing = post('{ features(first: 2) { nodes { index label } } }', 'Connection: close\r\n');
    expect((await ask(closing, 1)).given[0]?.head).toMatch(/connection: close/i);
  });

  it('is never a refusal, nor a mutation', async () => {
    expect((await ask(REFUSED, 6)).read).toBe(6);
    const cancel = post('mutation { cancelBatch(batchId: "b") { __typename } }');
    expect((await ask(cancel, 6)).read).toBe(6);
  });

  it('is counted, logged and limited as any other', async () => {
    const own = await open({ RATE_LIMIT_PER_MINUTE: '40' });
    try {
      const { given, read } = await ask(FEATURES, 60, own);
      const statuses = given.map(({ head }) => head.slice(9, 12));
      expect(read).toBeLessThan(40);
      expect(statuses.filter((status) => status === '200')).toHaveLength(40);
      expect(statuses.lastIndexOf('200')).toBeLessThan(statuses.indexOf('429'));
      const metrics = await own.gateway.metrics.text();
      expect(metrics).toMatch(
        /^foldatlas_http_requests_total\{route="\/graphql",method="POST",status="200"\} 40$/m,
      );
      expect(metrics).toMatch(
        /^foldatlas_operations_total\{type="query",name="anonymous",outcome="ok"\} 40$/m,
      );
      expect(metrics).toMatch(/^foldatlas_requests_in_flight 0$/m);
      const told = own.lines.filter(({ status }) => status === 200);
      expect(told).toHaveLength(40);
      expect(new Set(told.map(({ route }) => route))).toEqual(new Set(['/graphql']));
      expect(told.at(-1)).toMatchObject({
        method: 'POST',
        route: '/graphql',
        operation: 'query',
        upstreamCalls: 0,
      });
      expect(told.at(-1)?.bytes).toBe((given[39]?.head.length ?? 0) + 4 + (given[39]?.body.length ?? 0));
      expect(own.gateway.pressure.underWay).toBe(0);
    } finally {
      await own.close();
    }
  });
});

describe('a connection', () => {
  it('lasts as long as it is used, though node:http reads no more of it', async () => {
    const own = await open({ RATE_LIMIT_PER_MINUTE: '0' }, 300);
    try {
      await learnt(FEATURES, own);
      const { socket, next } = await dial(own);
      const since = performance.now();
      while (performance.now() - since < 900) {
        socket.write(FEATURES);
        expect((await next()).head).toMatch(/^HTTP\/1\.1 200 OK/);
      }
      socket.destroy();
    } finally {
      await own.close();
    }
  });

  it('may become a WebSocket beside others that repeat', async () => {
    await learnt(FEATURES);
    const socket = new WebSocket(`ws://127.0.0.1:${place.port}/graphql`, 'graphql-transport-ws');
    await once(socket, 'open');
    socket.send(JSON.stringify({ type: 'connection_init' }));
    const [ack] = await once(socket, 'message');
    expect(JSON.parse(String(ack))).toMatchObject({ type: 'connection_ack' });
    socket.send(
      JSON.stringify({
        id: '1',
        type: 'subscribe',
        payload: { query: '{ features(first: 1) { nodes { index } } }' },
      }),
    );
    const [next] = await once(socket, 'message');
    expect(JSON.parse(String(next))).toMatchObject({
      type: 'next',
      payload: { data: { features: { nodes: [{ index: 0 }] } } },
    });
    socket.close();
    await once(socket, 'close');
  });

  it('is closed when it is idle and the server stops', async () => {
    const own = await open();
    await learnt(FEATURES, own);
    const { socket, next } = await dial(own);
    for (let i = 0; i < 3; i += 1) {
      socket.write(FEATURES);
      await next();
    }
    const closed = once(socket, 'close');
    own.server.close();
    own.server.closeIdleConnections();
    await closed;
    await own.gateway.close();
  });

  it('is answered in turn, whatever comes and however it is cut', async () => {
    await learnt(FEATURES);
    await learnt(OTHER);
    await learnt(BY_GET);
    // One that nobody has sent stands in the body of another, and in the headers of a third, where each may come in a piece of its own.
    const inBody = `POST /graphql HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\nContent-Length: ${7 + FEATURES.length}\r\n\r\n${'x'.repeat(7)}${FEATURES}`;
    const inHead = `${BY_GET.split('\r\n')[0]}\r\nX-Other: ${FEATURES}`;
    const chunked = `POST /graphql HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: application/json\r\nTransfer-Encoding: chunked\r\n\r\n10\r\n{"query":"{ __ty\r\n9\r\npename }"\r\n1\r\n}\r\n0\r\n\r\n`;
    const all = [FEATURES, OTHER, BY_GET, REFUSED, inBody, inHead, chunked];
    const alone = await Promise.all(all.map(async (one) => (await ask(one, 1)).given[0]?.body));
    expect(new Set(alone.slice(0, 5)).size).toBe(5);
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 0, max: all.length - 1 }), { minLength: 1, maxLength: 7 }),
        fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 3 }),
        fc.array(fc.boolean(), { minLength: 16, maxLength: 16 }),
        async (which, anywhere, isCut) => {
          const { socket, next } = await dial();
          socket.setNoDelay(true);
          const bytes = Buffer.from(which.map((n) => all[n]).join(''), 'latin1');
          // Between two requests, before one that stands in another, and anywhere.
          let end = 0;
          const seams = which.flatMap((n) => {
            end += all[n]?.length ?? 0;
            return n === 4 || n === 5 ? [end - FEATURES.length, end] : [end];
          });
          const at = [
            ...anywhere.map((cut) => Math.floor(cut * bytes.length)),
            ...seams.filter((_, n) => isCut[n]),
          ];
          const places = [...new Set([0, ...at, bytes.length])].sort((a, b) => a - b);
          const given = (async () => {
            const bodies: string[] = [];
            for (const _ of which) bodies.push((await next()).body);
            return bodies;
          })();
          for (const [n, from] of places.slice(0, -1).entries()) {
            socket.write(bytes.subarray(from, places[n + 1]));
            await new Promise((resolve) => setImmediate(resolve));
          }
          expect(await given).toEqual(which.map((n) => alone[n]));
          socket.destroy();
        },
      ),
      { numRuns: 300 },
    );
  });
});
