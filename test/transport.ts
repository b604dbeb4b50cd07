// Tests reach a gateway by `gateway.fetch` or, with TEST_THROUGH=listener, over a socket of
// loopback through the same server as in production.
import { Agent, type ClientRequest, type IncomingMessage, request as openRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Gateway } from '../src/gateway.ts';
import { createHttpServer } from '../src/http/server/http-server.ts';

/** The headers that node:http adds, and Date; an answer of `gateway.fetch` has none of it. */
const OF_CONNECTIONS = new Set(['connection', 'keep-alive', 'transfer-encoding', 'date']);
const WITHOUT_BODY = new Set([204, 205, 304]);

/** Sends requests to one place, whatever name they are for. */
export interface Sender {
  send(request: Request): Promise<Response>;
  close(): void;
}

function toHeaders(answer: IncomingMessage): Headers {
  const headers = new Headers();
  for (let i = 0; i < answer.rawHeaders.length; i += 2) {
    const [name = '', value = ''] = answer.rawHeaders.slice(i, i + 2);
    // Node gives the bytes of a header as latin1, as Headers wants them.
    if (!OF_CONNECTIONS.has(name.toLowerCase())) headers.append(name, value);
  }
  return headers;
}

/** A body as it comes; leaving it ends the connection. */
function toStream(answer: IncomingMessage): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        answer.pause();
        answer.on('data', (chunk: Buffer) => {
          answer.pause();
          controller.enqueue(new Uint8Array(chunk));
        });
        answer.once('end', () => controller.close());
        // After its end, or after `cancel`, no event follows.
        answer.once('error', (error) => controller.error(error));
      },
      pull: () => void answer.resume(),
      cancel: () => void answer.destroy(),
    },
    { highWaterMark: 0 },
  );
}

/** Sends what is there at once with its length, as clients do; what comes later in parts. */
async function sendBody(from: ReadableStream<Uint8Array>, to: ClientRequest): Promise<void> {
  const reader = from.getReader();
  const ready: Uint8Array[] = [];
  const soon = () => new Promise<'late'>((resolve) => setImmediate(resolve, 'late'));
  let next = reader.read();
  for (;;) {
    const part = await Promise.race([next, soon()]);
    if (part === 'late') break;
    if (part.done) return void to.end(Buffer.concat(ready));
    ready.push(part.value);
    next = reader.read();
  }
  for (const part of ready) to.write(part);
  for (let part = await next; !part.done; part = await reader.read()) to.write(part.value);
  to.end();
}

/**
 * Opens a way to what listens on a port of loopback. @param keepAlive - whether connections are
 * used again
 */
export function openSender(port: () => Promise<number>, keepAlive = true): Sender {
  const agent = new Agent({ keepAlive });
  return {
    async send(request) {
      const { signal, method, headers, body } = request;
      signal.throwIfAborted();
      const { host, pathname, search } = new URL(request.url);
      const to = openRequest({
        host: '127.0.0.1',
        port: await port(),
        agent,
        method,
        path: pathname + search,
        headers: { host, ...Object.fromEntries(headers) },
      });
      return new Promise((resolve, reject) => {
        const leave = () => {
          reject(signal.reason);
          to.destroy(signal.reason instanceof Error ? signal.reason : undefined);
        };
        signal.addEventListener('abort', leave, { once: true });
        to.once('close', () => signal.removeEventListener('abort', leave));
        to.on('error', reject);
        to.once('response', (answer) => {
          const init = {
            status: answer.statusCode ?? 0,
            statusText: answer.statusMessage ?? '',
            headers: toHeaders(answer),
          };
          const isEmpty = method === 'HEAD' || WITHOUT_BODY.has(init.status);
          if (isEmpty) answer.resume();
          resolve(new Response(isEmpty ? null : toStream(answer), init));
        });
        if (body === null) to.end();
        else void sendBody(body, to).catch((error: unknown) => to.destroy(error as Error));
      });
    },
    close: () => agent.destroy(),
  };
}

/** The same gateway, whose `fetch` goes over a socket; the server is closed with it. */
function overSocket(gateway: Gateway): Gateway {
  const server = createHttpServer(gateway);
  let port: Promise<number> | undefined;
  const listening = () =>
    (port ??= new Promise<number>((resolve) =>
      server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port)),
    ));
  const sender = openSender(listening);
  return {
    ...gateway,
    fetch: sender.send,
    async close() {
      sender.close();
      await port;
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await gateway.close();
    },
  };
}

/** The same gateway as tests of this run are to reach it. */
export const reached = (gateway: Gateway): Gateway =>
  process.env.TEST_THROUGH === 'listener' ? overSocket(gateway) : gateway;
