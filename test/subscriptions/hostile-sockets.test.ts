// Hostile WebSocket clients: large or malformed first messages, wrong credentials, upgrades that
// are refused.
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { connect as open, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import WebSocket from 'ws';
import { type Sandbox, startSandbox } from '../../sandbox/src/sandbox.ts';
import type { Gateway } from '../../src/gateway.ts';
import { type ServerProcess, startServer } from '../system/server-process.ts';
import { type Served, serve } from './streams.ts';
import { openGateway, until } from './support.ts';

const ACK = JSON.stringify({ type: 'connection_ack' });

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await startSandbox({ size: 'small' });
});
afterAll(() => sandbox.close());

const connect = (url: string): WebSocket => new WebSocket(url.replace('http', 'ws'), 'graphql-transport-ws');

/** Says something as the first message. @returns the close code, or what the server says first */
const said = (url: string, message: string): Promise<number | string> =>
  new Promise((resolve) => {
    const socket = connect(url);
    socket.on('open', () => socket.send(message));
    socket.on('message', (text) => {
      resolve(String(text));
      socket.close();
    });
    socket.on('close', resolve);
    // A client that is cut off while it sends.
    socket.on('error', () => undefined);
  });

const init = (payload: unknown): string => JSON.stringify({ type: 'connection_init', payload });

describe('the first message of a socket', () => {
  let served: Served;
  let gateway: Gateway;
  let close: () => Promise<void>;
  beforeAll(async () => {
    gateway = openGateway(sandbox.url, {
      UPSTREAM_API_KEY: 'upstream',
      GATEWAY_API_KEYS: 'good-key-of-this-test',
    });
    served = await serve(gateway, [], { maxBytes: 16_000_000 });
    close = async () => {
      await served.close();
      await gateway.close();
    };
  });
  afterAll(() => close());

  it('has 8 KiB at most, whatever a later message may have', async () => {
    expect(await said(served.url, init({ token: 'good-key-of-this-test', note: 'n'.repeat(7_000) }))).toBe(
      ACK,
    );
    expect(await said(served.url, init({ token: 'good-key-of-this-test', note: 'n'.repeat(9_000) }))).toBe(
      1006,
    );
    expect(await said(served.url, init({ note: 'n'.repeat(5_000_000) }))).toBe(1006);
    // In parts that never end, too.
    const slow = connect(served.url);
    const ended = new Promise<number>((resolve) => slow.on('close', resolve));
    slow.on('error', () => undefined);
    await once(slow, 'open');
    for (let i = 0; i < 20; i += 1) slow.send('n'.repeat(1_000), { fin: false });
    expect(await ended).toBe(1006);
    const later = connect(served.url);
    await once(later, 'open');
    later.send(init({ token: 'good-key-of-this-test' }));
    await once(later, 'message');
    const answer = once(later, 'message');
    const query = `{ limits { maxItems } } #${'x'.repeat(9_000)}`;
    later.send(JSON.stringify({ type: 'subscribe', id: '1', payload: { query } }));
    expect(String((await answer)[0])).toContain('"maxItems":2000');
    later.close();
  });

  it('has operations with short ids, which each answer repeats', async () => {
    const socket = connect(served.url);
    await once(socket, 'open');
    socket.send(init({ token: 'good-key-of-this-test' }));
    await once(socket, 'message');
    const subscribe = (id: string) =>
      socket.send(JSON.stringify({ type: 'subscribe', id, payload: { query: '{ __typename }' } }));
    const answer = once(socket, 'message');
    subscribe('i'.repeat(200));
    expect(JSON.parse(String((await answer)[0]))).toMatchObject({ type: 'next', id: 'i'.repeat(200) });
    const closed = once(socket, 'close');
    subscribe('i'.repeat(900_000));
    expect((await closed).map(String)).toEqual(['4400', 'The id of an operation has at most 200 characters']);
  });

  it('is not read to its end when it is too large', async () => {
    const connected = new Promise<Socket>((resolve) => served.server.once('connection', resolve));
    const socket = connect(served.url);
    socket.on('error', () => undefined);
    const connection = await connected;
    await once(socket, 'open');
    const closed = once(connection, 'close');
    socket.send(init({ note: 'n'.repeat(15_000_000) }));
    await closed;
    // One read of a socket is 64 KiB.
    expect(connection.bytesRead).toBeLessThan(200_000);
  });

  it('closes the socket with 4401 without valid credentials', async () => {
    for (const payload of [
      undefined,
      {},
      { token: 'guess' },
      { authorization: 'Basic good-key-of-this-test' },
      { token: 5 },
    ])
      expect(await said(served.url, init(payload)), JSON.stringify(payload)).toBe(4401);
    expect(await said(served.url, init({ token: 'good-key-of-this-test' }))).toBe(ACK);
    const header = 'Bearer good-key-of-this-test';
    expect(await said(served.url, init({ AUTHORIZATION: header, token: 'guess' }))).toBe(ACK);
  });

  it('reaches neither standard error nor the log, however malformed', async () => {
    const written: string[] = [];
    const { error, warn } = console;
    console.error = console.warn = (...words: unknown[]) => void written.push(words.map(String).join(' '));
    for (const token of ['secret\nx', 'secret\u0000', 'sécret', 'secret🧬']) {
      expect(await said(served.url, init({ token }))).toBe(4401);
      expect(await said(served.url, init({ authorization: `Bearer ${token}` }))).toBe(4401);
    }
    for (const message of ['', 'secret', '{}', '{"type":"secret"}', '[]', '{"type":"subscribe","id":7}'])
      expect(await said(served.url, message)).toBe(4400);
    const broken = connect(served.url);
    broken.on('error', () => undefined);
    const closed = once(broken, 'close');
    await once(broken, 'open');
    const raw: unknown = Reflect.get(broken, '_socket');
    if (typeof raw === 'object' && raw !== null && 'write' in raw) (raw as Socket).write('\xff\xff secret');
    await closed;
    Object.assign(console, { error, warn });
    expect(written).toEqual([]);
    expect(await gateway.metrics.text()).toMatch(/code="INTERNAL_SERVER_ERROR"\} 0$/m);
  });
});

