// Clients that do not speak properly, written byte by byte: each gets its answer or is let go, and
// the next is served.
import { connect } from 'node:net';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import type { Sandbox } from '../../src/sandbox.ts';
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

test('a body in chunks is read whole, and refused when it grows over the limit', async () => {
  const chunked = async (text: string) => {
    const stream = new ReadableStream({
      start(controller) {
        for (let at = 0; at < text.length; at += 100_000)
          controller.enqueue(Buffer.from(text.slice(at, at + 100_000)));
        controller.close();
      },
    });
    const headers = { authorization: 'Bearer x', 'content-type': 'application/json' };
    const init = { method: 'POST', headers, body: stream, duplex: 'half' as const };
    const response = await fetch(`${sandbox.url}/api/v1/batch/list`, init);
    return [response.status, await response.text()];
  };
  expect(await chunked('{"batch_id": "none"}')).toEqual([404, expect.stringContaining('none')]);
  expect(await chunked(`{"batch_id": "${'x'.repeat(300_000)}"}`)).toEqual([
    400,
    expect.stringContaining('batch_id'),
  ]);
  expect(await chunked('')).toEqual([400, expect.stringContaining('is empty')]);
  expect(await chunked('x'.repeat(33 * 1024 * 1024))).toEqual([413, expect.stringContaining('larger than')]);
});

test('a client that hangs up in the middle of its body', async () => {
  expect(
    await firstLine(`POST /api/v1/batch/list HTTP/1.1\r\n${head}Content-Length: 100\r\n\r\n{"batch`, 50),
  ).toBe('');
  await new Promise((resolve) => setTimeout(resolve, 50));
});
