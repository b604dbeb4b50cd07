// The server closes connections of clients that send or take too slowly.
import { once } from 'node:events';
import type { RequestListener, Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { createHttpServer } from '../../src/http/server/http-server.ts';

let server: Server;
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

interface Options {
  readonly socketTimeoutMs?: number;
  readonly answerTimeoutMs?: number;
  readonly maxConnections?: number;
}

/** Connections that the server has closed at once. */
let dropped = 0;

async function listen(
  listener: RequestListener,
  { socketTimeoutMs = 5000, answerTimeoutMs = 10_000, maxConnections = 100 }: Options = {},
): Promise<() => Socket> {
  dropped = 0;
  server = createHttpServer(
    {
      listener,
      connections: {
        opened: () => undefined,
        closed: () => undefined,
        dropped: () => {
          dropped += 1;
        },
      },
    },
    {
      maxConnections,
      socketTimeoutMs,
      answerTimeoutMs,
      headersTimeoutMs: 300,
      requestTimeoutMs: 300,
      checkIntervalMs: 50,
    },
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return () => connect((server.address() as AddressInfo).port, '127.0.0.1').on('error', () => undefined);
}

const GET = 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n';

/** Everything that a connection says until it is closed. */
async function saidBy(socket: Socket): Promise<string> {
  let text = '';
  for await (const chunk of socket) text += String(chunk);
  return text;
}

describe('a server', () => {
  it('answers 408 to headers and bodies that are late, and 431 to headers that are too long', async () => {
    const dial = await listen((request, response) => request.resume().on('end', () => response.end('ok')));
    const cases: [string, RegExp][] = [
      ['GET / HTTP/1.1\r\nHost: loc', /^HTTP\/1.1 408/],
      ['POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n123', /^HTTP\/1.1 408/],
      [`GET / HTTP/1.1\r\nHost: localhost\r\nX: ${'x'.repeat(17_000)}\r\n\r\n`, /^HTTP\/1.1 431/],
    ];
    await Promise.all(
      cases.map(async ([sent, answer]) => {
        const socket = dial();
        socket.write(sent);
        expect(await saidBy(socket)).toMatch(answer);
      }),
    );
  });

  it('closes connections above the limit at once, and takes new ones when others have ended', async () => {
    const dial = await listen((_, response) => response.end('ok'), { maxConnections: 2 });
    const held = [dial(), dial()];
    await Promise.all(held.map((socket) => once(socket, 'connect')));
    const surplus = dial();
    await once(surplus.resume(), 'close');
    expect(dropped).toBe(1);
    held[0]?.destroy();
    await expect.poll(() => new Promise((resolve) => server.getConnections((_, n) => resolve(n)))).toBe(1);
    const next = dial();
    next.write(GET.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n'));
    expect(await saidBy(next)).toMatch(/^HTTP\/1.1 200/);
  });

  it('closes a connection whose client takes nothing of an answer', async () => {
    let isCut = false;
    const dial = await listen(
      (_, response) => {
        response.once('close', () => {
          isCut = !response.writableFinished;
        });
        const more = () => {
          while (!response.destroyed && response.write(Buffer.alloc(65_536)));
        };
        response.on('drain', more);
        more();
      },
      { socketTimeoutMs: 200 },
    );
    const stuck = dial();
    stuck.write(GET);
    await once(stuck, 'readable');
    await expect.poll(() => isCut).toBe(true);
    stuck.destroy();
  });

  it('keeps a connection whose client waits for an answer, such as that of a slow Submit, also the next time', async () => {
    const dial = await listen((_, response) => setTimeout(() => response.end('late'), 1000), {
      socketTimeoutMs: 200,
    });
    const patient = dial();
    patient.write(GET);
    const [first] = await once(patient, 'data');
    expect(String(first)).toMatch(/^HTTP\/1.1 200/);
    patient.write(GET.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n'));
    expect(await saidBy(patient)).toMatch(/late$/);
  });

  it('closes a connection whose answer never begins', async () => {
    const dial = await listen(() => undefined, { socketTimeoutMs: 100, answerTimeoutMs: 500 });
    const stuck = dial();
    stuck.write(GET);
    expect(await saidBy(stuck)).toBe('');
  });

  it('keeps a connection whose client reads slowly', async () => {
    const whole = Buffer.alloc(24 * 1024 * 1024, 'a');
    const dial = await listen((_, response) => response.end(whole), { socketTimeoutMs: 3000 });
    const slow = dial();
    slow.write('GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
    let taken = 0;
    const since = performance.now();
    for await (const chunk of slow) {
      taken += (chunk as Buffer).byteLength;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    expect(performance.now() - since).toBeGreaterThan(3000);
    expect(taken).toBeGreaterThan(whole.byteLength);
  });
});
