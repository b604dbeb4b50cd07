// A name that leads to a public address when it is looked at and inward when it is connected to:
// what counts is the address of the connection. A small name server on loopback changes its
// answers.
import { createSocket } from 'node:dgram';
import { Resolver } from 'node:dns';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Upstream } from '../../src/upstream/http/call.ts';
import { openServiceConnections, type Resolve } from '../../src/upstream/http/connections.ts';
import { download } from '../../src/upstream/http/download.ts';

/** Answers each question for an address with the next of `answers`, time to live 0. */
async function openNames(answers: string[][]) {
  const socket = createSocket('udp4');
  let asked = 0;
  socket.on('message', (message, { port, address }) => {
    const ends = message.indexOf(0, 12) + 5;
    const found = answers[Math.min(asked, answers.length - 1)] ?? [];
    asked += 1;
    const header = Buffer.from(message.subarray(0, 12));
    header.writeUInt16BE(0x8180, 2);
    header.writeUInt16BE(found.length, 6);
    header.writeUInt32BE(0, 8);
    const records = found.map((ip) =>
      Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, ...ip.split('.').map(Number)]),
    );
    socket.send(Buffer.concat([header, message.subarray(12, ends), ...records]), port, address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const resolver = new Resolver({ timeout: 2000, tries: 1 });
  resolver.setServers([`127.0.0.1:${socket.address().port}`]);
  const resolve: Resolve = (hostname, _, done) =>
    resolver.resolve4(hostname, (error, addresses) =>
      done(
        error,
        (addresses ?? []).map((address) => ({ address, family: 4 })),
      ),
    );
  return { resolver, resolve, asked: () => asked, close: () => socket.close() };
}

const inside = createServer((socket) => socket.destroy());
let connected = 0;
inside.on('connection', () => {
  connected += 1;
});
beforeAll(async () => {
  inside.listen(0, '127.0.0.1');
  await once(inside, 'listening');
});
afterAll(() => inside.close());

const upstream: Omit<Upstream, 'connections'> = {
  settings: {
    base: new URL('http://127.0.0.1:9'),
    batchPrefix: '/b',
    atlasPrefix: '/a',
    listLimitField: 'limit',
    listCursorField: 'cursor',
    downloadHosts: [],
  },
  token: 'secret',
  requestId: 'r',
  signal: undefined,
};

it.each([
  ['turns inward after it was looked at', [['8.8.8.8'], ['127.0.0.1']]],
  ['has an inward address among public ones', [['8.8.8.8'], ['8.8.8.8', '127.0.0.1']]],
])('a name that %s is not connected to', async (_, answers) => {
  const names = await openNames(answers);
  const first = await new Promise((done) =>
    names.resolver.resolve4('files.example.org', (_error, found) => done(found)),
  );
  expect(first).toEqual(['8.8.8.8']);
  const connections = openServiceConnections(names.resolve);
  const address = inside.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const error: unknown = await download(
    { ...upstream, connections },
    `https://files.example.org:${port}/x?sig=1`,
  ).catch((reason: unknown) => reason);
  expect(error).toMatchObject({
    message: expect.stringMatching(/does not follow/),
    failure: { code: 'UPSTREAM_DRIFT', retryable: false },
  });
  expect(names.asked()).toBe(2);
  expect(connected).toBe(0);
  await connections.close();
  names.close();
});
