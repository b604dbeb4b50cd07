// Clients that do not speak properly, written byte by byte: each gets its answer or is let go, and the next is served.
import { connect } from 'node:net';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import type { Sandbox } from '../../src/sandbox/sandbox.ts';
import { client, startHeld } from './harness.ts';

let sandbox: Sandbox;
const logged = vi.spyOn(console, 'error');

beforeAll(async () => {
  ({ sandbox } = await startHeld());
});
afterAll(() => sandbox.close());
afterEach(async () => {
  expect((await client(sandbox.url)('list', { batch_id: 'x' })).status).toBe(404);
  expect(logged).not.toHaveBeenCalled();
});

/** Sends bytes and reads until the answer's first line, or until the connection ends. */
function firstLine(bytes: string, hangUpAfter?: number): Promise<string> {
  const { hostname, port } = new URL(sandbox.url);
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname, () => socket.write(bytes));
    let read = '';
    socket.on('data', (chunk) => {
      read += chunk.toString('latin1');
      if (read.includes('\r\n')) socket.destroy();
    });
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(read.split('\r\n')[0] ?? ''));
    if (hangUpAfter !== undefined) setTimeout(() => socket.destroy(), hangUpAfter);
  });
}

const head = 'Host: x\r\nAuthorization: Bearer x\r\nContent-Type: application/json\r\n';

test.each([
  ['no HTTP', 'HELLO\r\n\r\n', 'HTTP/1.1 400 Bad Request'],
  ['no host', 'GET / HTTP/1.1\r\n\r\n', 'HTTP/1.1 400 Bad Request'],
  ['an odd target', `GET //[:: HTTP/1.1\r\n${head}\r\n`, 'HTTP/1.1 404 Not Found'],
  ['a broken escape', `GET /downloads/results/%ZZ.json HTTP/1.1\r\n${head}\r\n`, 'HTTP/1.1 403 Forbidden'],
  ['another method', `OPTIONS /api/v1/batch/list HTTP/1.1\r\n${head}\r\n`, 'HTTP/1.1 405 Method Not Allowed'],
  [
    'a body in chunks',
    `POST /api/v1/batch/list HTTP/1.1\r\n${head}Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`,
    'HTTP/1.1 400 Bad Request',
  ],
  [
    'headers without end',
    `GET / HTTP/1.1\r\n${'X-A: b\r\n'.repeat(5000)}\r\n`,
    'HTTP/1.1 431 Request Header Fields Too Large',
  ],
])('%s', async (_name, bytes, line) => {
  expect(await firstLine(bytes)).toBe(line);
});

test('a client that hangs up in the middle of its body', async () => {
  expect(
    await firstLine(`POST /api/v1/batch/list HTTP/1.1\r\n${head}Content-Length: 100\r\n\r\n{"batch`, 50),
  ).toBe('');
  await new Promise((resolve) => setTimeout(resolve, 50));
});
