// A request is certain not to have been sent only when there was no connection.
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { networkFailure, UpstreamError } from '../../src/upstream/errors.ts';
import { openAgent } from '../../src/upstream/http/connections.ts';

let onConnection: (socket: Socket) => void = () => undefined;
const server = createServer((socket) => {
  socket.on('error', () => undefined);
  onConnection(socket);
});
let address = '';
beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => server.close());

/** Sends a request that fails. @returns whether the failure says that it may have been sent */
async function maySent(origin: string, options: Parameters<typeof openAgent>[0] = {}): Promise<boolean> {
  const agent = openAgent(options);
  try {
    const { body } = await agent.request({ origin, path: '/', method: 'POST', body: 'x' });
    await body.text();
  } catch (error) {
    const failure = networkFailure('submit', error, undefined);
    if (failure instanceof UpstreamError) return failure.failure.sent !== false;
  } finally {
    await agent.close();
  }
  throw new Error('It did not fail.');
}

describe('a request that fails', () => {
  it.each([
    'ENOTFOUND',
    'EAI_AGAIN',
    'ECONNRESET',
  ])('was not sent when its name is not found: %s', async (code) => {
    const lookup = (_: string, __: unknown, done: (error: NodeJS.ErrnoException, address: string) => void) =>
      done(Object.assign(new Error(code), { code, syscall: 'getaddrinfo' }), '');
    expect(await maySent('http://service.test', { lookup })).toBe(false);
  });

  it('was not sent when no address takes the connection', async () => {
    const gone = createServer().listen(0, '127.0.0.1');
    await once(gone, 'listening');
    const { port } = gone.address() as AddressInfo;
    gone.close();
    await once(gone, 'close');
    expect(await maySent(`http://127.0.0.1:${port}`)).toBe(false);
    expect(await maySent(`http://localhost:${port}`)).toBe(false);
  });

  it('was not sent when TLS fails or is broken off', async () => {
    onConnection = (socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n');
    expect(await maySent(`https://${address}`)).toBe(false);
    onConnection = (socket) => socket.destroy();
    expect(await maySent(`https://${address}`)).toBe(false);
    onConnection = (socket) => socket.once('data', () => socket.resetAndDestroy());
    expect(await maySent(`https://${address}`)).toBe(false);
  });

  it('may have been sent when the connection breaks afterwards', async () => {
    for (const breakOff of ['destroy', 'resetAndDestroy', 'end'] as const) {
      onConnection = (socket) => socket.once('data', () => socket[breakOff]());
      expect(await maySent(`http://${address}`)).toBe(true);
    }
    onConnection = (socket) => socket.end('no HTTP\r\n\r\n');
    expect(await maySent(`http://${address}`)).toBe(true);
  });
});