const HEAD = 'Host: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n';
const HANDSHAKE = 'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: MDEyMzQ1Njc4OTAxMjM0NQ==\r\n';

/** Upgrades that are refused, each with bytes behind its head. */
const REFUSED: Readonly<Record<string, string>> = {
  'another path': `GET /other HTTP/1.1\r\n${HEAD}${HANDSHAKE}\r\n`,
  'a path that is none': `GET // HTTP/1.1\r\n${HEAD}${HANDSHAKE}\r\n`,
  'a host that is none': `GET /graphql HTTP/1.1\r\n${HEAD.replace('localhost', '[::1')}${HANDSHAKE}\r\n`,
  'a foreign page': `GET /graphql HTTP/1.1\r\n${HEAD}Origin: https://evil.example\r\n${HANDSHAKE}\r\n`,
  'no key': `GET /graphql HTTP/1.1\r\n${HEAD}Sec-WebSocket-Version: 13\r\n\r\n`,
  'another version': `GET /graphql HTTP/1.1\r\n${HEAD}${HANDSHAKE.replace('13', '7')}\r\n`,
};

describe('a server that refuses upgrades', () => {
  let server: ServerProcess;
  beforeAll(async () => {
    server = await startServer({
      STORE_URL: 'memory:',
      UPSTREAM_URL: sandbox.url,
      SHUTDOWN_SECONDS: '3',
    });
  });
  afterAll(() => server.end('SIGKILL'));

  /** Sockets that the process holds. */
  const descriptors = (): number => readdirSync(`/proc/${server.child.pid}/fd`).length;

  const send = (text: string): Socket => {
    const port = Number(new URL(server.url).port);
    const socket = open({ port, host: '127.0.0.1', allowHalfOpen: true });
    socket.on('error', () => undefined);
    socket.write(text);
    return socket;
  };

  it('closes each of them, also with bytes behind its head and a client that stays', async () => {
    await server.ask('{ limits { maxItems } }');
    await sleep(200);
    const before = descriptors();
    const sockets = Object.values(REFUSED).flatMap((text) =>
      Array.from({ length: 10 }, () => send(`${text}${'behind the head '.repeat(100)}`)),
    );
    // These are accepted, and the bytes behind their head are no frame.
    for (let i = 0; i < 200; i += 1)
      sockets.push(send(`GET /graphql HTTP/1.1\r\n${HEAD}${HANDSHAKE}\r\n${'x'.repeat(100)}`));
    const answers = await Promise.all(
      sockets.map((socket) => once(socket, 'data').then(([text]) => String(text))),
    );
    expect(answers.filter((text) => /^HTTP\/1.1 4\d\d /.test(text)).length).toBe(60);
    await until('every descriptor to be back', () => descriptors() <= before);
    for (const socket of sockets) socket.destroy();
  });

  it('ends in time after SIGTERM all the same', async () => {
    const sockets = Object.values(REFUSED).map((text) => send(`${text}${'x'.repeat(5_000)}`));
    await sleep(100);
    // At the end of its time it would end with 1, and say so.
    expect(await server.end('SIGTERM')).toBe(0);
    expect(server.log()).toBe('');
    for (const socket of sockets) socket.destroy();
  });
});
