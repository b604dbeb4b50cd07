// One address that sends half of its requests, or does not read its answers, takes only its share of the process: others are served
// at once, nothing is buffered for callers who are not known, and what is refused is counted. Over real connections.
import { once } from 'node:events';
import { createServer, request, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { zipSync } from 'fflate';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { readConfig } from '../../src/config.ts';
import { createGateway, type Gateway } from '../../src/gateway.ts';
import { createHttpServer } from '../../src/http/limits/http-server.ts';
import { attachWebSocket } from '../../src/http/websocket/server.ts';
import { testLogger } from '../record.ts';
import { until } from '../subscriptions/support.ts';

const KEY = 'right-key-of-this-test';
const QUERY = JSON.stringify({ query: '{ limits { maxItems } }' });
const HASHES = Array.from({ length: 120 }, (_, i) => i.toString(16).padStart(32, '0'));
/** An answer that no connection holds without its client reading. */
const LARGE = JSON.stringify({
  query: 'query($h: [ProteinHash!]!) { proteins(hashes: $h) { hash structure { text } } }',
  variables: { h: HASHES },
});
const LINES = 'ATOM      1  CA  ALA A   1      11.639   6.071  -5.147  1.00  0.91           C  \n'.repeat(
  1300,
);
const archive = Buffer.from(
  zipSync(
    Object.fromEntries(
      HASHES.map((hash) => [`structures/${hash}.pdb`, Buffer.from(`REMARK ${hash}\n${LINES}`)]),
    ),
    { level: 1 },
  ),
);

let upstream: Server;
/** Answers of the service to single records, which it holds back. */
const held: ServerResponse[] = [];
let gateway: Gateway;
let server: Server;
const lines: string[] = [];
const opened: Socket[] = [];

beforeAll(async () => {
  upstream = createServer((incoming, response) => {
    incoming.resume().on('end', () => {
      if (incoming.method === 'GET') return void held.push(response);
      response.writeHead(200, { 'content-type': 'application/zip' }).end(archive);
    });
  }).listen(0, '127.0.0.1');
  await once(upstream, 'listening');
});
afterAll(() => {
  upstream.closeAllConnections();
  upstream.close();
});
afterEach(async () => {
  for (const socket of opened.splice(0)) socket.destroy();
  for (const response of held.splice(0)) response.destroy();
  server.closeAllConnections();
  server.close();
  await gateway.close();
});

/** Opens a gateway over real connections. */
async function open(env: Record<string, string>): Promise<void> {
  lines.length = 0;
  const { port } = upstream.address() as AddressInfo;
  gateway = createGateway({
    config: readConfig({
      STORE_URL: 'memory:',
      MAX_EVENT_LOOP_DELAY_MS: '0',
      CACHE_RECORDS_SECONDS: '0',
      RATE_LIMIT_PER_MINUTE: '0',
      ...env,
    }),
    upstreamUrl: `http://127.0.0.1:${port}`,
    log: testLogger((line) => lines.push(line)),
  });
  server = createHttpServer(gateway, { maxHeaderBytes: 16_384, slowReaderMs: 120_000 });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
}

const portOf = (): number => (server.address() as AddressInfo).port;

/** Sends something over a connection of its own. @returns what has come back, as far as it is read */
function send(bytes: string | Buffer, localAddress = '127.0.0.1'): { socket: Socket; text: () => string } {
  const socket = connect({ port: portOf(), host: '127.0.0.1', localAddress });
  let text = '';
  socket
    .on('error', () => undefined)
    .on('data', (chunk) => {
      text += String(chunk);
    });
  socket.write(bytes);
  opened.push(socket);
  return { socket, text: () => text };
}

const head = (length: number, headers = ''): string =>
  `POST /graphql HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n${headers}Content-Length: ${length}\r\n\r\n`;
const statusOf = (text: string): number => Number(text.slice(9, 12));
const times = <T>(many: number, make: (i: number) => T): T[] =>
  Array.from({ length: many }, (_, i) => make(i));

/** Asks a whole question from an address, and reads the whole answer. */
function ask(localAddress: string, body = QUERY, headers: Record<string, string> = {}) {
  return new Promise<{ status: number; body: string; headers: Record<string, unknown> }>(
    (resolve, reject) => {
      const asking = request({
        port: portOf(),
        host: '127.0.0.1',
        localAddress,
        path: '/graphql',
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        agent: false,
      });
      asking.on('error', reject).on('response', async (answer) => {
        let text = '';
        for await (const chunk of answer) text += String(chunk);
        resolve({ status: answer.statusCode ?? 0, body: text, headers: answer.headers });
      });
      asking.end(body);
    },
  );
}

/** A number that the gateway tells Prometheus. */
async function metric(name: string): Promise<number> {
  const found = (await gateway.metrics.text())
    .split('\n')
    .find((line) => line.startsWith(`foldatlas_${name} `));
  return Number(found?.split(' ').at(-1) ?? 0);
}
const refusals = (reason: string) => metric(`requests_refused_total{reason="${reason}"}`);
const cutOff = (reason: string) => metric(`clients_cut_off_total{reason="${reason}"}`);

it('500 unfinished bodies hold no place, have a limit of time and are counted', async () => {
  await open({ REQUEST_BODY_SECONDS: '2' });
  const unfinished = times(500, () => send(`${head(QUERY.length)}{`));
  // Where a machine takes longer than their time, the first are over before the last have begun.
  const begun = async () => (await metric('unfinished_bodies')) + (await refusals('slow_body'));
  await until('all to be begun', async () => (await begun()) === 500);
  expect(await metric('request_places')).toBe(0);
  expect((await ask('127.0.0.2')).status).toBe(200);
  expect((await ask('127.0.0.1')).status).toBe(200);
  await until('all to be answered', () => unfinished.every(({ text }) => text().includes('\r\n\r\n')));
  expect(new Set(unfinished.map(({ text }) => statusOf(text())))).toEqual(new Set([408]));
  expect(unfinished[0]?.text()).toMatch(/REQUEST_BODY_SECONDS/);
  expect(await refusals('slow_body')).toBe(500);
  expect([await metric('unfinished_bodies'), await metric('buffered_bytes')]).toEqual([0, 0]);
  expect(lines.filter((line) => line.includes('requests are refused')).length).toBeGreaterThan(0);
  expect(lines.filter((line) => line.includes('"status":408'))).toHaveLength(500);
});

it('bodies that are not complete are shared out by address', async () => {
  await open({ MAX_UNFINISHED_BODIES: '8' });
  const sent = times(8, () => send(`${head(QUERY.length)}{`));
  await until('the share to be taken', async () => (await refusals('unfinished_bodies')) === 2);
  await until('both to be told', () => sent.filter(({ text }) => statusOf(text()) === 503).length === 2);
  expect(sent.find(({ text }) => text() !== '')?.text()).toMatch(/retry-after: 1/i);
  const slow = send(`${head(QUERY.length)}${QUERY.slice(0, 5)}`, '127.0.0.2');
  await until('another to have a place', async () => (await metric('unfinished_bodies')) === 7);
  slow.socket.write(QUERY.slice(5));
  await until('its answer', () => slow.text() !== '');
  expect(statusOf(slow.text())).toBe(200);
  for (const { socket } of sent) socket.destroy();
  await until('all to be free', async () => (await metric('unfinished_bodies')) === 0);
});

it('bytes of bodies are shared out by address, and free when their clients are gone', async () => {
  await open({ MAX_BODY_BYTES: '1000000', MAX_BUFFERED_BYTES: '1400000' });
  const part = Buffer.concat([Buffer.from(head(900_000)), Buffer.alloc(600_000, 32)]);
  const first = send(part);
  await until('the first to be there', async () => (await metric('buffered_bytes')) >= 600_000);
  const second = send(part);
  await until('the second to be refused', async () => (await refusals('buffered_bytes')) === 1);
  await until('it to be told', () => second.text() !== '');
  expect(statusOf(second.text())).toBe(503);
  expect((await ask('127.0.0.2')).status).toBe(200);
  expect((await ask('127.0.0.2', `${QUERY}${' '.repeat(300_000)}`)).status).toBe(200);
  first.socket.destroy();
  await until('all to be free', async () => (await metric('buffered_bytes')) === 0);
});

it.each([
  ['announced', (bytes: Buffer) => Buffer.concat([Buffer.from(head(bytes.length)), bytes])],
  [
    'in chunks',
    (bytes: Buffer) =>
      Buffer.concat([
        Buffer.from(head(0).replace('Content-Length: 0', 'Transfer-Encoding: chunked')),
        Buffer.from(`${bytes.length.toString(16)}\r\n`),
        bytes,
        Buffer.from('\r\n0\r\n\r\n'),
      ]),
  ],
])('a body over the limit, %s, is 413, and one that fits is read', async (_, framed) => {
  await open({ MAX_BODY_BYTES: '100000' });
  const large = send(framed(Buffer.alloc(200_000, 32)));
  await until('an answer', () => large.text() !== '');
  expect(large.text()).toMatch(/^HTTP\/1.1 413 [\s\S]*MAX_BODY_BYTES/);
  const fits = send(framed(Buffer.from(QUERY.padEnd(90_000))));
  await until('an answer', () => fits.text() !== '');
  expect(statusOf(fits.text())).toBe(200);
  await until('all to be free', async () => (await metric('buffered_bytes')) === 0);
  expect(lines.filter((line) => line.includes('"status":413'))).toHaveLength(1);
  expect(lines.filter((line) => line.includes('"level":"error"'))).toEqual([]);
});

it('nothing is read of bodies of callers who have not proved who they are', async () => {
  await open({ UPSTREAM_API_KEY: 'upstream', GATEWAY_API_KEYS: KEY });
  const half = Buffer.alloc(100_000, 32);
  const unknown = ['', 'Authorization: Bearer wrong\r\n'].flatMap((proof) =>
    times(25, () => send(Buffer.concat([Buffer.from(head(16_000_000, proof)), half]))),
  );
  await until('all to be answered', () => unknown.every(({ text }) => text() !== ''));
  expect(new Set(unknown.map(({ text }) => statusOf(text())))).toEqual(new Set([401]));
  expect([await metric('unfinished_bodies'), await metric('buffered_bytes')]).toEqual([0, 0]);
  const known = send(`${head(QUERY.length, `Authorization: Bearer ${KEY}\r\n`)}{`);
  await until('a known one to be read', async () => (await metric('unfinished_bodies')) === 1);
  known.socket.write(QUERY.slice(1));
  await until('its answer', () => known.text() !== '');
  expect(statusOf(known.text())).toBe(200);
});

describe('connections', () => {
  const GET = (path: string, headers = '') => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n${headers}\r\n`;
  const WHOLE = `${head(QUERY.length)}${QUERY}`;
  const UPGRADE =
    'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: eHh4eHh4eHh4eHh4eHh4eA==\r\n';
  const answered = async (sent: ReturnType<typeof send>): Promise<string> => {
    await until('an answer', () => sent.text().includes('\r\n\r\n'));
    return sent.text();
  };

  it('are shared out by address: over those beyond the share only probes are answered', async () => {
    await open({ MAX_CONNECTIONS: '8' });
    const sockets = attachWebSocket(server, gateway, {
      origins: [],
      maxBytes: 1000,
      onFault: (error) => lines.push(String(error)),
    });
    const held = times(6, () => send(''));
    await until('the share to be taken', async () => (await metric('connections')) === 6);
    const beyond = send(WHOLE);
    expect(await answered(beyond)).toMatch(/^HTTP\/1.1 503 [\s\S]*\r\nconnection: close\r\n/i);
    await until('it to be closed', () => beyond.socket.destroyed);
    expect(statusOf(await answered(send(GET('/graphql', UPGRADE))))).toBe(503);
    expect(await refusals('connections')).toBe(1);
    for (const path of ['/health', '/ready', '/metrics'])
      expect([path, statusOf(await answered(send(GET(path))))]).toEqual([path, 200]);
    expect((await ask('127.0.0.2')).status).toBe(200);
    held[0]?.socket.destroy();
    await until('room', async () => (await metric('connections')) < 9);
    expect((await ask('127.0.0.1')).status).toBe(200);
    await sockets.close();
  });

  it('beyond the bound become ordinary ones when others have closed', async () => {
    await open({ MAX_CONNECTIONS: '4' });
    const held = times(3, () => send(''));
    await until('the share to be taken', async () => (await metric('connections')) === 3);
    const waiting = send('');
    await until('one more', async () => (await metric('connections')) === 4);
    for (const { socket } of held) socket.destroy();
    await until('room', async () => (await metric('connections')) === 1);
    waiting.socket.write(WHOLE);
    expect(statusOf(await answered(waiting))).toBe(200);
  });

  it('beyond the bound are closed, those that came first, when there are many, and probes get in', async () => {
    await open({ MAX_CONNECTIONS: '4' });
    const idle = times(200, () => send(''));
    await until('most to be closed', async () => (await cutOff('too_many_connections')) === 200 - 3 - 64);
    await until(
      'their clients to see it',
      () => idle.filter(({ socket }) => socket.destroyed).length === 133,
    );
    expect(await metric('connections')).toBe(67);
    const probe = send(GET('/health'));
    expect(statusOf(await answered(probe))).toBe(200);
    for (const { socket } of [...idle, probe]) socket.destroy();
    await until('all to be free', async () => (await metric('connections')) === 0);
  });

  it('of a proxy have no share of their own, only the total', async () => {
    await open({ MAX_CONNECTIONS: '8', TRUST_PROXY: '1' });
    times(7, () => send(''));
    await until('all to be open', async () => (await metric('connections')) === 7);
    expect(statusOf(await answered(send(WHOLE)))).toBe(200);
    send('');
    await until('one more', async () => (await metric('connections')) === 9);
    expect(statusOf(await answered(send(WHOLE, '127.0.0.2')))).toBe(503);
  });
});

describe('a client that waits for 100 Continue', () => {
  const EXPECT = 'Expect: 100-continue\r\n';
  const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n';

  it('is told to go on when its body is wanted', async () => {
    await open({});
    const { socket, text } = send(head(QUERY.length, EXPECT));
    await until('it to be told', () => text() !== '');
    expect(text()).toBe(CONTINUE);
    socket.write(QUERY);
    await until('its answer', () => text().length > CONTINUE.length);
    expect(statusOf(text().slice(CONTINUE.length))).toBe(200);
    const sent = text().length;
    socket.write(`${head(QUERY.length)}${QUERY}`);
    await until('the next answer', () => text().length > sent);
    expect(statusOf(text().slice(sent))).toBe(200);
  });

  it.each([
    [401, { UPSTREAM_API_KEY: 'upstream', GATEWAY_API_KEYS: KEY }, 100],
    [413, { MAX_BODY_BYTES: '1024' }, 5000],
    [503, { MAX_UNFINISHED_BODIES: '1' }, 100],
  ])('is answered %i at once, without being told to go on', async (status, env, length) => {
    await open(env);
    if (status === 503) {
      send(`${head(QUERY.length)}{`);
      await until('the place to be taken', async () => (await metric('unfinished_bodies')) === 1);
    }
    const { socket, text } = send(head(length, EXPECT));
    await until('its answer', () => socket.destroyed);
    expect(statusOf(text())).toBe(status);
    expect(text()).toMatch(/\r\nconnection: close\r\n/i);
    expect(text()).not.toContain('100 Continue');
  });
});

it('places are shared out by address: while one waits for the service with all it may have, others are served', async () => {
  await open({ MAX_CONCURRENT_REQUESTS: '8' });
  const slow = JSON.stringify({ query: `{ protein(hash: "${HASHES[0]}") { hash length } }` });
  const asked = times(8, (i) => send(`${head(slow.length, `X-Number: ${i}\r\n`)}${slow}`));
  await until('the share to be taken', async () => (await refusals('busy')) === 2);
  expect(await metric('request_places')).toBe(6);
  await until('both to be told', () => asked.filter(({ text }) => statusOf(text()) === 503).length === 2);
  expect((await ask('127.0.0.1')).status).toBe(503);
  expect((await ask('127.0.0.2')).status).toBe(200);
  expect(await refusals('busy')).toBe(3);
  for (const { socket } of asked) socket.destroy();
  await until('all to be free', async () => (await metric('request_places')) === 0);
  expect((await ask('127.0.0.1')).status).toBe(200);
});

it('an answer in parts has its place until its last part', async () => {
  await open({ MAX_CONCURRENT_REQUESTS: '8' });
  const deferred = `{ limits { maxItems } ... @defer { protein(hash: "${HASHES[0]}") { hash length } } }`;
  const body = JSON.stringify({ query: deferred });
  const asked = times(8, (i) =>
    send(`${head(body.length, `Accept: multipart/mixed\r\nX-Number: ${i}\r\n`)}${body}`),
  );
  await until('all to be told', () => asked.every(({ text }) => text() !== ''));
  expect(asked.filter(({ text }) => statusOf(text()) === 503).length).toBe(2);
  expect(await metric('request_places')).toBe(6);
  expect((await ask('127.0.0.2')).status).toBe(200);
  for (const { socket } of asked) socket.destroy();
  await until('all to be free', async () => (await metric('request_places')) === 0);
});

it('counts the address that a trusted proxy tells of', async () => {
  await open({ MAX_CONCURRENT_REQUESTS: '8', TRUST_PROXY: '1' });
  const slow = JSON.stringify({ query: `{ protein(hash: "${HASHES[0]}") { hash length } }` });
  const from = (address: string) => ({ 'x-forwarded-for': address });
  times(8, () => send(`${head(slow.length, 'X-Forwarded-For: 203.0.113.1\r\n')}${slow}`));
  await until('the share to be taken', async () => (await refusals('busy')) === 2);
  expect((await ask('127.0.0.1', QUERY, from('203.0.113.1'))).status).toBe(503);
  expect((await ask('127.0.0.1', QUERY, from('203.0.113.2'))).status).toBe(200);
});

it('clients that read nothing or too little of large answers are cut off, and others are served meanwhile', async () => {
  await open({ MAX_CONCURRENT_REQUESTS: '8', SLOW_READER_SECONDS: '1' });
  const readers = times(12, (i) => {
    const { socket } = send(`${head(LARGE.length)}${LARGE}`);
    socket.pause();
    // Half of them read a little now and then.
    const reading = setInterval(() => i % 2 === 0 && socket.read(1000), 100);
    socket.once('close', () => clearInterval(reading));
    return socket;
  });
  await until('the share to be taken', async () => (await refusals('busy')) === 6);
  expect((await ask('127.0.0.2')).status).toBe(200);
  const whole = await ask('127.0.0.2', LARGE);
  expect([whole.status, whole.body.length > HASHES.length * 100_000]).toEqual([200, true]);
  await until('all to be cut off', async () => (await metric('request_places')) === 0);
  expect(await cutOff('slow_reader')).toBe(6);
  expect((await ask('127.0.0.1')).status).toBe(200);
  for (const socket of readers) socket.destroy();
  await until('all to be free', async () => (await metric('buffered_bytes')) === 0);
});

it('clients for which more waits than the share of their address are cut off, those who wait longest first', async () => {
  await open({ MAX_BODY_BYTES: '200000', MAX_BUFFERED_BYTES: '600000' });
  times(12, () => send(`${head(LARGE.length)}${LARGE}`).socket.pause());
  await until('some to be cut off', async () => (await cutOff('too_much_unread')) >= 8);
  expect((await ask('127.0.0.2', LARGE)).status).toBe(200);
  expect(await cutOff('slow_reader')).toBe(0);
});

it('requests that were sent ahead of answers take no place, and leave nothing when their connection closes', async () => {
  await open({ MAX_CONCURRENT_REQUESTS: '8' });
  const slow = JSON.stringify({ query: `{ protein(hash: "${HASHES[0]}") { hash length } }` });
  const ahead = send(`${head(slow.length)}${slow}${`${head(QUERY.length)}${QUERY}`.repeat(20)}`);
  await until('the first to wait for the service', () => held.length === 1);
  expect([await metric('request_places'), await metric('buffered_bytes')]).toEqual([1, slow.length]);
  await until('all to be answered in turn', () => {
    for (const response of held.splice(0)) response.writeHead(404).end();
    return ahead.text().match(/HTTP\/1\.1 200/g)?.length === 21;
  });
  const gone = send(`${head(slow.length)}${slow}${`${head(QUERY.length)}${QUERY}`.repeat(20)}`);
  await until('the first to wait for the service', () => held.length === 1);
  gone.socket.destroy();
  await until('all to be free', async () => (await metric('request_places')) === 0);
  expect(await metric('buffered_bytes')).toBe(0);
  expect(await refusals('busy')).toBe(0);
});

it('a connection that sends hundreds of requests ahead of answers is closed', async () => {
  await open({});
  const slow = JSON.stringify({ query: `{ protein(hash: "${HASHES[0]}") { hash length } }` });
  const { socket } = send(
    `${head(slow.length)}${slow}${'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(300)}`,
  );
  await until('it to be closed', () => socket.destroyed);
  expect((await ask('127.0.0.1')).status).toBe(200);
});

it('connections are accepted before the requests of others begin', async () => {
  await open({});
  let accepted = 0;
  let atFirstAnswer = 0;
  server.on('connection', () => {
    accepted += 1;
  });
  const sent = times(200, () => send(`${head(QUERY.length)}${QUERY}`));
  for (const { socket } of sent)
    socket.once('data', () => {
      atFirstAnswer ||= accepted;
    });
  await until('all to be answered', () => sent.every(({ text }) => statusOf(text()) === 200));
  // As many as the machine accepts while requests wait; if these did not wait, the first few.
  expect(atFirstAnswer).toBeGreaterThan(10);
});
